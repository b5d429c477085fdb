"""Which mutants compute what the kernel does, whenever it is launched."""

import re

from equivalence import is_equivalent

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


def accesses(code, line, steps):
    """What is accessed on all ways from a barrier to the next, which is not itself."""
    found, seen, left = set(), set(), list(steps[line])
    while left:
        n = left.pop()
        if n in seen or (n != line and BARRIER.match(code.text.get(n, ""))):
            continue
        seen.add(n)
        found |= accesses_of(code.text.get(n, ""))
        left += steps[n]
    return found


def needs(code, line):
    """Whether accesses before and after a barrier may conflict: of one kind of memory, and one
    of them is no load."""
    return any(space == other and (writes or also_writes)
               for space, writes in accesses(code, line, code.before)
               for other, also_writes in accesses(code, line, code.after))


def is_the_same(code, line, before, after):
    """Whether the kernel computes the same with another instruction in a line."""
    if BARRIER.match(before):
        return not needs(code, line)
    return is_equivalent(code, line, after)
