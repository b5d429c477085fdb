"""What the host passes to a kernel: the arguments of its launch in the statement that the kernel compiler
writes, as terms of z3 by the index of the parameter, and what holds of their parts: extents are at least
0, and whole numbers of Halide do not overflow. An activation has a slope or bounds."""

import ast
import collections
import functools
import json
import pathlib
import re
import shlex
import subprocess
import tempfile

import z3

NAME = r"[A-Za-z_][\w.$]*"
AXES = "xyz"
# Families whose kernels get what activation_arguments() gives (runtime/src/activation_arguments.cpp).
ACTIVATED = re.compile(r"(conv2d|activate)_(?!backward)")
ONE, INFINITY, MINUS_INFINITY = 0x3F800000, 0x7F800000, 0xFF800000


@functools.cache
def commands(build):
    """Of each row, what compiles it."""
    found = re.findall(r"^  COMMAND = cd \S+ && (.* -f (\S+) .*)$", (build / "build.ninja").read_text(),
                       re.MULTILINE)
    return {name: shlex.split(text.replace("$:", ":").replace("$$", "$")) for text, name in found}


@functools.cache
def rows_with(build):
    """The rows that have a kernel of a name."""
    rows = collections.defaultdict(list)
    for path in sorted(build.glob("kernels/*/*_cuda.json")):
        for function in json.loads(path.read_text())["functions"]:
            rows[function["name"]].append(path.stem)
    return rows


@functools.cache
def compiled(build, row):
    """A row's statement and PTX."""
    words = [word for word in commands(build)[row] if not word.startswith(("--budget", "--allow"))]
    with tempfile.TemporaryDirectory(dir=build) as folder:
        words[words.index("-o") + 1] = folder
        words[words.index("-e") + 1] = "stmt,device_code"
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return tuple((pathlib.Path(folder) / f"{row}.{kind}").read_text(errors="replace")
                     for kind in ("stmt", "device_code"))


def words_of(ptx):
    return re.sub("//.*", "", ptx).split()


def host_of(build, ptx, kernel, like):
    """The host of a module: of the row that is compiled to it, whose name is perhaps like another."""
    words = set(like.split("_"))
    for row in sorted(rows_with(build)[kernel], key=lambda name: -len(words & set(name.split("_")))):
        statement, device_code = compiled(build, row)
        if words_of(device_code) == words_of(ptx):
            return Host(statement, row)
    return None


def closing(text, start):
    """The place of the bracket that closes the one before a place."""
    depth = 1
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError(text)


def parts_of(text):
    """Of "a, f(b, c)", apart by the commas that are in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return parts + [text[begin:].strip()]


def float_named(name):
    """An argument of the host's function, by its bits."""
    return z3.fpBVToFP(z3.BitVec(f"host float {name}", 32), z3.Float32())


