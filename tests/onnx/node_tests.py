"""ONNX's own tests of the operators that the library has, and docs/onnx.md.

    node_tests.py [--device DEVICE] [--write | --check] CALLS [PAGE]

CALLS is the program onnx_calls. Fails where a model that the library has all options for is not
computed within ONNX's tolerances. --write makes the page, --check fails where it is out of date.
"""

import argparse
import collections
import pathlib
import sys

import numpy as np
from library import Library, LibraryError
from models import models_of
from operators import OPERATORS, NotSupported

LAYOUTS = ("nchw", "nhwc")


def compare(model, outputs):
    """As ONNX's own runner of backends does."""
    if len(outputs) != len(model.expected):
        raise AssertionError(f"{len(outputs)} outputs of {len(model.expected)}")
    for output, expected in zip(outputs, model.expected):
        if output.shape != expected.shape or output.dtype != expected.dtype:
            raise AssertionError(f"an output is {output.dtype} {output.shape}, "
                                 f"it should be {expected.dtype} {expected.shape}")
        np.testing.assert_allclose(output, expected, model.rtol, model.atol)


def run(model, library):
    operator = OPERATORS[model.operator]
    for library.layout in LAYOUTS if operator.has_layouts else LAYOUTS[:1]:
        outputs = operator.function(model, library)
        if model.unread():
            raise ValueError(f"nothing reads its {model.unread()}")
        compare(model, outputs)


class Results:
    """Of an operator: how many models pass, the others by their reason, and what failed."""

    def __init__(self):
        self.passed = 0
        self.reasons = collections.Counter()
        self.failures = []

    def models(self):
        return self.passed + self.reasons.total() + len(self.failures)


def run_all(library):
    results = {operator: Results() for operator in OPERATORS}
    for model in models_of(OPERATORS):
        result = results[model.operator]
        try:
            run(model, library)
            result.passed += 1
        except NotSupported as reason:
            result.reasons[str(reason)] += 1
        except (AssertionError, LibraryError, ValueError) as error:
            result.failures.append(f"{model.name} ({model.operator}, {library.layout}): {error}")
    return results


PAGE = """# ONNX

The models of one node that the package `onnx` tests its backends with, for each operator that the
library has. Where the library has all options of a model it computes it, in both layouts, and the
outputs are ONNX's within ONNX's tolerances. `make test` runs this, `make docs` writes this page.

| operator | by | passed | not supported | for want of |
|---|---|---|---|---|
"""

NOTES = """
What a caller does for these operators:
- Images of one dimension are images of one row.
- `auto_pad`, `ceil_mode` and `output_shape` are numbers of padding.
- ConvTranspose is the gradient of a convolution's input; its bias is what the gradient is added to.
- A weight of u8 is given as s8, it and its zero point 128 less.
- The classes of SoftmaxCrossEntropyLoss come last, the other axes are rows; the caller adds up the
  rows' losses.
- Momentum with several tensors is a step for each.
"""


def page(results):
    lines = []
    for operator, result in results.items():
        reasons = sorted(result.reasons.items(), key=lambda item: (-item[1], item[0])) or [("", "")]
        cells = [operator, f"`{OPERATORS[operator].operation}`",
                 f"{result.passed} of {result.models()}"]
        for reason, count in reasons:
            lines.append("| " + " | ".join([*cells, str(count), reason]) + " |")
            cells = ["", "", ""]
    return PAGE + "\n".join(lines) + "\n" + NOTES


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    parser.add_argument("calls")
    parser.add_argument("page", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    if (options.write or options.check) != (options.page is not None):
        parser.error("--write and --check take a page, and nothing else does")

    library = Library(options.calls, options.device)
    results = run_all(library)
    ended = library.close()
    failures = [failure for result in results.values() for failure in result.failures]
    for failure in failures:
        print(failure, file=sys.stderr)
    passed = sum(result.passed for result in results.values())
    print(f"{passed} models pass on {options.device}, {len(failures)} fail")
    if ended != 0 or failures:
        return 1
    text = page(results)
    if options.write:
        options.page.write_text(text)
    elif options.check and (not options.page.exists() or options.page.read_text() != text):
        print(f"{options.page} is out of date: make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
