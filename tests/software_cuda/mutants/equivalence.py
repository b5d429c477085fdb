"""Whether a kernel does the same with another instruction in a line, whatever it is called with: from
the line on, both are computed as terms, up to where a loop begins or the kernel ends. They are
the same if no values of registers and parameters make them store, load, branch or wait otherwise, or
leave another value in a register that is used later. What is known where the line runs are the
values from which its registers were computed, and the branches that lead to it.

Where that does not show it, loops that come later are gone through once, for any of their rounds:
registers that a loop changes are to be the same where it begins, may then be anything, and are to be the
same where it begins again. Others may differ all the while, by what was known when it began."""

import collections
import dataclasses
import re

import z3

from program import REGISTER, instructions_of
from terms import SPECIAL, Facts, computed, constant, symbol, unknown, width_of, width_of_constant

MILLISECONDS = 1000


class Entry:
    """Registers as they are when a line runs."""

    def __init__(self, code, line):
        self.code, self.line = code, line
        self.dominators = set(code.dominators[line])
        self.known = {}
        self.facts = Facts()
        for one in code.divisors:
            values = [term_of(text, one, i, None) for i, text in flat_operands(one)]
            self.facts.known.append(computed(one, values)[0] != 0)
        if code.host:
            self.facts.known += code.host.facts_of(code.kernel, symbol)

    def definition(self, name):
        """The line that alone defines a register, without a condition, and came before; or None."""
        lines = self.code.definitions.get(name, ())
        if len(lines) == 1 and lines[0] in self.dominators:
            one = next(i for i in self.code.instructions[lines[0]] if name in i.results)
            if not one.guard:
                return lines[0], one
        return None

    def value(self, name):
        if name in SPECIAL:
            return symbol(name, 32)
        if name not in self.known:
            self.known[name] = symbol(name, width_of(name))
            found = self.definition(name)
            if found and found[1].is_pure:
                line, one = found
                values = [self.value_of(text, one, i, line) for i, text in flat_operands(one)]
                results = computed(one, values)
                self.facts.add(one, values, results[0], z3.BoolVal(True))
                self.known[name] = results[one.results.index(name)]
        return self.known[name]

    def value_at(self, name, since):
        """When a line that comes before came last."""
        found = self.definition(name)
        if name in SPECIAL or found and (
                found[0] in self.code.dominators[since] or found[0] == since):
            return self.value(name)
        if self.code.is_kept(name, since, self.line):
            return self.value(name)
        return symbol(f"{name} of {since}", width_of(name))

    def value_of(self, text, one, i, since):
        return term_of(text, one, i, lambda name: self.value_at(name, since))

    def conditions(self):
        """What holds, by the branches that lead to the line."""
        code = self.code
        for to in (self.line, *code.dominators[self.line]):
            if len(code.before[to]) != 1:
                continue
            branch = code.before[to][0]
            if branch not in code.target or len(code.after[branch]) != 2:
                continue
            one = code.instructions[branch][0]
            taken = (to == code.target[branch]) != one.negated
            value = self.value_at(one.guard, branch)
            yield value if taken else z3.Not(value)


def flat_operands(one):
    """Each with its place."""
    for i, operand in enumerate(one.operands):
        for text in operand if isinstance(operand, tuple) else (operand,):
            yield i, text


def term_of(text, one, i, value):
    if text.startswith("["):
        if one.op.startswith("ld.param"):
            bits = re.search(r"(\d+)$", one.op)[1]
            return symbol(f"{text} {bits}", {"8": 16}.get(bits) or int(bits))
        base, _, offset = text[1:-1].partition("+")
        if not REGISTER.fullmatch(base):
            return symbol(text, 64)
        term = value(base)
        return term + constant(offset, term.size()) if offset else term
    if REGISTER.fullmatch(text):
        return value(text)
    if re.match(r"-?(\d|0f)", text):
        return constant(text, width_of_constant(one, i))
    return symbol(text, 64)


@dataclasses.dataclass
class Trace:
    """What a program does from a line on: effects by their place, and registers where it ends."""
    effects: dict = dataclasses.field(default_factory=dict)
    ends: dict = dataclasses.field(default_factory=dict)
    entered: set = dataclasses.field(default_factory=set)  # loops' headers


