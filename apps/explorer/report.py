#!/usr/bin/env python3
"""Writes what a sweep found (sweep.json and results.csv in DIR) as one page of HTML that opens
without a network."""

import argparse
import json
import math
import os
import sys
from collections import Counter
from html import escape

from plotly.offline import get_plotlyjs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

import figures  # noqa: E402
import sweep_results  # noqa: E402
from files import write_file  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_VALUES = 24  # of a knob; past that those that were tried


def beside(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def data_script(text, attributes=""):
    safe = text.replace("<", "\\u003c")
    return f'<script type="application/json"{attributes}>{safe}</script>'


def plot(name, figure):
    """A place for the figure, and the figure for the script that draws it."""
    height = figure.layout.height
    return (f'<div class="plot" id="{escape(name)}" style="height:{height}px"></div>'
            + data_script(figure.to_json()))


def descriptions(case, unit):
    texts = [figures.hover(candidate, unit) for candidate in case.candidates]
    return data_script(json.dumps(texts), f' id="candidates-{case.number}"')


def time_of(ns):
    return f"{ns / 1e6:.3f} ms" if ns >= 1e6 else f"{figures.microseconds(ns):g} µs"


def duration(seconds):
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def breakable(text):
    """Knobs may go on in the next line after a comma."""
    return escape(text).replace(",", ",<wbr>")


def tile(value, text, kind=""):
    return (f'<div class="tile"><b class="{kind}">{escape(value)}</b><span>{breakable(text)}</span>'
            "</div>")


def counts_of(candidates):
    counts = Counter(candidate.status for candidate in candidates)
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def ratio_kind(ratio):
    return "good" if ratio > 1 else "bad"


def tiles(case):
    best, failed = case.best(), case.failed()
    machine = case.best(lambda candidate: candidate.by_machine)
    found = [tile(f"{best.ratio:.3f}", "ratio of the best: the row's time over its own",
                  ratio_kind(best.ratio)),
             tile(time_of(best.ns), f"the best: {best.name}")] if best else []
    row = [tile(time_of(case.table_ns), f"the table's row: {case.row['name']}")] if best else []
    if machine:
        row.append(tile(f"{machine.ratio:.3f}", f"best autoscheduler: {machine.way}",
                        ratio_kind(machine.ratio)))
    return "".join([
        '<div class="tiles">', *found, *row,
        tile(str(len(case.candidates)),
             f"tried; {len(failed)} failed" + (f": {counts_of(failed)}" if failed else "")),
        tile(f"{100 * case.wasted():.1f} %", "of the time went to failing candidates",
             "bad" if case.wasted() > 0.1 else ""), "</div>"])


def advice(case):
    if not case.line:
        return "<p>No hand-written candidate gains 2 % over the table's row: it stays.</p>"
    base = case.base_of(case.best(lambda candidate: not candidate.by_machine))
    chooser = f" The schedule's chooser: <code>{escape(base['chooser'])}</code>." if base else ""
    return (f'<h3>The line for the table</h3><p class="soft">The row that runs now: <code>'
            f"{escape(case.row['name'])}</code>, {escape(case.row['candidate'])}.{chooser}</p>"
            f"<pre>{escape(case.line)}</pre>")


def legend(markers):
    signs = {"circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲", "cross": "✚",
             "star-triangle-up": "✦"}
    names = [f'<span><i style="color:{colour}">{signs[symbol]}</i>{escape(base)}</span>'
             for base, (colour, symbol) in markers.items()]
    names.append(f'<span><i style="color:{figures.FAILED}">×</i>failed</span>')
    return f'<div class="legend">{"".join(names)}</div>'


def knob_plots(case, markers):
    plots = []
    for name, values in case.knobs().items():
        tried = {case.knob_of(candidate, name) for candidate in case.candidates} - {None}
        if len(values) > MOST_VALUES:
            values = [value for value in values if value in tried]
        if tried:
            plots.append(plot(f"knob-{case.number}-{name}",
                              figures.knob(case, name, values, markers)))
    return f'<div class="grid">{"".join(plots)}</div>' if plots else "<p>There are none.</p>"


def cell(value, text, kind="number"):
    data = "" if kind == "text" else f' data-value="{"" if value is None else f"{value:.9g}"}"'
    return f'<td class="{kind}"{data}>{"" if value is None else breakable(text)}</td>'


def table_row(candidate, best, unit, parts):
    optional = lambda value, form: "" if value is None else form.format(value)
    cells = [f'<td class="text">{escape(candidate.way)} <span class="soft">'
             f'{escape(candidate.fixed)}</span></td>', cell(0, candidate.knobs_text, "text"),
             cell(0, candidate.status, "text"),
             cell(candidate.ratio, optional(candidate.ratio, "{:.3f}")),
             cell(candidate.ns, time_of(candidate.ns) if candidate.ns else ""),
             cell(candidate.rate, optional(candidate.rate, "{:.1f}")),
             cell(candidate.max_error, optional(candidate.max_error, "{:.0e}")),
             cell(candidate.compile_s, f"{candidate.compile_s:.1f}"),
             cell(candidate.at_s, f"{candidate.at_s:.0f}")]
    if parts:
        cells.append(cell(0, candidate.part, "text"))
    cells.append(cell(0, candidate.reason, "text"))
    kind = ' class="best"' if candidate is best else ""
    return f'<tr{kind} data-status="{escape(candidate.status)}">{"".join(cells)}</tr>'


def table(case, unit):
    """All candidates, the fastest first, and what failed."""
    parts = len({candidate.part for candidate in case.candidates}) > 1
    heads = [("schedule", ""), ("knobs", ""), ("status", ""), ("ratio", "number"),
             ("time", "number"), (unit, "number"), ("error", "number"), ("compile, s", "number"),
             ("at, s", "number"), *([("part", "")] if parts else []), ("reason", "")]
    texts = "".join(f'<th data-sort="{kind}"{"" if kind else " class=text"}>{escape(name)}</th>'
                    for name, kind in heads)
    order = sorted(case.candidates, key=lambda candidate: -(candidate.ratio or 0))
    rows = "".join(table_row(candidate, case.best(), unit, parts) for candidate in order)
    statuses = "".join(f'<option value="{escape(status)}">{escape(status)}</option>'
                       for status in dict.fromkeys(candidate.status for candidate in order))
    return (f'<div class="filter"><input type="search" placeholder="words that a candidate has">'
            f'<select><option value="">any status</option>{statuses}</select>'
            f'<span class="soft"></span></div><div class="table"><table class="sortable" '
            f'id="table-{case.number}"><thead><tr>{texts}</tr></thead><tbody>{rows}</tbody></table>'
            f'</div>')


def refused(case):
    """The table's other schedules, and why they are none for the case."""
    if not case.refused:
        return ""
    rows = "".join(f'<tr><td class="text">{escape(candidate.base)}</td>'
                   f'<td class="text">{escape(candidate.reason)}</td></tr>'
                   for candidate in case.refused)
    return (f"<details><summary>Schedules that don't take this case: {len(case.refused)}</summary>"
            f'<div class="table"><table><tbody>{rows}</tbody></table></div></details>')


def case_section(case, sweep):
    number, unit = case.number, sweep.unit
    parts = [f'<section id="case-{number}"><h2>{escape(case.name)}</h2>']
    if not case.candidates:
        return parts[0] + '<p class="soft">No candidate yet.</p></section>'
    parts.append(tiles(case))
    if case.right():
        bases = dict.fromkeys((c.base, c.by_machine) for c in case.candidates)
        markers = figures.marker_of(bases)
        parts += [descriptions(case, unit), advice(case),
                  "<h3>Time against each knob</h3>",
                  '<p class="soft">A dot is a candidate; the dashed line is the table\'s row. '
                  "Times are the row's median over a candidate's ratio, as both were measured in "
                  "turn.</p>",
                  legend(markers), knob_plots(case, markers),
                  '<div class="halves"><div><h3>Best so far</h3>',
                  plot(f"progress-{number}", figures.progress(case, markers)),
                  f"</div><div><h3>{'Bandwidth' if sweep.of_bytes else 'Roofline'}</h3>",
                  plot(f"roofline-{number}", ceiling_figure(sweep, [case], markers)),
                  "</div></div>",
                  "<h3>Hand-written schedules and Halide's autoschedulers (grey)</h3>",
                  plot(f"schedules-{number}", figures.schedules(case))]
    parts += ["<h3>All candidates</h3>", table(case, unit), refused(case), "</section>"]
    return "".join(parts)


def ceiling_figure(sweep, cases, markers=None):
    if sweep.of_bytes or not all(case.intensity() for case in cases):
        return figures.bandwidth(sweep, cases)
    return figures.roofline(sweep, cases, markers)


def index_row(case):
    best = case.best()
    machine = case.best(lambda candidate: candidate.by_machine)
    cells = [f'<td class="text"><a href="#case-{case.number}">{escape(case.name)}</a></td>',
             cell(0, case.row["name"], "text")]
    cells += [cell(case.table_ns, time_of(case.table_ns)), cell(best.ns, time_of(best.ns)),
              cell(best.ratio, f"{best.ratio:.3f}"),
              cell(0, best.name, "text")] if best else ["<td></td>"] * 4
    cells += [cell(machine.ratio, f"{machine.ratio:.3f}") if machine else "<td></td>",
              cell(len(case.candidates), str(len(case.candidates))),
              cell(len(case.failed()), str(len(case.failed())))]
    return f"<tr>{''.join(cells)}</tr>"


def index(sweep):
    heads = [("case", ""), ("row", ""), ("its time", "number"), ("best time", "number"),
             ("ratio", "number"), ("best candidate", ""), ("autoscheduler's ratio", "number"),
             ("tried", "number"), ("failed", "number")]
    texts = "".join(f'<th data-sort="{kind}"{"" if kind else " class=text"}>{name}</th>'
                    for name, kind in heads)
    rows = "".join(index_row(case) for case in sweep.cases)
    parts = [f'<section id="index"><div class="table"><table class="sortable" id="table-0"><thead>'
             f"<tr>{texts}</tr></thead><tbody>{rows}</tbody></table></div>"]
    done = [case for case in sweep.cases if case.right()]
    if done:
        name = "Bandwidth" if sweep.of_bytes else "Roofline"
        parts += ['<div class="halves"><div><h3>Best ratio of each case</h3>',
                  plot("ratios", figures.ratios(done)),
                  f"</div><div><h3>{name}: the rows (grey) and the best</h3>",
                  plot("roofline-0", ceiling_figure(sweep, done)), "</div></div>"]
    return "".join(parts) + "</section>"


def header(sweep):
    about, settings = sweep.about, sweep.about["settings"]
    layout = [] if settings["layout"] in ("", "any") else [settings["layout"]]
    threads = int(settings.get("threads", 1))
    where = [settings["device"]]
    if settings["device"] == "cpu":
        where.append(f"{threads} thread{'s' if threads > 1 else ''}")
    title = ", ".join([about["family"], settings["type"], *layout, *where])
    tried = [candidate for case in sweep.cases for candidate in case.candidates]
    many = "" if len(tried) == 1 else "s"
    facts = [f"{len(tried)} candidate{many} in {duration(sum(c.seconds for c in tried))} of work"]
    facts += [f"{key} {about[key]}" for key in ("strategy", "seed") if key in about]
    if "budget_seconds" in about:
        facts.append(f"budget {duration(about['budget_seconds'])} a case")
    facts += [str(about[key]) for key in ("machine", "date") if key in about]
    limits = [f"peak {sweep.peak:.1f} {sweep.unit}"] if sweep.peak else []
    limits += [f"memory {sweep.bandwidth:.1f} GB/s"] if sweep.bandwidth else []
    if limits:
        facts.append("ceilings: " + ", ".join(limits))
    if len(sweep.cases) > 1:
        ratios = [case.best().ratio for case in sweep.cases if case.best()]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            facts.append(f"{len(ratios)} cases, geometric mean of their best ratios {mean:.3f}")
    return title, f'<h1>{escape(title)}</h1><p class="soft">{escape("; ".join(facts))}.</p>'


def page(sweep):
    title, head = header(sweep)
    sections = [index(sweep)] if len(sweep.cases) > 1 else []
    sections += [case_section(case, sweep) for case in sweep.cases]
    return "".join([
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{beside('report.css')}</style>",
        f"<script>{get_plotlyjs()}</script></head><body><main>", head, *sections,
        f"</main><script>{beside('report.js')}</script></body></html>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", metavar="DIR", help="that sweep wrote")
    parser.add_argument("--output", help="DIR/report.html")
    arguments = parser.parse_args()
    output = arguments.output or os.path.join(arguments.directory, "report.html")
    try:
        text = page(sweep_results.read(arguments.directory))
        write_file(output, text)
    except (OSError, ValueError, json.JSONDecodeError) as error:
        print(f"report: {arguments.directory}: {error}", file=sys.stderr)
        sys.exit(2)
    print(output)


if __name__ == "__main__":
    main()
