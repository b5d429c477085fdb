"""What instructions compute, as terms of z3: whole numbers and predicates as they are, floats as
functions of which nothing is known but that equal operands give equal results, and comparisons."""

import functools
import re
import struct

import z3

SPECIAL = {"%ctaid.x": 2**31 - 1, "%ctaid.y": 65535, "%ctaid.z": 65535,
           "%tid.x": 1024, "%tid.y": 1024, "%tid.z": 64}
COMPARISONS = {
    "eq": lambda a, b, s: a == b, "ne": lambda a, b, s: a != b,
    "lt": lambda a, b, s: a < b if s else z3.ULT(a, b),
    "le": lambda a, b, s: a <= b if s else z3.ULE(a, b),
    "gt": lambda a, b, s: a > b if s else z3.UGT(a, b),
    "ge": lambda a, b, s: a >= b if s else z3.UGE(a, b),
}
OF_FLOATS = {"eq": z3.fpEQ, "lt": z3.fpLT, "le": z3.fpLEQ, "gt": z3.fpGT, "ge": z3.fpGEQ}
FLOATS = {"f16": z3.Float16(), "f32": z3.Float32(), "f64": z3.Float64()}


def bits_of(type_):
    return 1 if type_ == "pred" else int(re.search(r"\d+", type_)[0])


def width_of(name):
    """Of a register by its name, as LLVM has them; 0: a predicate."""
    if name in SPECIAL:
        return 32
    kind = re.match(r"%(?:local\d+_)?(rs|rd|r|p|tmp|number)", name)
    return {"rs": 16, "rd": 64, "r": 32, "p": 0, "tmp": 16, "number": 32}[kind[1]]


@functools.cache
def symbol(name, width):
    return z3.BitVec(name, width) if width else z3.Bool(name)


@functools.cache
def function(name, sorts):
    return z3.Function(name, *sorts)


def unknown(name, operands, width):
    """A function of the operands, of which nothing else is known."""
    result = z3.BitVecSort(width) if width else z3.BoolSort()
    if not operands:
        return symbol(name, width)
    sorts = tuple(operand.sort() for operand in operands)
    return function(f"{name} {' '.join(map(str, sorts))} {width}", (*sorts, result))(*operands)


def constant(text, width):
    if text.startswith("0f") or text.startswith("0d"):
        return z3.BitVecVal(int(text[2:], 16), width)
    number = int(text.rstrip("U"), 0)
    return z3.BitVecVal(number, width) if width else z3.BoolVal(number != 0)


def is_number(term):
    return z3.is_bv_value(term)


def product(a, b):
    if is_number(a) or is_number(b):
        return a * b
    return unknown("mul", (a, b), a.size())


def widened(term, width, signed):
    more = width - term.size()
    if more == 0:
        return term
    result = (z3.Extract(width - 1, 0, term) if more < 0 else
              z3.SignExt(more, term) if signed else z3.ZeroExt(more, term))
    return z3.simplify(result) if is_number(term) else result


def shifted(kind, a, amount, signed):
    if not is_number(amount):
        return unknown(f"{kind} {signed}", (a, amount), a.size())
    by = z3.BitVecVal(min(amount.as_long(), a.size()), a.size())
    return a << by if kind == "shl" else a >> by if signed else z3.LShR(a, by)


def compared(parts, a, b):
    kind, type_ = parts[1], parts[-1]
    if type_ in FLOATS and "ftz" not in parts:
        a, b = (z3.fpBVToFP(x, FLOATS[type_]) for x in (a, b))
        ordered = z3.Not(z3.Or(z3.fpIsNaN(a), z3.fpIsNaN(b)))
        if kind in ("num", "nan"):
            return ordered if kind == "num" else z3.Not(ordered)
        if kind == "ne":
            return z3.And(ordered, z3.Not(z3.fpEQ(a, b)))
        if kind in OF_FLOATS:
            return OF_FLOATS[kind](a, b)
        if kind[-1] == "u" and kind[:-1] in OF_FLOATS:
            return z3.Or(z3.Not(ordered), OF_FLOATS[kind[:-1]](a, b))
        if kind == "neu":
            return z3.Not(z3.fpEQ(a, b))
    if type_[0] in "sub" and kind in COMPARISONS:
        return COMPARISONS[kind](a, b, type_[0] == "s")
    return unknown(".".join(parts), (a, b), 0)


