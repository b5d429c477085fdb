"""Writes what the documents say of the table: docs/kernels.md.

    write_docs.py [--check] KERNELS_DIR COUNTS SOURCE_DIR

KERNELS_DIR is build/kernels, COUNTS what build/bin/counts has written. --check writes nothing and fails where a document
is out of date, other than by the last two columns of docs/kernels.md, bytes and seconds, which are of the machine that
wrote it.
"""

import argparse
import itertools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "apps" / "program"))

from files import write_file  # noqa: E402

COLUMNS = ["name", "family", "row", "algorithm", "schedule", "knobs", "type", "layout", "device", "where",
           "budget", "contract"]
# Of a contract: the figure of a count, how it is written, and which of several kernels is the worst.
COUNTED = {"fma": ("share_of_multiply_adds", "{:.2f}", min), "conflicts": ("conflicts", "{:.2f}", max),
           "sectors": ("sectors", "{:.2f}", max)}


def read_rows(kernels: pathlib.Path, counts: pathlib.Path) -> list[dict]:
    """The kernels that every machine builds, with what the compiler reported and what was counted: None of those that
    were not. Those of a CPU's registers of matrices (rows of the device amx) are not among them."""
    by_kernel = {one["kernel"]: one for one in json.loads(counts.read_text())}
    rows = []
    for listing in sorted(kernels.glob("*/rows.txt")):
        for line in listing.read_text().splitlines():
            row = dict(zip(COLUMNS, line.split("|")))
            if row["algorithm"].startswith("slices"):
                continue
            row["report"] = json.loads((listing.parent / f"{row['name']}.json").read_text())
            row["counts"] = by_kernel.get(row["name"])
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


def limits(row: dict, column: str) -> dict[str, str]:
    """Of a budget or a contract."""
    return dict(part.split(":") for part in row[column].split(",") if part)


def counted(group: list[dict]) -> list[str]:
    """Cells of what was counted of a row's kernels: each figure the worst of them, and the problem."""
    counts = [row["counts"] for row in group if row["counts"]]
    if not counts:
        return [""] * (len(COUNTED) + 2)
    contract = limits(group[0], "contract")
    cells = [of_budget(form.format(worst(one[figure] for one in counts)), contract.get(name))
             for name, (figure, form, worst) in COUNTED.items()]
    cells.append(f"{max(one['of_least_bytes'] for one in counts):.2f}")
    cases = list(dict.fromkeys(one["case"] for one in counts))
    return [*cells, ", ".join(cases)]


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
        "which the build fails; the budget of stack and spills is 0.",
        "",
        "From fma to memory: what a call of a CUDA kernel executes, counted on a",
        "[device in software](software-cuda.md#counts) for a case of bench's lists; the worst of any of a row's types and",
        "layouts. \"1.32 of 1.35\": of a contract, over which a test fails. Rows that calls of others run, top-k's steps",
        "after the tiles and a bias' gradient, are counted there by themselves; those steps count with the tiles, too.",
        "",
        "| fma | share of multiply-adds in the main loop, or altogether where there is no loop |",
        "|---|---|",
        "| conflicts | wavefronts of shared memory over the least |",
        "| sectors | those of global memory over the least for what each warp asks for |",
        "| memory | bytes of different sectors over those of the tensors, each once |",
        "",
        "KB and s, of all of a row's kernels: compiled",
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
        lines += ["| row | takes | algorithm | schedule | devices | types | layouts | registers | stack | spills | shared | threads "
                  "| fma | conflicts | sectors | memory | counted on | KB | s |",
                  "|---" * 19 + "|"]
        own = [row for row in rows if row["family"] == family]
        def key(row: dict) -> tuple:
            return (row["row"], row["where"], row["algorithm"], row["schedule"], row["knobs"], row["budget"],
                    row["contract"])

        for (name, where, algorithm, schedule, knobs, *_), group in itertools.groupby(own, key=key):
            group = list(group)
            most = lambda field: known(max((row["report"].get(field, -1) for row in group), default=-1))
            shared = max(max(row["report"].get("shared_static", -1), 0) + row["report"].get("shared_dynamic", -1)
                         for row in group)
            cells = [f"`{name}`", where.replace(" ", ", ") or "anything", algorithm,
                     schedule + (f" ({knobs})" if knobs else "")]
            cells += [", ".join(distinct(group, column)) for column in ("device", "type", "layout")]
            budget = limits(group[0], "budget")
            cells += [of_budget(most("registers"), budget.get("registers")), most("stack_bytes"), most("spill_bytes"),
                      of_budget(known(shared), budget.get("shared")), most("threads"), *counted(group),
                      f"{total(group, size) / 1024:.0f}", f"{total(group, seconds):.1f}"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("counts", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    options = parser.parse_args()

    rows = read_rows(options.kernels, options.counts)
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
