"""Writes the page of explorer show or diff from the facts that the explorer has collected."""

import argparse
import html
import json
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))

import assembly  # noqa: E402
import difference  # noqa: E402
from files import write_file  # noqa: E402
from source import Sources  # noqa: E402
from templates import ASSEMBLY, CPP, mark, written  # noqa: E402

# What CUDA and OpenCL launch with unless a program asks for more.
SHARED_LIMIT = 48 * 1024
CODE_NAMES = {"cpu": "Assembly", "cuda": "PTX", "opencl": "OpenCL"}


def uses_of(function, budget):
    """A device function's use of the row's budget and of the limit: what, uses, has."""
    uses = []
    if function["registers"] >= 0:
        uses.append(("registers a thread, of the budget", function["registers"],
                     budget["registers"]))
    if function["shared_dynamic"] >= 0:
        shared = max(function["shared_static"], 0) + function["shared_dynamic"]
        uses += [("shared bytes a block, of the budget", shared, budget["shared"]),
                 ("shared bytes a block, of 48 KiB", shared, SHARED_LIMIT)]
    return uses


def complete(kernel):
    """The facts, with what follows from them."""
    for function in kernel["resources"].setdefault("functions", []):
        function["uses"] = uses_of(function, kernel["budget"])
    for estimate in kernel["estimates"]:
        estimate["uses_of"] = (estimate["what"], estimate["uses"], estimate["has"])
    # Repeats what the page shows, from any folder.
    words = list(kernel["command"])
    words[words.index("-o") + 1] = "."
    kernel["line"] = " ".join(map(shlex.quote, words))
    return kernel


def code_of(kernel):
    """Assembly, PTX or OpenCL; where it is no file of its own, it is in Halide's page."""
    files = kernel["files"]
    if "code" in files:
        return pathlib.Path(files["code"]).read_text()
    page = pathlib.Path(files["lowered_html"]).read_text()
    found = re.search(r"<div id='assemblyContent'[^>]*>\s*<pre>\n?(.*?)</pre>", page, re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", found.group(1)))


def counts_of(kernel):
    """Functions, and innermost loops that multiply; of OpenCL's text none."""
    if kernel["device"] == "opencl":
        return None, None
    return assembly.read(code_of(kernel))


def schedule_parts(kernel, sources):
    """The schedule's function and the one that chooses its sizes, without repetition."""
    function = sources.schedule(kernel["family"], kernel["algorithm"], kernel["schedule"])
    chooser = sources.chooser(kernel["chooser"]["file"], kernel["chooser"]["line"])
    if function and chooser and (function.path, function.line) == (chooser.path, chooser.line):
        chooser = None
    return function, chooser


def offline(text):
    """Halide's page without what it loads from the network: a library that it does not use, and one
    that colours assembly, which stays plain."""
    text = re.sub(r"<script src='http[^>]*></script>", "", text)
    return re.sub(r'<script type="module" name="hl">.*?</script>', "", text, flags=re.S)


def show(kernel, sources):
    functions, loops = counts_of(kernel)
    algorithm, header = sources.algorithm(kernel["family"], kernel["algorithm"])
    schedule, chooser = schedule_parts(kernel, sources)
    paths = dict.fromkeys(found.path for found in (schedule, chooser) if found)
    conceptual = pathlib.Path(kernel["files"]["conceptual"]).read_text().rstrip("\n")
    code = code_of(kernel).rstrip("\n")
    opencl = kernel["device"] == "opencl"
    return written(
        "show.html", title=kernel["name"], kernel=kernel,
        sections=[("overview", "Overview"), ("algorithm", "Algorithm"), ("schedule", "Schedule"),
                  ("conceptual", "Conceptual code"), ("lowered", "Lowered code"),
                  ("code", CODE_NAMES[kernel["device"]])],
        equation=sources.equation(kernel["family"], header), functions=functions,
        loops=[loop for loop in loops or [] if loop.counts["multiply-adds"]] or loops,
        algorithm=algorithm, header=header,
        stages=algorithm and sources.declaration_comment(header, algorithm.code),
        schedule=schedule, chooser=chooser,
        files=[(path, (sources.root / path).read_text().rstrip("\n")) for path in paths],
        conceptual=conceptual, work=difference.first_work(conceptual.split("\n")) + 1,
        lowered=offline(pathlib.Path(kernel["files"]["lowered_html"]).read_text()),
        code=mark(code if opencl else code.expandtabs(), CPP if opencl else ASSEMBLY))


def schedules_of(kernels, sources):
    """(heading, the two functions, how they differ), of those that either has."""
    pairs = zip(*(schedule_parts(kernel, sources) for kernel in kernels))
    for heading, pair in zip(("Schedule", "Chooser of its sizes"), pairs):
        if any(pair):
            texts = [found.code.split("\n") if found else [] for found in pair]
            yield heading, pair, pair[0] != pair[1] and difference.Difference(*texts)


def diff(kernels, sources):
    (left, left_code), (right, right_code) = map(difference.read, kernels)
    short = [f'{kernel["row"]} {kernel["candidate_knobs"]}'.rstrip() for kernel in kernels]
    names = dict.fromkeys(CODE_NAMES[kernel["device"]] for kernel in kernels)
    comparable = difference.comparable
    return written(
        "diff.html", kernels=kernels, facts=difference.facts(kernels),
        title=" and ".join(short if short[0] != short[1] else [k["name"] for k in kernels]),
        sections=[("overview", "Overview"), ("schedule", "Schedule"),
                  ("conceptual", "Conceptual code"), ("code", " and ".join(names))],
        loops=[counts_of(kernel)[1] for kernel in kernels],
        schedules=list(schedules_of(kernels, sources)),
        conceptual=difference.Difference(left, right, comparable),
        code=difference.Difference(left_code, right_code, comparable))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=pathlib.Path, help="JSON, of one kernel or two")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    facts = json.loads(arguments.facts.read_text())
    sources, kernels = Sources(facts["sources"]), [complete(kernel) for kernel in facts["kernels"]]
    text = show(kernels[0], sources) if len(kernels) == 1 else diff(kernels, sources)
    try:
        write_file(arguments.output, text)
    except OSError as error:
        sys.exit(f"page.py: {error}")


if __name__ == "__main__":
    main()
