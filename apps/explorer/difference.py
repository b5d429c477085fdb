"""Two texts side by side, and what two kernels have in common."""

import difflib
import pathlib
import re

CONTEXT = 3  # equal lines that are shown around different ones


def first_work(lines):
    """The place of the first loop or buffer, after the checks of the arguments."""
    work = re.compile(r"\s*(produce|allocate|for|parallel|gpu_block\w*)\b")
    return next((at for at, line in enumerate(lines) if work.match(line)), 0)


def read(kernel):
    """Conceptual code from its first loop or buffer on, and compiled code; with the kernel's name
    taken out, so that two compare."""
    def text(name):
        whole = pathlib.Path(kernel["files"][name]).read_text().replace(kernel["name"], "KERNEL")
        return [line.expandtabs() for line in whole.splitlines()]
    conceptual = text("conceptual")
    return conceptual[first_work(conceptual):], text("code")


def comparable(line):
    """Without what differs between any two compilations: numbers of labels and of temporaries, and
    comments."""
    line = re.sub(r"\s+(#|//) .*", "", line)
    line = re.sub(r"\.?\$?L_*(BB|CPI|tmp|func_end)[\w]*", "L", line)
    conceptual = re.match(r"\s*(let|\w+ = )", line)
    return re.sub(r"\b([a-z]\w*?)\$?\d+\b", r"\1", line) if conceptual else line


class Difference:
    """`removed`, `added`: how many lines of each text differ."""

    def __init__(self, left, right, key=lambda line: line):
        self.left, self.right = left, right
        matcher = difflib.SequenceMatcher(None, list(map(key, left)), list(map(key, right)))
        self.runs = matcher.get_opcodes()
        changed = [run for run in self.runs if run[0] != "equal"]
        self.removed = sum(a_end - a for _, a, a_end, _, _ in changed)
        self.added = sum(b_end - b for _, _, _, b, b_end in changed)

    def folded(self):
        """Runs, equal ones cut to their context."""
        for kind, a, a_end, b, b_end in self.runs:
            head = 0 if a == 0 and b == 0 else CONTEXT
            tail = 0 if a_end == len(self.left) and b_end == len(self.right) else CONTEXT
            if kind != "equal" or a_end - a <= 2 * CONTEXT + 1:
                yield kind, a, a_end, b, b_end
                continue
            yield "equal", a, a + head, b, b + head
            yield "fold", a + head, a_end - tail, b + head, b_end - tail
            yield "equal", a_end - tail, a_end, b_end - tail, b_end

    def rows(self):
        """Of two sides, (number, line, class) or None each; (how many equal lines, None) where some
        are left out."""
        for kind, a, a_end, b, b_end in self.folded():
            if kind == "fold":
                yield a_end - a, None
                continue
            classes = ("", "") if kind == "equal" else ("removed", "added")
            for i in range(max(a_end - a, b_end - b)):
                yield tuple((at + i + 1, lines[at + i], class_) if at + i < end else ()
                            for lines, at, end, class_ in ((self.left, a, a_end, classes[0]),
                                                           (self.right, b, b_end, classes[1])))


def facts(kernels):
    """(name, value of the left, value of the right); None where one has none."""
    for key in ("family", "row", "algorithm", "schedule", "type", "layout", "device", "where"):
        yield key, *(kernel[key] for kernel in kernels)
    shown = ("algorithm", "schedule", "type", "layout")
    yield from pairs("", [kernel["parameters"] for kernel in kernels], shown)
    yield from pairs("knob ", [{knob["name"]: knob["value"] for knob in kernel["knobs"]}
                               for kernel in kernels])
    for name in ("registers", "stack_bytes", "spill_bytes", "shared_dynamic", "threads"):
        values = [kernel["resources"].get(name, -1) for kernel in kernels]
        if max(values) >= 0:
            yield name.replace("_", " "), *("unknown" if value == -1 else value for value in values)
    yield from pairs("estimated ", [
        {e["what"]: f'{e["uses"]} of {e["has"]}' for e in kernel["estimates"]} for kernel in kernels])
    bytes_ = [kernel["library_bytes"] or 0 for kernel in kernels]
    yield "KB in the library", *(f"{count / 1024:.0f}" for count in bytes_)


def pairs(prefix, values, without=()):
    for name in dict.fromkeys(name for some in values for name in some if name not in without):
        yield prefix + name, *(some.get(name) for some in values)
