#!/usr/bin/env python3
"""Prints what a sweep found (sweep.json and results.csv in DIR), and writes it as one page of HTML
that opens without a network."""

import argparse
import dataclasses
import json
import math
import os
import sys
from collections import Counter

from markupsafe import Markup
from plotly.offline import get_plotlyjs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

import figures  # noqa: E402
import sweep_results  # noqa: E402
from files import write_file  # noqa: E402
from templates import PAGES, written  # noqa: E402

MOST_VALUES = 24  # of a knob; past that those that were tried
SIGNS = {"circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲", "cross": "✚",
         "star-triangle-up": "✦"}


def time_of(ns):
    if not ns:
        return ""
    return f"{ns / 1e6:.3f} ms" if ns >= 1e6 else f"{figures.microseconds(ns):g} µs"


PAGES.filters["time"] = time_of


def duration(seconds):
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def counts_of(candidates):
    counts = Counter(candidate.status for candidate in candidates)
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def markers_of(case):
    return figures.marker_of(dict.fromkeys((c.base, c.by_machine) for c in case.candidates))


def knob_figures(case, markers):
    plots = {}
    for name, values in case.knobs().items():
        tried = {case.knob_of(candidate, name) for candidate in case.candidates} - {None}
        if len(values) > MOST_VALUES:
            values = [value for value in values if value in tried]
        if tried:
            plots[name] = figures.knob(case, name, values, markers)
    return plots


def ceiling_figure(sweep, cases, markers=None):
    if sweep.of_bytes or not all(case.intensity() for case in cases):
        return figures.bandwidth(sweep, cases)
    return figures.roofline(sweep, cases, markers)


def title_of(sweep):
    about, settings = sweep.about, sweep.about["settings"]
    layout = [] if settings["layout"] in ("", "any") else [settings["layout"]]
    threads = int(settings.get("threads", 1))
    where = [settings["device"]]
    if settings["device"] == "cpu":
        where.append(f"{threads} thread{'s' if threads > 1 else ''}")
    return ", ".join([about["family"], settings["type"], *layout, *where])


def facts_of(sweep):
    about = sweep.about
    tried = [candidate for case in sweep.cases for candidate in case.candidates]
    many = "" if len(tried) == 1 else "s"
    yield f"{len(tried)} candidate{many} in {duration(sum(c.seconds for c in tried))} of work"
    yield from (f"{key} {about[key]}" for key in ("strategy", "seed") if key in about)
    if "budget_seconds" in about:
        yield f"budget {duration(about['budget_seconds'])} a case"
    yield from (str(about[key]) for key in ("machine", "date") if key in about)
    limits = [f"peak {sweep.peak:.1f} {sweep.unit}"] if sweep.peak else []
    limits += [f"memory {sweep.bandwidth:.1f} GB/s"] if sweep.bandwidth else []
    if limits:
        yield "ceilings: " + ", ".join(limits)
    ratios = [case.best().ratio for case in sweep.cases if case.best()]
    if len(sweep.cases) > 1 and ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        yield f"{len(ratios)} cases, geometric mean of their best ratios {mean:.3f}"


def page(sweep):
    return written(
        "report.html", sweep=sweep, title=title_of(sweep), facts=facts_of(sweep), figures=figures,
        done=[case for case in sweep.cases if case.right()], plotly=Markup(get_plotlyjs()),
        signs=SIGNS, counts_of=counts_of, markers_of=markers_of, knob_figures=knob_figures,
        ceiling_figure=ceiling_figure, descriptions=lambda case: json.dumps(
            [figures.hover(candidate, sweep.unit) for candidate in case.candidates]))


def verdict_of(case, sweep):
    """Lines: the table's row, the best five, the best autoscheduler, what goes into the table."""
    right = [candidate for candidate in case.fastest_first() if candidate.ok]
    yield (f"{sweep.about['family']} {case.name}: {len(right)} measured, {len(case.failed())} "
           f"failed, {len(case.refused)} bases that don't take it")
    if not right:
        return
    shown = {"table": dataclasses.replace(
        right[0], ns=case.table_ns, rate=case.row_rate(), ratio=1,
        name=f"{case.row['name']}: {case.row['candidate']}")}
    shown |= {str(place): candidate for place, candidate in enumerate(right[:5], 1)}
    if automatic := case.best(case.is_by_machine):
        shown["autoscheduler"] = automatic
    for what, candidate in shown.items():
        yield (f"  {what:<14} {candidate.ns / 1e6:10.4f} ms {candidate.rate:9.2f} {sweep.unit:<8} "
               f"{candidate.ratio:6.3f}  {candidate.name}")
    if case.line:
        chooser = case.base_of(case.best(case.is_by_hand))["chooser"]
        yield f"  into the table (chooser: {chooser}):\n    {case.line}"
    else:
        yield "  the table is as good as the best of these"


def verdict(sweep):
    lines = [line for case in sweep.cases for line in verdict_of(case, sweep)]
    wasted = sweep_results.wasted([c for case in sweep.cases for c in case.candidates])
    return [*lines, f"{100 * wasted:.1f} % of the candidates' time went into those that failed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", metavar="DIR", help="that sweep wrote")
    parser.add_argument("--output", help="DIR/report.html")
    arguments = parser.parse_args()
    output = arguments.output or os.path.join(arguments.directory, "report.html")
    try:
        sweep = sweep_results.read(arguments.directory)
        print(*verdict(sweep), sep="\n")
        write_file(output, page(sweep))
    except (OSError, ValueError, json.JSONDecodeError) as error:
        print(f"report: {arguments.directory}: {error}", file=sys.stderr)
        sys.exit(2)
    print(output)


if __name__ == "__main__":
    main()
