"""Writes FAMILY_table.cpp: the rows of kernels.cmake with the resources that were measured.

    write_table.py FAMILY LIBRARY DIR

DIR/rows.txt has a line a kernel, its columns separated by |: name, family, row, algorithm, schedule,
knobs, type, layout, device, conditions, budget. DIR/NAME.json is the kernel's resource report.
"""

import json
import pathlib
import re
import sys

RELATIONS = {"=": "equal", ">=": "at_least", "<=": "at_most", "%": "multiple_of"}
RESOURCES = ["registers", "stack_bytes", "spill_bytes", "shared_static", "shared_dynamic", "threads"]


def constraint(text: str) -> str:
    field, relation, value = re.fullmatch(r"([a-z_]+)(=|>=|<=|%)(\d+)(?:=0)?", text).groups()
    return f'{{"{field}", Constraint::Relation::{RELATIONS[relation]}, {value}}}'


class ArgumentLists:
    """Kernels of a family take the same arguments, or few lists of them."""

    def __init__(self) -> None:
        self.definitions: list[str] = []
        self._names: dict[str, str] = {}

    def name_of(self, arguments: list[dict]) -> str:
        return self._define("KernelArgument", "arguments", [
            f'{{"{a["name"]}", {a["bytes"]}, {self._extents(a["extents"])}}}' for a in arguments])

    def _extents(self, extents: list[int]) -> str:
        return self._define("int64_t", "extents", [str(e) for e in extents]) if any(extents) else "{}"

    def _define(self, type_: str, prefix: str, items: list[str]) -> str:
        text = ",\n    ".join(items) if prefix == "arguments" else ", ".join(items)
        if text not in self._names:
            self._names[text] = name = f"{prefix}_{len(self._names)}"
            self.definitions.append(f"constexpr {type_} {name}[] = {{{text}}};")
        return self._names[text]


def main() -> None:
    family, library, directory = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    rows = [line.split("|") for line in (directory / "rows.txt").read_text().splitlines() if line]

    declarations, conditions, entries = [], [], []
    arguments = ArgumentLists()
    for name, family_, row, algorithm, schedule, knobs, type_, layout, device, where, _budget in rows:
        report = json.loads((directory / f"{name}.json").read_text())
        declarations.append(f"int {name}_argv(void **);")
        where_name = "{}"
        if where:
            where_name = f"where_{name}"
            listed = ", ".join(constraint(c) for c in where.split())
            conditions.append(f"constexpr Constraint {where_name}[] = {{{listed}}};")
        resources = ", ".join(str(report.get(field, -1)) for field in RESOURCES)
        entries.append(
            f'    {{"{name}", "{family_}", "{row}", "{algorithm}", "{schedule}", "{knobs}", DataType::{type_},\n'
            f"     Layout::{layout}, DeviceType::{device}, {where_name}, {{{resources}}},\n"
            f"     {name}_argv, {arguments.name_of(report['arguments'])}}},"
        )

    table = ["const KernelInfo kernels[] = {", *entries, "};"]
    if not entries:  # of the types that were asked for
        table = ["const std::span<const KernelInfo> kernels;"]
    text = "\n".join([
        "// Written by compiler/write_table.py from kernels.cmake.", f'#include "hk/{library}.h"', "",
        'extern "C" {', *declarations, "}", "", "namespace hk {", "namespace {", "",
        *conditions, "", *arguments.definitions, "", *table, "", "}  // namespace", "",
        f"std::span<const KernelInfo> {family}_kernels() {{ return kernels; }}", "", "}  // namespace hk", ""])
    (directory / f"{family}_table.cpp").write_text(text)


if __name__ == "__main__":
    main()
