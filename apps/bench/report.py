#!/usr/bin/env python3
"""Writes docs/performance.md and its picture, docs/performance.svg, from the JSON files that bench
wrote, or from runs of its own:

    report.py --output docs/performance.md FILE.json ...
    report.py --output docs/performance.md --bench build/bin/bench --before docs/tuning.json

--before: results of earlier, for a table of what has changed since. --keep writes the few fields
that it needs.
"""

import argparse
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

from files import write_file  # noqa: E402

NETWORKS = "resnet50,mobilenetv2,resnext50"
QUANTIZED = ["--family", "quantized_conv2d"]
WEIGHT = ["--family", "conv2d_backward_weight"]
DATA = ["--family", "conv2d_backward_data"]
TOPK = ["--family", "topk"]
SPARSE = ["--family", "tensor_product"]
RUNS = [
    ["--type", "f32", "--layout", "nhwc"],
    ["--type", "f32", "--layout", "nchw", "--list", NETWORKS],
    ["--type", "bf16", "--layout", "nhwc", "--list", NETWORKS],
    ["--type", "f16", "--layout", "nhwc", "--list", NETWORKS],
    [*QUANTIZED, "--type", "u8", "--layout", "nhwc", "--list", NETWORKS],
    [*QUANTIZED, "--type", "f32", "--layout", "nhwc", "--list", NETWORKS],
    [*QUANTIZED, "--type", "f32", "--layout", "nchw", "--list", "shape_case"],
    [*WEIGHT, "--type", "f32", "--layout", "nhwc"],
    [*WEIGHT, "--type", "f32", "--layout", "nchw", "--list", "depthwise"],
    [*DATA, "--type", "f32", "--layout", "nhwc"],
    [*DATA, "--type", "f32", "--layout", "nchw", "--list", "depthwise"],
    [*TOPK, "--type", "f32"],
    [*SPARSE, "--type", "f32"],
    [*SPARSE, "--type", "f16"],
    ["--family", "tensor_product_backward_data", "--type", "f32"],
    ["--family", "tensor_product_backward_weight", "--type", "f32"],
    ["--family", "kernel_map", "--type", "s32"],
    ["--family", "activate", "--type", "f32"],
    ["--family", "activate_backward", "--type", "f32"],
    ["--family", "sgd", "--type", "f32"],
    ["--family", "pool2d", "--type", "f32", "--layout", "nhwc"],
    ["--family", "pool2d_backward", "--type", "f32", "--layout", "nhwc"],
    ["--family", "softmax_cross_entropy", "--type", "f32"],
]
KEPT = ["family", "type", "output_type", "layout", "device", "threads", "list", "case", "ns",
        "ratio", "date"]


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def microseconds(ns):
    us = ns / 1e3
    return f"{us:.1f}" if us < 1000 else f"{us:.0f}"


