"""The PTX of an entry: its instructions, which follow which, and what is known where one of them runs."""

import collections
import dataclasses
import functools
import re

GUARD = re.compile(r"@(!?)(%\w+)\s+")
REGISTER = re.compile(r"%\w+(?:\.\w)?")
# Instructions without a result.
WITHOUT_RESULT = ("st", "red", "bra", "ret", "exit", "bar", "barrier", "cp", "membar", "fence", "trap")
# What does nothing but compute its result from its operands.
PURE = ("abs", "add", "and", "bfe", "bfi", "cvt", "cvta", "div", "ex2", "fma", "lg2", "mad", "max", "min",
        "mov", "mul", "neg", "not", "or", "popc", "clz", "prmt", "dp4a", "rcp", "rem", "rsqrt", "selp",
        "setp", "shf", "shl", "shr", "sqrt", "sub", "xor", "lop3")
# What does something else: reads or writes memory, waits, asks other threads, or goes elsewhere.
EFFECTS = ("atom", "bar", "barrier", "bra", "cp", "exit", "fence", "ld", "ldmatrix", "membar", "mma",
           "red", "redux", "ret", "shfl", "st", "trap", "vote")


@dataclasses.dataclass(frozen=True)
class Instruction:
    op: str
    results: tuple    # of registers
    operands: tuple   # texts; of vectors tuples of them
    guard: str = ""   # a register
    negated: bool = False

    @functools.cached_property
    def is_pure(self):
        return self.op.split(".")[0] in PURE or self.op.startswith("ld.param")

    @functools.cached_property
    def reads(self):
        flat = [text for operand in self.operands
                for text in (operand if isinstance(operand, tuple) else (operand,))]
        found = [name for text in flat for name in REGISTER.findall(text)]
        return tuple(name for name in found + [self.guard] if name and not is_special(name))


def is_special(name):
    return re.match(r"%(n?ctaid|n?tid|laneid|warpid)\b", name) is not None


def operands_of(text):
    """Of "%r1, {%r2, %r3}, [%rd1+4]", a vector as a tuple."""
    parts = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", text)
    return [tuple(p.strip() for p in part[1:-1].split(",")) if part[0] == "{" else part
            for part in parts]


def instructions_of(text, line):
    """Of a line. Registers that a pair of braces declares are another line's nowhere else."""
    text = text.split("//")[0].strip()
    local = re.findall(r"\.reg\s+\.\w+\s+(%?\w+)(?:<\d+>)?;", text)
    text = re.sub(r"\.reg\s+[^;]*;", "", text).strip("{} \t") if local else text
    for name in local:
        pattern = re.escape(name) + (r"(\d+)\b" if name[0] == "%" else r"()\b")
        text = re.sub(pattern, rf"%local{line}_{name.strip('%')}\1", text)
    result = []
    for one in filter(None, (part.strip() for part in text.split(";"))):
        guard = GUARD.match(one)
        op, _, rest = one[guard.end() if guard else 0:].partition(" ")
        operands = operands_of(rest.strip())
        results = ()
        if operands and op.split(".")[0] not in WITHOUT_RESULT:
            first = operands.pop(0)
            results = first if isinstance(first, tuple) else (first,)
        if (op.split(".")[0] not in PURE + EFFECTS or
                not all(REGISTER.fullmatch(name) for name in results)):
            raise ValueError(f"an instruction that is not known: {one}")
        result.append(Instruction(op, tuple(results), tuple(operands),
                                  guard[2] if guard else "", bool(guard and guard[1])))
    return result


