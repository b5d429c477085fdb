"""What mutants there are of an instruction."""

import re

GUARD = r"(?P<guard>(?:@!?%\w+\s+)?)"
OPERANDS = r"(?P<d>%\w+), (?P<a>[^,;{}]+)(?:, (?P<b>[^,;{}]+))?(?:, (?P<p>%\w+))?"
# A pattern of an instruction, its kind, and what is put in its place. {d}, {a} and {b} are its operands,
# {move} a move of its type.
FORMS = [(re.compile(GUARD + pattern), kind, texts) for pattern, kind, texts in [
    (r"bar(?:rier)?\.(?:warp\.)?sync\b.*;", "barrier", [""]),
    (rf"setp\.[\w.]+\s+{OPERANDS};", "comparison",
     ["setp.eq.u32 {d}, 0, 0;", "setp.ne.u32 {d}, 0, 0;"]),
    (rf"(?:and|or|xor)\.pred\s+{OPERANDS};", "comparison",
     ["mov.pred {d}, {a};", "mov.pred {d}, {b};"]),
    (rf"not\.pred\s+{OPERANDS};", "comparison", ["mov.pred {d}, {a};"]),
    (rf"selp\.(?P<type>\w+)\s+{OPERANDS};", "selection", ["{move} {d}, {a};", "{move} {d}, {b};"]),
    (rf"(?:min|max)\.(?:ftz\.)?(?:NaN\.)?(?P<type>\w+)\s+{OPERANDS};", "clamp",
     ["{move} {d}, {a};", "{move} {d}, {b};"]),
]]
MUTABLE = re.compile(r"(?:@!?%\w+\s+)?(bar|barrier|setp|min|max|selp|(and|or|xor|not)\.pred)\b")


def bits_of(type_):
    return "pred" if type_ == "pred" else f"b{type_[-2:]}"


def changes(text):
    """Of an instruction: its kind and what it is changed to."""
    for pattern, kind, texts in FORMS:
        if found := pattern.fullmatch(text):
            parts = found.groupdict()
            move = f"mov.{bits_of(parts.get('type') or 'b32')}"
            return kind, [found["guard"] * bool(new) + new.format(**{**parts, "move": move})
                          for new in texts]
    if MUTABLE.match(text):
        raise ValueError(f"a form without a mutant: {text}")
    return None, []


def probe(before, after):
    """An instruction as it was, behind a load from address 0 where a mutant gives another value."""
    found = next(found for form in FORMS if (found := form[0].fullmatch(before)))
    guard, d = found["guard"], found["d"]
    bits = bits_of(found.groupdict().get("type") or "pred")
    differ = "xor.pred" if bits == "pred" else f"setp.ne.{bits}"
    was, is_, other = (re.sub(rf"(\s){d}(?=,)", rf"\1{to}", text, count=1)
                       for text, to in ((before, "%was"), (after, "%is"),
                                        (f"{guard}{differ} {d}, %was, %is;", "%other")))
    return (f"{{ .reg .{bits} %was, %is; .reg .pred %other; .reg .b64 %null; .reg .b32 %none; "
            f"setp.ne.u32 %other, 0, 0; mov.b64 %null, 0; {was} {is_} {other} "
            f"@%other ld.global.b32 %none, [%null]; }} {before}")