def converted(parts, a, width):
    to, of = parts[-2], parts[-1]
    if len(parts) == 3 and to[0] in "sub" and of[0] in "sub":
        value = widened(widened(a, bits_of(of), False), bits_of(to), of[0] == "s")
        return widened(value, width, to[0] == "s")
    return unknown(".".join(parts), (a,), width)


def bitwise(kind, *values):
    if z3.is_bool(values[0]):
        return {"and": z3.And, "or": z3.Or, "xor": z3.Xor, "not": z3.Not}[kind](*values)
    if kind == "not":
        return ~values[0]
    a, b = values
    return a & b if kind == "and" else a | b if kind == "or" else a ^ b


def of_integers(parts, values, width):
    """None where this is none of them."""
    kind, type_ = parts[0], parts[-1]
    signed = type_[0] == "s"
    if kind in ("and", "or", "xor", "not"):
        return bitwise(kind, *values)
    if type_[0] == "f" or type_.startswith("bf") or len(parts) > 2 and parts[1] not in ("lo", "wide"):
        return None
    if kind in ("add", "sub"):
        return values[0] + values[1] if kind == "add" else values[0] - values[1]
    if kind in ("mul", "mad"):
        a, b = (widened(value, width, signed) for value in values[:2])
        return product(a, b) + values[2] if kind == "mad" else product(a, b)
    if kind in ("shl", "shr"):
        return shifted(kind, *values, signed)
    if kind in ("min", "max"):
        first = COMPARISONS["lt" if kind == "min" else "gt"](*values, signed)
        return z3.If(first, *values)
    if kind == "neg":
        return -values[0]
    return None


class Facts:
    """What is known of terms by themselves: places, which are made of threads, blocks and constants by
    additions and multiplications, have 31 bits."""

    def __init__(self):
        self.places = {symbol(name, 32).get_id() for name in SPECIAL}
        self.known = [z3.ULT(symbol(name, 32), most) for name, most in SPECIAL.items()]

    def add(self, instruction, values, result, when):
        """Of an instruction that a kernel, and not a mutant of it, runs under a condition."""
        kind, *_, type_ = instruction.op.split(".")
        if (kind not in ("add", "shl", "mul", "mad", "or") or type_ not in ("s32", "u32", "b32") or
                result.size() != 32 or
                not all(is_number(x) or x.get_id() in self.places for x in values)):
            return
        self.places.add(result.get_id())
        wide = [z3.SignExt(32, x) for x in values]
        exact = (wide[0] << wide[1] if kind == "shl" else
                 wide[0] + wide[1] if kind == "add" else
                 wide[0] * wide[1] + (wide[2] if kind == "mad" else 0))
        if kind != "or":
            self.known.append(z3.Implies(when, z3.SignExt(32, result) == exact))


def computed(instruction, values):
    """Terms of an instruction's results."""
    parts = instruction.op.split(".")
    widths = [width_of(name) if name != "_" else 32 for name in instruction.results]
    if parts[0] in ("mov", "cvta", "ld"):
        return moved(values, widths)
    if parts[0] == "selp":
        return [z3.If(values[2], values[0], values[1])]
    if parts[0] == "setp":
        return [compared(parts, *values)]
    if parts[0] == "cvt":
        if "x2" in parts[-2]:  # the first is the upper half
            return [z3.Concat(*(unknown(instruction.op, (value,), widths[0] // 2) for value in values))]
        return [converted(parts, values[0], widths[0])]
    elif (result := of_integers(parts, values, widths[0])) is not None:
        return [result]
    return [unknown(f"{instruction.op} {i}", tuple(values), width) for i, width in enumerate(widths)]


def moved(values, widths):
    whole = values[0] if len(values) == 1 else z3.Concat(*reversed(values))
    if len(widths) == 1:
        return [whole]
    ends = [sum(widths[:i]) for i in range(len(widths) + 1)]
    return [z3.simplify(z3.Extract(to - 1, at, whole)) for at, to in zip(ends, ends[1:])]


def width_of_constant(instruction, i):
    """Of the i-th operand, where it is a number."""
    parts = instruction.op.split(".")
    if parts[0] in ("shl", "shr", "shf") and i == len(instruction.operands) - 1:
        return 32
    if parts[0] == "mad" and parts[1] == "wide" and i == 2:
        return 2 * bits_of(parts[-1])
    if parts[0] in ("bfe", "prmt") and i > 0 or parts[0].startswith("cp"):
        return 32
    if parts[-1] == "pred":
        return 0
    return bits_of(parts[-1]) if re.search(r"\d", parts[-1]) else 32