class Code:
    """Lines of an entry, from 1 as in its module."""

    def __init__(self, lines, kernel, host=None):
        self.kernel, self.host = kernel, host
        first = next(n for n, text in enumerate(lines)
                     if re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(", text))
        last = next(n for n in range(first, len(lines)) if lines[n].startswith("}"))
        begin = next(n for n in range(first, last) if lines[n].startswith("{")) + 2
        self.begin, self.end = begin, last
        self.lines = {n: lines[n - 1].split("//")[0].strip() for n in range(begin, last + 1)}
        self.text = {n: GUARD.sub("", text) for n, text in self.lines.items()}
        labels = {text[:-1]: n for n, text in self.text.items() if text.endswith(":")}
        self.instructions = {
            n: [] if text.endswith(":") or text.startswith(".") else instructions_of(text, n)
            for n, text in self.lines.items()}
        self.after = collections.defaultdict(list)
        self.before = collections.defaultdict(list)
        self.target = {}
        for n, text in self.text.items():
            guarded = GUARD.match(self.lines[n])
            if branch := re.fullmatch(r"bra(?:\.uni)?\s+(\S+);", text):
                self.target[n] = labels[branch[1]]
                self.add(n, labels[branch[1]])
            if n < last and (guarded or not re.match(r"(bra|ret|exit)\b", text)):
                self.add(n, n + 1)

    def add(self, n, to):
        if to not in self.after[n]:
            self.after[n].append(to)
            self.before[to].append(n)

    # --- Which lines come on all ways

    @functools.cached_property
    def order(self):
        """Lines that can be reached, each after one that leads to it."""
        seen, result, stack = {self.begin}, [], [(self.begin, iter(self.after[self.begin]))]
        while stack:
            n, rest = stack[-1]
            to = next((m for m in rest if m not in seen), None)
            if to is None:
                result.append(stack.pop()[0])
            else:
                seen.add(to)
                stack.append((to, iter(self.after[to])))
        return result[::-1]

    @functools.cached_property
    def position(self):
        return {n: i for i, n in enumerate(self.order)}

    @functools.cached_property
    def headers(self):
        """Lines without which there is no way in a circle."""
        at = self.position
        return {m for n in self.order for m in self.after[n] if at[m] <= at[n]}

    @functools.cached_property
    def dominator(self):
        """Of each line the last one that all ways to it go through."""
        at, found = self.position, {self.begin: self.begin}

        def common(a, b):
            while a != b:
                a, b = (found[a], b) if at[a] > at[b] else (a, found[b])
            return a

        changed = True
        while changed:
            changed = False
            for n in self.order[1:]:
                new = functools.reduce(common, [m for m in self.before[n] if m in found])
                changed |= found.get(n) != new
                found[n] = new
        return found

    @functools.cached_property
    def dominators(self):
        """All of them, nearest first."""
        result = {self.begin: ()}
        for n in self.order[1:]:
            result[n] = (self.dominator[n], *result[self.dominator[n]])
        return result

    # --- Registers

    @functools.cached_property
    def definitions(self):
        result = collections.defaultdict(list)
        for n, instructions in self.instructions.items():
            for one in instructions:
                for name in one.results:
                    result[name].append(n)
        return result

    @functools.cached_property
    def live(self):
        """Registers before each line that something is stored, branched or asked by that comes after: a
        value of which others are computed, and nothing else, is not."""
        live = {n: frozenset() for n in self.lines}
        left = list(reversed(self.order))
        waiting = set(left)
        while left:
            n = left.pop(0)
            waiting.discard(n)
            now = frozenset().union(*(live[m] for m in self.after[n]))
            for one in reversed(self.instructions[n]):
                needed = not one.is_pure or any(name in now for name in one.results)
                if not one.guard:
                    now = now - set(one.results)
                now = now | set(one.reads) if needed else now
            if now != live[n]:
                live[n] = now
                for m in self.before[n]:
                    if m not in waiting and m in self.position:
                        waiting.add(m)
                        left.append(m)
        return live

    @functools.cached_property
    def divisors(self):
        """Parameters that whole numbers are divided by, as Halide does it: select(b == 0, 0, a / b), with
        something else than 0 in the place of b, or with max(b, 1)."""
        one = {name: i for instructions in self.instructions.values() for i in instructions
               for name in i.results if len(self.definitions[name]) == 1}
        result = set()
        for instructions in self.instructions.values():
            for division in instructions:
                if not re.match(r"(div|rem)\.[su]", division.op):
                    continue
                by = one.get(division.operands[1])
                if by and by.op.split(".")[0] in ("or", "sub", "max"):
                    by = one.get(by.operands[0])
                if by and by.op.startswith("ld.param"):
                    result.add(by)
        return result

    def reached(self, start, stop, steps):
        seen, left = set(), list(steps[start])
        while left:
            n = left.pop()
            if n in seen or n == stop:
                continue
            seen.add(n)
            left += steps[n]
        return seen

    @functools.cached_property
    def loops(self):
        """Of each header that all ways into its loop go through, the loop's lines."""
        at, found = self.position, {}
        for n in self.order:
            for header in self.after[n]:
                if at[header] <= at[n]:
                    body = {n} | (self.reached(n, header, self.before) if n != header else set())
                    found[header] = found.get(header, {header}) | body
        return {header: body for header, body in found.items()
                if all(n == header or header in self.dominators[n] for n in body)}

    def changed_by(self, header):
        """Registers that a loop changes."""
        return {name for n in self.loops[header] for one in self.instructions[n] for name in one.results}

    def enters(self, n, to):
        """Whether a loop begins there that begins with the line."""
        return to in self.loops and self.position[to] > self.position[n]

    def reached_forward(self, line, through):
        """Lines that come after one, itself too, before a loop begins, or `through` loops that begin
        later, before one begins again."""
        seen, left = {line}, [line]
        while left:
            n = left.pop()
            for to in self.after[n]:
                if to not in seen and (to not in self.headers or through and self.enters(n, to)):
                    seen.add(to)
                    left.append(to)
        return seen

    def is_kept(self, name, since, line):
        """Whether a register has at a line what it had when another, on all ways to it, came last."""
        between = self.reached(since, since, self.after) & (
            self.reached(line, since, self.before) | {line})
        return not any(n in between for n in self.definitions[name])
