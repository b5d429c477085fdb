"""Writes what the documents say of the table: docs/kernels.md.

    write_docs.py [--check] KERNELS_DIR SOURCE_DIR

KERNELS_DIR is build/kernels. --check writes nothing and fails where a document is out of date, other than by the last
two columns of docs/kernels.md, bytes and seconds, which are of the machine that wrote it.
"""

import argparse
import itertools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "apps" / "program"))

from files import write_file  # noqa: E402

COLUMNS = ["name", "family", "row", "algorithm", "schedule", "knobs", "type", "layout", "device", "where",
           "budget"]


def read_rows(kernels: pathlib.Path) -> list[dict]:
    rows = []
    for listing in sorted(kernels.glob("*/rows.txt")):
        for line in listing.read_text().splitlines():
            row = dict(zip(COLUMNS, line.split("|")))
            row["report"] = json.loads((listing.parent / f"{row['name']}.json").read_text())
            row["bytes"] = (listing.parent / f"{row['name']}.a").stat().st_size
            rows.append(row)
    return rows


def distinct(rows: list[dict], column: str) -> list[str]:
    return list(dict.fromkeys(row[column] for row in rows))


def families(rows: list[dict]) -> list[str]:
    lines = ["| family | rows | types | layouts | devices | kernels |", "|---|---:|---|---|---|---:|"]
    for family in distinct(rows, "family"):
        own = [row for row in rows if row["family"] == family]
        cells = [len(distinct(own, "row"))]
        cells += [", ".join(distinct(own, column)) for column in ("type", "layout", "device")]
        lines.append(f"| [`{family}`](#{family}) | " + " | ".join(map(str, cells)) + f" | {len(own)} |")
    return lines


def known(value) -> str:
    return "" if value is None or value < 0 else str(value)


def budgets(row: dict) -> dict[str, str]:
    return dict(part.split(":") for part in row["budget"].split(",") if part)


def of_budget(figure: str, budget: str | None) -> str:
    return f"{figure} of {budget}" if figure and budget else figure


def size(row: dict) -> int:
    return row["bytes"]


def seconds(row: dict) -> float:
    return row["report"]["seconds"]


def total(rows: list[dict], figure) -> float:
    return sum(figure(row) for row in rows)


def cpu() -> str:
    """Its name, family and model: names of virtual machines say less."""
    info = {}
    for line in open("/proc/cpuinfo"):
        name, _, value = line.partition(":")
        info.setdefault(name.strip(), value.strip())
    return f"{info['model name']}, family {info['cpu family']}, model {info['model']}"


def of_any_machine(page: str) -> str:
    """Without the columns and the sentence of sizes and times."""
    lines = [line.rsplit(" | ", 2)[0] if line.startswith("| `") else line for line in page.splitlines()]
    return "\n".join(line for line in lines if not line.startswith(("code, and seconds of a core", "kernels: ")))


def kernels_page(rows: list[dict]) -> str:
    lines = [
        "# Kernels",
        "",
        "The table `kernels.cmake` as it is built, in the order in which selection tries the rows. Written by",
        "`make docs`. For the GPU: the most of any of a row's types, layouts and chips; registers, stack and",
        "spills by `ptxas`, a thread; shared bytes and threads a block. \"72 of 80\": of a budget of 80, over",
        "which the build fails; the budget of stack and spills is 0. KB and s, of all of a row's kernels: compiled",
        f"code, and seconds of a core to compile them ({cpu()}); `explorer list --sort compile-time`. All",
        f"kernels: {total(rows, size) / 1024:.0f} KB, {total(rows, seconds):.0f} s.",
        "",
        "Types are those of the table: of top-k keys, unsigned integers of a size that stand for all types of it;",
        "u8 of `quantized_conv2d` stands for s8 too. What calls take is in the [README](../README.md#operations).",
        "",
        *families(rows),
    ]
    for family in distinct(rows, "family"):
        lines += ["", f"## {family}", ""]
        lines += ["| row | takes | algorithm | schedule | devices | types | layouts | registers | stack | spills | shared | threads | KB | s |",
                  "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
        own = [row for row in rows if row["family"] == family]
        def key(row: dict) -> tuple:
            return (row["row"], row["where"], row["algorithm"], row["schedule"], row["knobs"], row["budget"])

        for (name, where, algorithm, schedule, knobs, _), group in itertools.groupby(own, key=key):
            group = list(group)
            most = lambda field: known(max((row["report"].get(field, -1) for row in group), default=-1))
            shared = max(max(row["report"].get("shared_static", -1), 0) + row["report"].get("shared_dynamic", -1)
                         for row in group)
            cells = [f"`{name}`", where.replace(" ", ", ") or "anything", algorithm,
                     schedule + (f" ({knobs})" if knobs else "")]
            cells += [", ".join(distinct(group, column)) for column in ("device", "type", "layout")]
            budget = budgets(group[0])
            cells += [of_budget(most("registers"), budget.get("registers")), most("stack_bytes"), most("spill_bytes"),
                      of_budget(known(shared), budget.get("shared")), most("threads"),
                      f"{total(group, size) / 1024:.0f}", f"{total(group, seconds):.1f}"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    options = parser.parse_args()

    rows = read_rows(options.kernels)
    page = options.source / "docs" / "kernels.md"
    documents = {page: kernels_page(rows)}
    compared = {page: of_any_machine} if options.check else {}

    def differs(path: pathlib.Path, new: str) -> bool:
        of = compared.get(path, str)
        return not path.exists() or of(path.read_text()) != of(new)

    stale = [path for path, new in documents.items() if differs(path, new)]
    for path in stale:
        if options.check:
            print(f"{path.relative_to(options.source)} is out of date: make docs", file=sys.stderr)
        else:
            write_file(path, documents[path])
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