def group_by(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def setting(row):
    return tuple(row[key] for key in ("family", "type", "output_type", "layout", "device", "threads"))


def title(what):
    family, type_, output_type, layout, device, threads = what
    types = type_ if output_type == type_ else f"{type_} to {output_type}"
    where = device if device != "cpu" else f"{threads} thread{'s' if threads > 1 else ''}"
    layouts = [] if layout == "any" else [layout]
    return "## " + ", ".join([family, types, *layouts, where])


def compared(rows):
    return [row for row in rows if row["ratio"]]


def timed(rows):
    return [row for row in rows if row["ns"]]


def times(row):
    return {**row["peers"], **row["other_layouts"]}


def libraries_of(rows):
    return sorted({library for row in rows for library in times(row)})


def of_peak(rows):
    """Whether the family's unit has a peak that was measured."""
    return rows[0]["device"] == "cpu" and rows[0]["peak"] is not None


def summary_line(name, rows, libraries):
    fair = compared(rows)
    cells = [name, str(len(rows)), "", "", "", "", ""]
    done = timed(rows)
    if done:
        cells[2] = f"{geometric_mean([row['rate'] for row in done]):.1f}"
        if of_peak(rows):
            cells[3] = f"{100 * geometric_mean([row['peak_fraction'] for row in done]):.0f} %"
    if fair:
        cells[4] = f"**{geometric_mean([row['ratio'] for row in fair]):.2f}**"
        cells[5] = f"{min(row['ratio'] for row in fair):.2f}"
        cells[6] = f"{sum(row['ratio'] < 1 for row in fair)} of {len(fair)}"
    for library in libraries:
        ratios = [times(row)[library] / row["ns"] for row in done if library in times(row)]
        some = f" ({len(ratios)})" if 0 < len(ratios) < len(done) else ""
        cells.append(f"{geometric_mean(ratios):.2f}{some}" if ratios else "")
    return "| " + " | ".join(cells) + " |"


def kinds(rows):
    """Parts of a list that are of interest by themselves."""
    parts = group_by(rows, lambda row: row["kind"])
    return dict(sorted(parts.items())) if len(parts) > 1 else {}


def summary(lists):
    rows = [row for some in lists.values() for row in some]
    libraries = libraries_of(rows)
    lines = [
        f"| list | cases | {rows[0]['unit']} | of peak | ratio | lowest | slower than a peer | "
        + "".join(f"to {library} | " for library in libraries).rstrip(),
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |" + " ---: |" * len(libraries),
    ]
    if len(lists) > 1:
        distinct = {row["case"]: row for row in reversed(rows)}
        lists = {**lists, "all lists": list(distinct.values())}
    for name, some in lists.items():
        lines.append(summary_line(name, some, libraries))
        for part, few in kinds(some).items():
            lines.append(summary_line(f"&nbsp;&nbsp;{part}", few, libraries))
    return lines


def table(rows):
    libraries = libraries_of(rows)
    lines = [
        f"| case | row | µs | {rows[0]['unit']} | of peak | "
        + "".join(f"{library} µs | " for library in libraries)
        + "ratio | largest error |",
        "| --- | --- | ---: | ---: | ---: | " + "---: | " * len(libraries) + "---: | ---: |",
    ]
    for row in rows:
        if row["failure"]:
            reason = row["failure"].replace("|", "\\|")
            empty = "| " * (len(libraries) + 4)
            lines.append(f"| {row['case']} | {row['row']} {empty}| failed: {reason} |")
            continue
        cells = [row["case"], row["row"], microseconds(row["ns"]), f"{row['rate']:.1f}"]
        cells.append(f"{100 * row['peak_fraction']:.0f} %" if of_peak([row]) else "")
        for library in libraries:
            cells.append(microseconds(times(row)[library]) if library in times(row) else "")
        ratio = row["ratio"]
        if not ratio:
            cells.append("")
        elif ratio < 1:
            cells.append(f"*{ratio:.2f}*")
        else:
            cells.append(f"{ratio:.2f}")
        cells.append(f"{row['max_error']:.0e}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


INTRODUCTION = """# Performance

Generated by `apps/bench/report.py` from runs of `bench`; `make bench` repeats them and writes
this page. *Ratio* is the fastest peer's time over ours, among those that take and make the same
layout: above 1 we are faster, below 1, in italics, a peer is. *To* a library: its time over ours
wherever it took part (in so many cases, where it is not all). *oneDNN blocked*, which does not
count in *ratio*, works on tensors that were reordered to its own layout before (and back after)
the time is taken. Means are geometric, every distinct shape of a list, or of all lists, weighing
the same.

How it is measured: one pinned thread unless said otherwise, all libraries taking turns in rounds
(every second round backwards), each sample at least 2 ms of repeated calls on the same tensors,
medians. Every result is checked against sums in double first, a peer's too. *Of peak* counts
multiplications with padding as work, for all libraries, so that a library that skips them can
pass 100 %; the peak is that of a loop of multiply-adds in the same run, in 8 bits where the input
is u8 or s8. *Largest error* is relative to the largest value of the output; of u8 and s8 outputs it
is what goes beyond rounding.

What the peers are given: oneDNN gets its weights reordered to the form that it asks for, outside
its time. ONNX Runtime gets a model of one node whose weight it packs at load; it computes
in NCHW, and gets its data so. Our activations are plain, as frameworks hold them. The weight of
conv2d is prepared before (`hk/filter.h`), as those of the peers are; *hk plain*, which does not
count in *ratio*, packs it in every call. Of other families, whatever packing a kernel does is
inside our time.

quantized_conv2d: the type is the input's; weights are s8 with a scale of each filter and zero point
0. Inputs of u8 have zero point 0, as after a ReLU, those of s8 another. Without a bias. An output
of u8 or s8 may differ by one unit where its value lies between two but for rounding. oneDNN gets
the same types; *oneDNN plain weights* is the same with the reorder of its weights inside its time,
and does not count in *ratio*. ONNX Runtime gets QLinearConv. With inputs of f32 the peer is our own
f32 conv2d, *hk f32*, whose weight was dequantised before; ONNX Runtime gets DequantizeLinear and
Conv, may dequantise at load, and does not count in *ratio*.

conv2d_backward_weight, conv2d_backward_data: gradients that overwrite what was there. *oneDNN* has
activations and their gradients in the layout of the problem, *oneDNN reordered* in the fastest of
its own choice and nhwc, reordered outside its time: it counts in *ratio*, which is that to oneDNN
in its best layout. The weight, or its gradient, is in the form that oneDNN asks for in both. Data
are multiples of 1/16, so that all sums are exact, and a f32 gradient must be. The first convolution
of a network, whose input is the picture, is not among the data gradients.

topk: rows x columns, of which the k largest are asked for: values and indices, or one of them. GB/s
are bytes of the input. Data are uniform in -1..1. ONNX Runtime's TopK makes both, sorted; where one
is asked for it does not count in *ratio*, and neither do *hk both*, our own time for both, and *one
pass*, one vectorised look at all the data, which nothing that is exact can beat.

tensor_product, tensor_product_backward_data, tensor_product_backward_weight: layers of a sparse
network over one cloud of voxels, and their gradients; kernel, stride, channels of the input and of
the output. Operations are those of the pairs, without padding; data are multiples of 1/16, so that
all sums are exact, and a f32 result must be. Our time has the maps checked and sorted in every
call; *hk unchecked* leaves the check out, *hk kept maps* has both done before, as calls that share
maps have; neither counts in *ratio*. *NumPy* gathers an offset's rows, multiplies them by BLAS and
adds them to the output, all offsets whole, in buffers that stay; *NumPy blocked* does so by blocks
of pairs that stay in cache, rows scattered as single elements. Both count in *ratio*. f16 is
widened for BLAS and summed in f32.

kernel_map: the maps of such layers from the coordinates of voxels, which run no kernel of the
table. *NumPy* packs coordinates into integers, sorts them, and searches for the neighbours of each
offset.

activate, activate_backward, sgd, pool2d, pool2d_backward, softmax_cross_entropy: GB/s are bytes of
the tensors that a call reads and writes, each once. No peer makes them; *memcpy* copies half as
many bytes from one place to another, so that it moves as many. That is not the same task: it has no
ratio, and *to memcpy* is 1 where a kernel takes no longer than to move its data; one that writes
less than it reads may pass that.
"""


def change_line(names, pairs):
    """pairs: of rows, before and now."""
    fair = [(old, new) for old, new in pairs if old["ratio"] and new["ratio"]]
    gained = [old["ns"] / new["ns"] for old, new in pairs]
    cells = [*names, str(len(pairs)), "", "", *(f"{value:.2f}" for value in (
        geometric_mean(gained), max(gained), min(gained)))]
    if fair:
        cells[3] = f"{geometric_mean([old['ratio'] for old, _ in fair]):.2f}"
        cells[4] = f"**{geometric_mean([new['ratio'] for _, new in fair]):.2f}**"
    return "| " + " | ".join(cells) + " |"


def changes(rows, before):
    """A line a list of what the schedules that were found since have changed."""
    key = lambda row: (*setting(row), row["list"], row["case"])
    former = {key(row): row for row in timed(before)}
    pairs = [(former[key(row)], row) for row in timed(rows) if key(row) in former]
    if not pairs:
        return []
    dates = ", ".join(sorted({old["date"] for old, _ in pairs}))
    lines = ["", "## Before and after tuning", "",
             f"*Before*: the ratios of {dates}, measured before the knobs of rows were tuned and, of",
             "conv2d, before filters were prepared. *Gained*:",
             "the former time of a case over that of now, the mean of a list, the most and the least. The",
             "two are different runs: lists whose rows are as they were show how far such runs differ.", "",
             "| kernels | list | cases | ratio before | after | gained | most | least |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for what, group in group_by(pairs, lambda pair: setting(pair[1])).items():
        kernels = title(what).removeprefix("## ").removesuffix(", 1 thread")
        lines += [change_line((kernels, name), some)
                  for name, some in group_by(group, lambda pair: pair[1]["list"]).items()]
    return lines


def keep(rows, name):
    """A line a row, which shows well what a later version changes."""
    lines = [json.dumps({key: row[key] for key in KEPT}, ensure_ascii=False) for row in rows]
    write_file(name, "[\n" + ",\n".join(lines) + "\n]\n")


def page(rows, before=(), shown=""):
    """shown: the address of the picture."""
    heading, introduction = INTRODUCTION.split("\n\n", 1)
    lines = [heading, ""]
    if shown:
        lines += [f"![The ratio of every case, by family and list]({shown})", ""]
    lines.append(introduction)
    lines.append(f"CPU: {', '.join(sorted({row['cpu'] for row in rows}))}. ")
    lines[-1] += f"Date: {', '.join(sorted({row['date'] for row in rows}))}. "
    versions = sorted({version for row in rows for version in row["peer_versions"]})
    lines[-1] += f"Peers: {', '.join(versions) if versions else 'none installed'}."
    lines += changes(rows, before)
    for what, group in group_by(rows, setting).items():
        lines += ["", title(what), ""]
        for command in sorted({row["command"] for row in group}):
            lines.append(f"`{command}`  ")
        if of_peak(group):
            peak = max(row["peak"] for row in group)
            lines.append(f"Peak of multiply-adds: {peak:.1f} {group[0]['unit']}.")
        lists = group_by(group, lambda row: row["list"])
        lines += [""] + summary(lists)
        for name, some in lists.items():
            lines += ["", f"### {name}", ""] + table(some)
    return "\n".join(lines) + "\n"


def run_bench(program):
    """Runs RUNS one after the other, and returns the files with their results, in the build tree."""
    tree = os.path.dirname(os.path.dirname(os.path.abspath(program)))
    files = []
    failed = False
    for flags in RUNS:
        values = [flag for flag in flags if not flag.startswith("--") and flag != NETWORKS]
        file = os.path.join(tree, f"bench-{'-'.join(values)}.json")
        failed |= subprocess.run([program, *flags, "--json", file], check=False).returncode != 0
        files.append(file)
    return files, failed


def read(names):
    rows = []
    for name in names:
        try:
            with open(name, encoding="utf-8") as file:
                some = json.load(file)
            if not isinstance(some, list) or any(set(KEPT) - set(row) for row in some):
                raise ValueError("it is not what bench --json writes")
        except (OSError, ValueError, TypeError) as error:
            print(f"report.py: {name}: {error}", file=sys.stderr)
            sys.exit(2)
        rows += some
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="-", help="file to write; - for the terminal")
    parser.add_argument("--picture", help="file of the picture; beside --output, .svg")
    parser.add_argument("--bench", help="the program, to run it first")
    parser.add_argument("--before", nargs="+", default=[], metavar="FILE", help="former results")
    parser.add_argument("--keep", metavar="FILE", help="write results there, for a later --before")
    parser.add_argument("files", nargs="*", help="written by bench --json")
    arguments = parser.parse_args()
    before = read(arguments.before)
    files, failed = run_bench(arguments.bench) if arguments.bench else ([], False)
    rows = read(files + arguments.files)
    if not rows:
        sys.exit("report.py: no results; it needs --bench or files")
    if arguments.keep:
        keep(rows, arguments.keep)
    drawn = arguments.picture
    if arguments.output != "-" and not drawn:
        drawn = os.path.splitext(arguments.output)[0] + ".svg"
    shown = ""
    if drawn:
        import picture  # matplotlib takes a second

        if picture.panels_of(rows):
            picture.draw(rows, drawn)
            place = os.path.dirname(arguments.output) if arguments.output != "-" else ""
            shown = os.path.relpath(drawn, place or ".")
    text = page(rows, before, shown)
    if arguments.output == "-":
        sys.stdout.write(text)
    else:
        write_file(arguments.output, text)
    if failed:
        sys.exit("report.py: a run of bench failed")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"report.py: {error}")
