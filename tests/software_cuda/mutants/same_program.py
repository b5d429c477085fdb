"""Which mutants compute what the kernel does, whenever it is launched."""

import collections
import functools
import re

BARRIER = re.compile(r"bar(rier)?\.sync\b")
ACCESS = re.compile(r"(ld|ldmatrix|st|atom|red)\.(?!param)\S+")
COPY = re.compile(r"cp\.async\.(c[ag]\.shared|wait)")  # a store both when it is issued and when it is there
SPACES = ("shared", "global")


def accesses_of(text):
    """The kinds of memory that an instruction accesses, and whether it writes. What is read by way of
    .nc nobody writes; an address without a kind is of any."""
    if copy := COPY.match(text):
        return {("shared", True)} | ({("global", False)} if copy[1] != "wait" else set())
    access = ACCESS.match(text)
    if not access or ".nc" in access[0]:
        return set()
    named = [space for space in SPACES if f".{space}" in access[0]] or SPACES
    return {(space, access[1] not in ("ld", "ldmatrix")) for space in named}


class Code:
    """The instructions of an entry, and which follow which."""

    def __init__(self, lines, kernel):
        first = next(n for n, text in enumerate(lines)
                     if re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(", text))
        last = next(n for n in range(first, len(lines)) if lines[n].startswith("}"))
        self.text = {n + 1: re.sub(r"^(@!?%\w+)\s+", "", lines[n].split("//")[0].strip())
                     for n in range(first, last)}
        guarded = {n + 1 for n in range(first, last) if lines[n].lstrip().startswith("@")}
        labels = {text[:-1]: n for n, text in self.text.items() if text.endswith(":")}
        self.after = collections.defaultdict(list)
        self.before = collections.defaultdict(list)
        for n, text in self.text.items():
            if branch := re.fullmatch(r"bra(?:\.uni)?\s+(\S+);", text):
                self.add(n, labels[branch[1]])
            if n in guarded or not re.match(r"(bra|ret|exit)\b", text):
                self.add(n, n + 1)

    def add(self, n, to):
        self.after[n].append(to)
        self.before[to].append(n)

    def accesses(self, line, steps):
        """Of memory, on all ways from a barrier to the next, which is not itself."""
        found, seen, left = set(), set(), list(steps[line])
        while left:
            n = left.pop()
            if n in seen or (n != line and BARRIER.match(self.text.get(n, ""))):
                continue
            seen.add(n)
            found |= accesses_of(self.text.get(n, ""))
            left += steps[n]
        return found

    def needs(self, line):
        """Whether accesses before and after a barrier may conflict: of one kind of memory, and one
        of them is no load."""
        return any(space == other and (writes or also_writes)
                   for space, writes in self.accesses(line, self.before)
                   for other, also_writes in self.accesses(line, self.after))

    def is_defined_once(self, register):
        return sum(bool(re.match(rf"(?!st\b)\S+\s+\{{?{register}\b(?!\])", text))
                   for text in self.text.values()) == 1

    @functools.cached_property
    def zero_divisors(self):
        """Predicates that say that a parameter is 0 by which the kernel divides, as in Halide's
        select(b == 0, 0, a / b). What coordinates are divided by are extents and steps, and no call
        that has one of 0 launches a kernel."""
        text = "\n".join(self.text.values())
        result = set()
        for p, d in re.findall(r"setp\.eq\.\w+ (%\w+), (%\w+), 0;", text):
            not_zero = re.findall(rf"selp\.\w+ (%\w+), -1, 0, {p};", text)
            divisors = {d} | {x for n in not_zero
                              for x in re.findall(rf"(?:or|sub)\.\w+ (%\w+), {d}, {n};", text)}
            divides = any(re.search(rf"(?:div|rem)\.\w+ %\w+, [^,]+, {x};", text) for x in divisors)
            if (re.search(rf"ld\.param\.\w+ {d},", text) and divides and
                    self.is_defined_once(d) and self.is_defined_once(p)):
                result.add(p)
        return result


def is_the_same(code, line, before, after):
    """Whether the kernel computes the same with another instruction in a line."""
    if BARRIER.match(before):
        return not code.needs(line)
    of_zero = code.zero_divisors
    if found := re.fullmatch(r"selp\.\w+\s+%\w+, [^,]+, ([^,]+), (%\w+);", before):
        return found[2] in of_zero and after.endswith(f", {found[1]};")
    found = re.match(r"setp\.eq\.\w+ (%\w+),", before)
    return bool(found and found[1] in of_zero and "setp.ne" in after)