class Runner:
    """Runs lines with terms."""

    def __init__(self, code, line, entry, other=None, through=False):
        self.code, self.line, self.entry, self.other = code, line, entry, other
        self.through = through  # loops
        self.trace = Trace()
        self.results = {}  # of the line

    def instructions(self, n):
        return self.other if n == self.line and self.other is not None else self.code.instructions[n]

    def run(self):
        code = self.code
        arriving = collections.defaultdict(list)  # of a line: conditions and registers
        arriving[self.line].append((z3.BoolVal(True), {}))
        at = code.position
        lines = sorted(code.reached_forward(self.line, self.through), key=at.get)
        for n in lines:
            if n not in arriving:
                continue
            when, registers = self.merged(arriving.pop(n), n)
            for i, one in enumerate(self.instructions(n)):
                self.step(one, f"{n}.{i}", when, registers)
            if n == self.line:
                self.results = dict(registers)
            for to, condition in self.ways(n, registers):
                both = condition if z3.is_true(when) else z3.And(when, condition)
                both = when if z3.is_true(condition) else both
                # Each way changes its own.
                if to in code.headers:
                    self.trace.ends[n, to] = both, dict(registers)
                if to not in code.headers:
                    arriving[to].append((both, dict(registers)))
                elif self.through and code.enters(n, to):
                    self.trace.entered.add(to)
                    arriving[to].append((both, registers | self.of_any_round(to)))
        return self.trace

    def of_any_round(self, header):
        """Registers where a round of a loop begins, of those that it changes."""
        return {name: symbol(f"{name} in {header}", width_of(name))
                for name in self.code.live[header] & self.code.changed_by(header)}

    def ways(self, n, registers):
        after = self.code.after[n]
        if len(after) == 2 and n in self.code.target:
            one = self.code.instructions[n][0]
            value = self.read(one.guard, registers)
            taken = z3.Not(value) if one.negated else value
            for to in after:
                yield to, taken if to == self.code.target[n] else z3.Not(taken)
            return
        last = self.code.instructions[n]
        goes_on = z3.BoolVal(True)
        if last and last[-1].guard and last[-1].op in ("ret", "exit", "trap"):
            value = self.read(last[-1].guard, registers)
            goes_on = value if last[-1].negated else z3.Not(value)
        for to in after:
            yield to, goes_on

    def merged(self, arriving, n):
        if len(arriving) == 1:
            return arriving[0]
        when = z3.simplify(z3.Or(*(condition for condition, _ in arriving)))
        registers = {}
        for name in set().union(*(of for _, of in arriving)) & self.code.live[n]:
            values = [self.read(name, of) for _, of in arriving]
            result = values[-1]
            for (condition, _), value in zip(arriving[-2::-1], values[-2::-1]):
                result = result if value.eq(result) else z3.If(condition, value, result)
            registers[name] = result
        return when, registers

    def read(self, name, registers):
        return registers[name] if name in registers else self.entry.value(name)

    def step(self, one, place, when, registers):
        if one.op.startswith("bra") or one.op in ("ret", "exit"):
            return
        value = lambda name: self.read(name, registers)
        values = [term_of(text, one, i, value) for i, text in flat_operands(one)]
        guard = None
        if one.guard:
            guard = z3.Not(value(one.guard)) if one.negated else value(one.guard)
        if one.is_pure:
            results = computed(one, values)
            if self.other is None and not one.guard:
                self.entry.facts.add(one, values, results[0], when)
        else:
            condition = z3.And(when, guard) if guard is not None else when
            if one.op.startswith("cp.async.c") and len(values) == 4:
                # Of a size of 0 the source is any address.
                values[1] = z3.If(values[3] == 0, z3.BitVecVal(0, values[1].size()), values[1])
            self.trace.effects[place] = condition, values
            results = [unknown(f"{place} {i}", tuple(values), width_of(name))
                       for i, name in enumerate(one.results)]
        for name, result in zip(one.results, results):
            registers[name] = result if guard is None else z3.If(guard, result, value(name))


def differences(was, is_, code, entry):
    """Terms that are true where two traces differ."""
    nothing = (z3.BoolVal(False), ())
    for place in was.effects.keys() | is_.effects.keys():
        yield from unequal(was.effects.get(place, nothing), is_.effects.get(place, nothing))
    for way in was.ends.keys() | is_.ends.keys():
        sides = [trace.ends.get(way, (z3.BoolVal(False), {})) for trace in (was, is_)]
        names = code.live[way[1]] & (sides[0][1].keys() | sides[1][1].keys())
        if way[1] in was.entered | is_.entered:
            names &= code.changed_by(way[1])
        yield from unequal(*((when, [of[name] if name in of else entry.value(name) for name in names])
                             for when, of in sides))


def unequal(a, b):
    if not a[0].eq(b[0]):
        yield z3.Xor(a[0], b[0])
    for x, y in zip(a[1], b[1]):
        if not x.eq(y):
            yield z3.And(a[0], b[0], x != y)


def is_equivalent(code, line, after):
    """Whether a line may have another instruction."""
    return line not in code.position or any(
        are_the_same(code, line, instructions_of(after, line), through) for through in (False, True))


def are_the_same(code, line, other, through):
    entry = Entry(code, line)
    was, is_ = (Runner(code, line, entry, one, through) for one in (None, other))
    different = list(differences(was.run(), is_.run(), code, entry))
    if not different:
        return True
    solver = z3.Solver()
    solver.set("timeout", MILLISECONDS)
    solver.add(*entry.facts.known, *entry.conditions())
    # What follows is the same where the line's results are.
    names = was.results.keys() | is_.results.keys()
    solver.add(z3.Or(*(was.read(n, was.results) != is_.read(n, is_.results) for n in names)))
    return all(solver.check(one) == z3.unsat for one in different)
