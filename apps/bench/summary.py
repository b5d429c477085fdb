"""What was measured, as Markdown: of each CPU a page, with a line for each family, type, layout and
list; and docs/performance.md, which has all CPUs side by side."""

from measurements import geometric_mean, group_by, ratio_of, setting, times

INTRODUCTION = """Written by `make bench`; how it is measured, and what the baselines are given:
[benchmarking.md]({documents}benchmarking.md).

*Ratio*: the time of the fastest baseline over ours, the geometric mean of a list's cases. Above 1
we are faster; below, in italics, a baseline is. *Worst*: the lowest ratio of a case. *Baselines*:
the mean of each (*in 6*: of six cases); those in parentheses do not count in the ratio, because
their task is another. *memcpy* moves as many bytes as the call reads and writes: it is a bound.
"""
SUMMARY = """Time of the fastest baseline over ours, the geometric mean of all cases, in parentheses
the worst: above 1 we are faster, below, in italics, slower. One pinned thread; families without
baselines are held against *memcpy* of as many bytes, a bound. Written by `make bench`; how it is
measured, and what the baselines are given: [benchmarking.md](benchmarking.md).
"""
BY_LIST = ("conv2d", "f32")  # whose lists are lines of the summary: networks
GPUS = "GPUs are not in these tables: [what was measured on one]({documents}performance/nvidia-h100.md)."


def name_of(what):
    """Of a setting: "conv2d f32 nhwc"."""
    family, type_, output_type, layout, device, threads = what
    types = [type_] if output_type == type_ else [type_, "to", output_type]
    layouts = [] if layout == "any" else [layout]
    where = [] if device == "cpu" else [device]
    return " ".join([family, *types, *layouts, *where, *([f"{threads} threads"] * (threads > 1))])


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio >= 1 else f"*{ratio:.2f}*"


def mean_of(library, rows):
    """Of its times over ours, and how many cases have one; None: no case."""
    ratios = [times(row)[library] / row["ns"] for row in rows if library in times(row)]
    return (geometric_mean(ratios), len(ratios)) if ratios else None


def baselines_of(rows):
    """In words, the fastest first, those that count before the others."""
    words = []
    for key, form in (("peers", "{}"), ("other_layouts", "({})")):
        means = {library: mean_of(library, [row for row in rows if library in row[key]])
                 for library in sorted({library for row in rows for library in row[key]})}
        for library, (mean, count) in sorted(means.items(), key=lambda item: item[1]):
            some = f" in {count}" if count < len(rows) else ""
            words.append(form.format(f"{library} {mean:.2f}{some}"))
    return ", ".join(words)


def line(kernels, name, rows):
    done = [row for row in rows if row["ns"]]
    fair = [row for row in done if row["ratio"]]
    cells = [kernels, name, f"{len(done)}", "", "", "", "", baselines_of(done)]
    if len(done) < len(rows):
        cells[2] += f", {len(rows) - len(done)} failed"
    if done and all(row["peak"] for row in done):
        cells[3] = f"{100 * geometric_mean([row['rate'] / row['peak'] for row in done]):.0f} %"
    if fair:
        worst = min(fair, key=lambda row: row["ratio"])
        cells[4] = ratio_text(geometric_mean([row["ratio"] for row in fair]))
        cells[5] = f"{worst['ratio']:.2f} `{worst['case']}`" if len(fair) > 1 else ""
        cells[6] = f"{sum(row['ratio'] < 1 for row in fair)} of {len(fair)}"
    return "| " + " | ".join(cells) + " |"


def lists_of(rows):
    """What the kernels are called, the list, its rows; a family's settings one after the other."""
    for family in group_by(rows, lambda row: row["family"]).values():
        for what, group in group_by(family, setting).items():
            for name, some in group_by(group, lambda row: row["list"]).items():
                yield name_of(what), name, some


def table(rows):
    lines = ["| kernels | list | cases | of peak | ratio | worst | slower in | baselines |",
             "|---|---|---:|---:|---:|---|---:|---|"]
    lines += [line(kernels, name, some) for kernels, name, some in lists_of(rows)]
    return lines


def section(measured, data):
    rows = measured.rows
    lines = ["", f"## {measured.cpu}", "", f"One core: {measured.abilities}."]
    about = [f"Measured {', '.join(sorted({row['date'] for row in rows}))}",
             "one pinned thread unless the line says otherwise"]
    peaks = {row["unit"]: row["peak"] for row in rows if row["peak"] and row["threads"] == 1}
    if peaks:
        about.append("*of peak*: of " + " and ".join(f"{p:.0f} {u}" for u, p in peaks.items()))
    lines.append("; ".join(about) + ".")
    lines.append(f"Baselines: {', '.join(measured.versions) or 'none installed'}.")
    if data:
        lines.append(f"All {len(rows)} cases: [{data}]({data}).")
    return [*lines, "", *table(rows)]


def gpus(measured, documents):
    cpus = all(row["device"] == "cpu" for some in measured for row in some.rows)
    return ["", GPUS.format(documents=documents)] if cpus else []


def page(measured, picture="", data="", documents=""):
    """picture, data: the addresses of the picture and of the file with the cases; documents: of the
    documents' folder."""
    lines = ["# Performance", ""]
    if picture:
        lines += [f"![The mean ratio of every list, and the range of its cases]({picture})", ""]
    lines += INTRODUCTION.format(documents=documents).rstrip().split("\n") + gpus(measured, documents)
    for some in measured:
        lines += section(some, data)
    return "\n".join(lines) + "\n"


def cell(rows):
    """Of one CPU, which may lack the cases."""
    ratios = [ratio_of(row) for row in rows if ratio_of(row)]
    if not ratios:
        return ""
    fair = [row["ratio"] for row in rows if row["ratio"]]
    worst = f" ({min(fair):.2f})" if len(fair) > 1 else ""
    return ratio_text(geometric_mean(ratios)) + worst


def summary(measured, folder):
    """folder: the address of that with the pages of the CPUs."""
    lines = ["# Performance", "", *SUMMARY.rstrip().split("\n"), *gpus(measured, ""), ""]
    for some in measured:
        days = max(row["date"] for row in some.rows)
        lines.append(f"- {some.cpu.short} is [{some.cpu}]({folder}{some.cpu.page}.md), measured "
                     f"{days}. One core: {some.abilities}.")
    lines += ["", "| kernels | " + " | ".join(some.cpu.short for some in measured) + " |",
              "|---|" + "---:|" * len(measured)]
    cells = {}  # of kernels, and of their list where it is told: the rows of each CPU
    for place, some in enumerate(measured):
        for kernels, name, rows in lists_of(some.rows):
            by_list = (rows[0]["family"], rows[0]["type"]) == BY_LIST
            key = f"{kernels}, {name}" if by_list else kernels
            cells.setdefault(key, [[] for _ in measured])[place] += rows
    lines += [f"| {key} | " + " | ".join(map(cell, rows)) + " |" for key, rows in cells.items()]
    return "\n".join(lines) + "\n"
