"""Writes FAMILY_table.cpp: the rows of kernels.cmake with the resources that were measured.

    write_table.py [--on-demand] FAMILY LIBRARY DIR OUTPUT

DIR/rows.txt has a line a kernel, its columns separated by |: name, family, row, algorithm, schedule,
knobs, type, layout, device, conditions, budget, contract. DIR/NAME.json is the kernel's resource report; with
--on-demand nothing is compiled yet, and the explorer loads each kernel when it is first asked for.
"""

import argparse
import json
import pathlib
import re

RELATIONS = {"=": "equal", ">=": "at_least", "<=": "at_most", "%": "multiple_of"}
RESOURCES = ["registers", "stack_bytes", "spill_bytes", "shared_static", "shared_dynamic", "threads"]


def constraint(text: str) -> str:
    field, relation, value = re.fullmatch(r"([a-z][a-z0-9_]*)(=|>=|<=|%)(\d+)(?:=0)?", text).groups()
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


class Compiled:
    """Rows of kernels that are linked with the table."""

    kind = "const KernelInfo"
    include = ""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory
        self._arguments = ArgumentLists()
        self._functions: dict[str, str] = {}  # by their content

    def end_of(self, name: str) -> str:
        report = json.loads((self._directory / f"{name}.json").read_text())
        # Rows that differ in their knobs may have none that differ on this CPU: one is linked.
        function = self._functions.setdefault(report["content"], name)
        resources = ", ".join(str(report.get(field, -1)) for field in RESOURCES)
        return f"{{{resources}}},\n     {function}_argv, {self._arguments.name_of(report['arguments'])}"

    def declarations(self) -> list[str]:
        return ['extern "C" {', *(f"int {name}_argv(void **);" for name in self._functions.values()), "}", ""]

    def definitions(self) -> list[str]:
        return self._arguments.definitions


class OnDemand:
    """Rows that the explorer loads."""

    kind = "KernelInfo"
    include = '#include "on_demand.h"\n'

    def end_of(self, _name: str) -> str:
        return "{}, nullptr, {}, explorer::load"

    def declarations(self) -> list[str]:
        return []

    definitions = declarations


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--on-demand", action="store_true")
    for name in ("family", "library"):
        parser.add_argument(name)
    for name in ("directory", "output"):
        parser.add_argument(name, type=pathlib.Path)
    options = parser.parse_args()
    rows = [line.split("|") for line in (options.directory / "rows.txt").read_text().splitlines() if line]

    conditions, entries = [], []
    kernels = OnDemand() if options.on_demand else Compiled(options.directory)
    for name, family, row, algorithm, schedule, knobs, type_, layout, device, where, _budget, _contract in rows:
        where_name = "{}"
        if where:
            where_name = f"where_{name}"
            listed = ", ".join(constraint(c) for c in where.split())
            conditions.append(f"constexpr Constraint {where_name}[] = {{{listed}}};")
        entries.append(
            f'    {{"{name}", "{family}", "{row}", "{algorithm}", "{schedule}", "{knobs}", DataType::{type_},\n'
            f"     Layout::{layout}, DeviceType::{device}, {where_name}, {kernels.end_of(name)}}},"
        )

    table = [f"{kernels.kind} {options.family}_rows[] = {{", *entries, "};"]
    if not entries:  # of the types that were asked for
        table = [f"const std::span<const KernelInfo> {options.family}_rows;"]
    options.output.write_text("\n".join([
        "// Written by compiler/write_table.py from kernels.cmake.",
        f'{kernels.include}#include "hk/{options.library}.h"', "",
        *kernels.declarations(), "namespace hk {", "namespace {", "",
        *conditions, "", *kernels.definitions(), "", *table, "", "}  // namespace", "",
        f"std::span<const KernelInfo> {options.family}_kernels() {{ return {options.family}_rows; }}", "", "}  // namespace hk", ""]))


if __name__ == "__main__":
    main()
