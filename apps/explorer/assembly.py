"""Counts in assembly and PTX, as LLVM writes them with its comments: of functions, and of innermost
loops, where the time goes."""

import dataclasses
import re

HOST = {
    "multiply-adds": re.compile(r"vfn?m(add|sub)|vpdp|vpmadd|pmadd"),
    "loads": None,  # by operands
    "stores": None,
    "spills": re.compile(r"byte (Folded )?Spill"),
    "reloads": re.compile(r"byte (Folded )?Reload"),
}
DEVICE = {
    "multiply-adds": re.compile(r"^(@%\w+ )?(fma|dp4a)\."),
    "shared loads": re.compile(r"^(@%\w+ )?ld\.shared"),
    "global loads": re.compile(r"^(@%\w+ )?ld\.global"),
    "shared stores": re.compile(r"^(@%\w+ )?st\.shared"),
    "global stores": re.compile(r"^(@%\w+ )?st\.global"),
    "barriers": re.compile(r"^(@%\w+ )?bar\."),
}
STORES = ("mov", "vmov", "vpmov", "vextract", "vpextr", "set")
ADDRESS = re.compile(r"\([^()]*%[^()]*\)|\(%rip\)")


@dataclasses.dataclass
class Code:
    """A function or a loop. `line`: its first, from 1."""

    name: str
    line: int
    depth: int
    counts: dict


def instruction_of(line):
    """A line's instruction; empty for labels, directives and comments."""
    text = line.strip()
    return "" if not line[:1].isspace() or not text or text[0] in ".#/{}" else text


def is_host(lines):
    return not any(line.startswith(".version") for line in lines[:20])


def count(lines, host):
    instructions = [text for text in map(instruction_of, lines) if text]
    counts = {"instructions": len(instructions)}
    for name, pattern in (HOST if host else DEVICE).items():
        counts[name] = sum(bool(pattern.search(text)) for text in instructions) if pattern else 0
    if not host:
        return counts
    for text in instructions:
        operands = text.split("#")[0].split(None, 1)
        if len(operands) < 2 or operands[0].startswith(("lea", "nop", "prefetch")):
            continue
        # The last operand is what an instruction writes; comparisons write none.
        address = list(ADDRESS.finditer(operands[1]))
        if not address:
            continue
        last = operands[1].rstrip().endswith(")") or operands[1].rstrip().endswith("}")
        stores = last and operands[0].startswith(STORES)
        counts["stores" if stores else "loads"] += 1
    return counts


def functions(lines):
    """(name, first, end) of every function."""
    host = is_host(lines)
    found, name, start = [], None, 0
    for at, line in enumerate(lines):
        if host and (label := re.match(r'"?([A-Za-z_][\w.$]*)"?:', line)):
            name, start = label.group(1), at
        elif not host and (label := re.match(r"\.visible \.entry (\w+)\(", line)):
            name, start = label.group(1), at
        elif name and re.match(r"\.Lfunc_end|\s+// -- End function", line):
            found.append((name, start, at))
            name = None
    return found


def loops(lines, name, first, end, host):
    found = []
    for at in range(first, end):
        header = re.search(r"This Inner Loop Header: Depth=(\d+)", lines[at])
        if not header:
            continue
        top = at
        while top > first and not re.match(r"[.$]\w+:", lines[top]):
            top -= 1
        label = lines[top].split(":")[0]
        jump = re.compile(rf"^\s+(@!?%\w+ )?(j\w+|bra\S*)\s+{re.escape(label)}\b")
        last = max((i for i in range(at, end) if jump.match(lines[i])), default=None)
        if last is not None:
            counts = count(lines[top:last + 1], host)
            found.append(Code(name, top + 1, int(header.group(1)), counts))
    return found


def read(text):
    """Functions and innermost loops, those with most multiply-adds first."""
    lines = text.splitlines()
    host = is_host(lines)
    whole, inner = [], []
    for name, first, end in functions(lines):
        code = Code(name, first + 1, 0, count(lines[first:end], host))
        if host:
            frames = re.findall(r"\bsubq\s+\$(\w+), %rsp", "\n".join(lines[first:end]))
            code.counts["stack bytes"] = max((int(n, 0) for n in frames), default=0)
        whole.append(code)
        inner += loops(lines, name, first, end, host)
    inner.sort(key=lambda loop: (-loop.counts["multiply-adds"], -loop.counts["instructions"]))
    return whole, inner