class Host:
    """Launches of a row."""

    def __init__(self, statement, row=""):
        self.row = row
        self.lets, self.terms, self.known, self.launches = {}, {}, [], {}
        for line in statement.splitlines():
            if let := re.match(rf"\s*let ({NAME}) = (.*)$", line):
                # Of two that have one name nothing is known.
                self.lets[let[1]] = let[2] if self.lets.get(let[1], let[2]) == let[2] else ""
                if launch := re.match(r'halide_cuda_run\(\S+ "(\w+)", ', let[2]):
                    self.launches[launch[1]] = parts_of(let[2][launch.end():-1])

    def facts_of(self, kernel, symbol):
        """Terms that hold in a kernel, of parameters as `symbol(name, bits)` names them."""
        grid_and_block, arguments = self.launches[kernel][:6], self.launches[kernel][8]
        begin = arguments.index("make_struct(") + len("make_struct(")
        facts = []
        for i, text in enumerate(parts_of(arguments[begin:-1])):
            if passed := re.fullmatch(r"\(void \*\)make_struct\((.*)\)", text):
                term = self.term(passed[1])
                if term is not None and not z3.is_bool(term):
                    bits = term.arg(0) if passed[1].startswith("(float32)") else term
                    facts.append(symbol(f"[{kernel}_param_{i}] 32", 32) == bits)
                elif term is not None:
                    flag = symbol(f"[{kernel}_param_{i}] 8", 16)
                    facts.append(flag == z3.If(term, z3.BitVecVal(1, 16), z3.BitVecVal(0, 16)))
        for i, text in enumerate(grid_and_block):
            term = self.term(text)
            if term is not None:
                register = symbol(("%ctaid." if i < 3 else "%tid.") + AXES[i % 3], 32)
                facts += [0 <= register, register < term]
        return facts + self.known + self.of_activations()

    def of_activations(self):
        if not ACTIVATED.match(self.row):
            return []
        slope, low, high = (float_named(name).arg(0) for name in ("slope", "low", "high"))
        return [z3.Or(slope == ONE, z3.And(low == MINUS_INFINITY, high == INFINITY))]

    # --- Expressions

    def term(self, text):
        """None where there is something in it that is not of whole numbers of 32 bits."""
        if let := re.match(rf"let ({NAME}) = \(", text):
            end = closing(text, let.end())
            self.lets.setdefault(let[1], text[let.end():end])
            return self.term(text[end + 1:].removeprefix(" in ").strip("()"))
        text = re.sub(NAME, lambda name: name[0].replace(".", "_dot_").replace("$", "_dollar_"), text)
        text = re.sub(r"\(float32\)(\w+)", r"float32_of(\1)", text).replace("(uint1)", "")
        # Of floats six digits are printed: generators write no other number that is nearly 1.
        text = re.sub(r"\b1\.000000f", "1.0", text)
        text = text.replace("&&", " and ").replace("||", " or ").replace("!=", "<>")
        text = text.replace("!", " not ").replace("<>", "!=")
        try:
            return self.of_tree(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, KeyError, TypeError, z3.Z3Exception):
            return None

    def named(self, name):
        name = name.replace("_dot_", ".").replace("_dollar_", "$")
        if name not in self.terms:
            self.terms[name] = value = z3.BitVec(f"host {name}", 32)
            if ".extent." in name and name not in self.lets:
                self.known.append(value >= 0)
            text = self.lets.get(name, "")
            if re.fullmatch(r"[\w.$ ()+\-*/%,<>=&|!]+", text) and "buffer" not in text:
                term = self.term(text)
                if term is not None:
                    self.terms[name] = term
            elif re.search(r"_halide_buffer_get_extent\(", text):
                self.known.append(value >= 0)
        return self.terms[name]

    def of_tree(self, tree):
        if isinstance(tree, ast.Constant):
            if type(tree.value) is float:
                return z3.FPVal(tree.value, z3.Float32())
            return z3.BitVecVal(tree.value, 32) if type(tree.value) is int else None
        if isinstance(tree, ast.Name):
            return self.named(tree.id)
        if isinstance(tree, ast.UnaryOp):
            value = self.of_tree(tree.operand)
            return -value if isinstance(tree.op, ast.USub) else z3.Not(value)
        if isinstance(tree, ast.BoolOp):
            values = [self.of_tree(value) for value in tree.values]
            return (z3.And if isinstance(tree.op, ast.And) else z3.Or)(*values)
        if isinstance(tree, ast.Compare):
            return self.compared(type(tree.ops[0]).__name__, self.of_tree(tree.left),
                                 self.of_tree(tree.comparators[0]))
        if isinstance(tree, ast.BinOp):
            return self.arithmetic(type(tree.op).__name__, self.of_tree(tree.left),
                                   self.of_tree(tree.right))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            if tree.func.id == "float32_of":
                return float_named(tree.args[0].id)
            values = [self.of_tree(value) for value in tree.args]
            if tree.func.id == "select":
                return z3.If(*values)
            if tree.func.id == "strict_eq":
                return z3.fpEQ(*values)
            if tree.func.id in ("min", "max"):
                a, b = values
                if not z3.is_bv(a):
                    raise TypeError(tree)
                return z3.If(a < b if tree.func.id == "min" else a > b, a, b)
        raise TypeError(tree)

    def compared(self, kind, a, b):
        if z3.is_fp(a) or z3.is_fp(b):
            return {"Lt": z3.fpLT, "LtE": z3.fpLEQ, "Gt": z3.fpGT, "GtE": z3.fpGEQ,
                    "Eq": z3.fpEQ, "NotEq": z3.fpNEQ}[kind](a, b)
        return {"Lt": a.__lt__, "LtE": a.__le__, "Gt": a.__gt__, "GtE": a.__ge__,
                "Eq": a.__eq__, "NotEq": a.__ne__}[kind](b)

    def arithmetic(self, kind, a, b):
        wide = [z3.SignExt(32, x) for x in (a, b)]
        if kind in ("Add", "Sub"):
            result = a + b if kind == "Add" else a - b
            exact = wide[0] + wide[1] if kind == "Add" else wide[0] - wide[1]
            self.known.append(z3.SignExt(32, result) == exact)
            return result
        if kind == "Mult":
            if z3.is_bv_value(a) or z3.is_bv_value(b):
                self.known.append(z3.SignExt(32, a * b) == wide[0] * wide[1])
                return a * b
            return self.product(a, b)
        if kind in ("Div", "Mod"):
            return self.quotient(a, b) if kind == "Div" else self.remainder(a, b)
        raise TypeError(kind)

    def product(self, a, b):
        result = self.function("product", a, b)
        self.known += [z3.Implies(z3.Or(a == 0, b == 0), result == 0),
                       z3.Implies(z3.And(a >= 1, b >= 1), z3.And(result >= a, result >= b))]
        return result

    def quotient(self, a, b):
        """Rounded down, and 0 of a divisor of 0."""
        number = b.as_signed_long() if z3.is_bv_value(b) else 0
        if number > 0 and number & (number - 1) == 0:
            return a >> (number.bit_length() - 1)
        result = self.function("quotient", a, b)
        self.known += [z3.Implies(b == 0, result == 0),
                       z3.Implies(z3.And(a >= 0, b >= 1), z3.And(0 <= result, result <= a)),
                       z3.Implies(z3.And(a < 0, b >= 1), z3.And(a <= result, result < 0)),
                       z3.Implies(z3.And(0 <= a, a < b), result == 0),
                       z3.Implies(z3.And(1 <= b, b <= a), result >= 1)]
        return result

    def remainder(self, a, b):
        result = self.function("remainder", a, b)
        self.known += [z3.Implies(b == 0, result == 0),
                       z3.Implies(b >= 1, z3.And(0 <= result, result < b))]
        return result

    @staticmethod
    def function(name, a, b):
        sort = z3.BitVecSort(32)
        return z3.Function(f"host {name}", sort, sort, sort)(a, b)
