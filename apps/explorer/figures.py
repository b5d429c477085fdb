"""The figures of a sweep's report. Inks, grids and backgrounds are the page's, by its
style sheet."""

import html
import math

import plotly.graph_objects as go

COLOURS = ["#3b82c4", "#d9730d", "#2b9a4e", "#9a6bc9", "#139fae", "#b8891f", "#c75a9b", "#6673d1"]
BY_MACHINE = "#8a93a1"  # autoschedulers
BEST, ROW, FAILED = "#e0a100", "#7d8590", "#d0435b"
SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "star-triangle-up"]
MOST_TICKS = 12


def marker_of(bases):
    """Base: (colour, symbol). Past the last colour a base has the next symbol."""
    hand, machine = [], []
    for base, by_machine in bases:
        (machine if by_machine else hand).append(base)
    markers = {base: (COLOURS[i % len(COLOURS)], SYMBOLS[i // len(COLOURS) % len(SYMBOLS)])
               for i, base in enumerate(hand)}
    markers |= {base: (BY_MACHINE, SYMBOLS[i % len(SYMBOLS)]) for i, base in enumerate(machine)}
    return markers


def microseconds(ns):
    us = ns / 1e3
    return round(us, 2 if us < 100 else 1 if us < 1000 else 0)


def hover(candidate, unit):
    parts = [html.escape(candidate.base),
             html.escape(candidate.knobs_text) or "the chooser's knobs"]
    if candidate.ok:
        parts.append(f"{microseconds(candidate.ns):g} µs, ratio {candidate.ratio:.3f}")
        if candidate.rate:
            parts.append(f"{candidate.rate:.1f} {unit}")
    else:
        parts.append(f"{candidate.status}: {html.escape(candidate.reason[:100])}")
    return "<br>".join(parts)


def figure(data, height, x, y, **layout):
    return go.Figure(data, {
        "template": {}, "height": height, "margin": {"l": 56, "r": 16, "t": 30, "b": 44},
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12}, "hovermode": "closest",
        "hoverlabel": {"bgcolor": "#1f2329", "font": {"color": "#ffffff"}, "align": "left"},
        "xaxis": {"zeroline": False, "automargin": True, **x},
        "yaxis": {"zeroline": False, "automargin": True, "ticklabelstandoff": 4, **y}, **layout})


def dots(case, candidates, x, y, markers, **marker):
    """A trace for each base. Its texts are places in the case's candidates, whose descriptions the
    page has once."""
    places = {id(candidate): place for place, candidate in enumerate(case.candidates)}
    traces = []
    for base in dict.fromkeys(candidate.base for candidate in candidates):
        some = [candidate for candidate in candidates if candidate.base == base]
        colour, symbol = markers[base]
        traces.append(go.Scatter(
            x=[x(candidate) for candidate in some], y=[y(candidate) for candidate in some],
            mode="markers", name=base, text=[places[id(candidate)] for candidate in some],
            meta=case.number, hovertemplate="%{text}<extra></extra>",
            marker={"color": colour, "symbol": symbol, "size": 6, "opacity": 0.75, **marker}))
    return traces


def line(text, **where):
    """A line across the plot, with its name."""
    axis = "h" if "y0" in where else "v"
    shape = {"type": "line", "line": {"dash": "dash", "width": 1.3, "color": ROW}, **where}
    shape |= {"xref": "paper", "x0": 0, "x1": 1} if axis == "h" else {
        "yref": "paper", "y0": 0, "y1": 1}
    place = "end" if axis == "h" else "start"
    shape["label"] = {"text": text, "textposition": place, "font": {"size": 11}}
    if axis == "h":
        shape["label"]["yanchor"] = "bottom"
    return shape


def log_ticks(low, high):
    """Round values, as dense as leaves room for their names."""
    for steps in (range(100, 1000, 2), range(100, 1000, 5), range(100, 1000, 10),
                  range(100, 1000, 20), range(100, 1000, 50), (100, 150, 200, 300, 500, 700),
                  (100, 200, 500), (100,)):
        ticks = [step * 10.0**power for power in range(-8, 14) for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= 9:
            break
    return inside


def log_axis(values, title):
    low, high = min(values), max(values)
    room = max((high / low) ** 0.06, 1.03)
    low, high = low / room, high * room
    ticks = log_ticks(low, high)
    return {"type": "log", "range": [math.log10(low), math.log10(high)], "tickvals": ticks,
            "ticktext": [f"{tick:,.6g}" for tick in ticks], "title": {"text": title}}


def knob(case, name, values, markers):
    """Time against one knob, a dot a candidate; what failed, on the upper edge."""
    have = [candidate for candidate in case.candidates if case.knob_of(candidate, name) is not None]
    right = [candidate for candidate in have if candidate.ok]
    failed = [candidate for candidate in have if not candidate.ok]
    beside = [base for base in markers if any(candidate.base == base for candidate in have)]
    spread = {base: (i + 1) / (len(beside) + 1) - 0.5 for i, base in enumerate(beside)}
    place = {value: i for i, value in enumerate(values)}
    at = lambda candidate: round(
        place[case.knob_of(candidate, name)] + 0.5 * spread[candidate.base], 3)
    name_of_unit, ns = ("ms", 1e6) if case.table_ns >= 1e6 else ("µs", 1e3)
    times = [candidate.ns / ns for candidate in right] + [case.table_ns / ns]
    top = max(times) * max((max(times) / min(times)) ** 0.08, 1.04)
    data = dots(case, right, at, lambda candidate: round(candidate.ns / ns, 5), markers)
    crosses = {base: (FAILED, "x-thin-open") for base in markers}
    data += dots(case, failed, at, lambda candidate: round(top, 5), crosses)
    step = -(-len(values) // MOST_TICKS)
    axis = {"tickvals": list(range(0, len(values), step)), "ticktext": values[::step],
            "range": [-0.6, len(values) - 0.4], "title": {"text": name, "standoff": 6}}
    return figure(data, 270, axis, log_axis([*times, top], name_of_unit),
                  shapes=[line("", y0=case.table_ns / ns, y1=case.table_ns / ns)])


def progress(case, markers):
    """The best ratio so far, over the time of the sweep."""
    right = sorted(case.right(), key=lambda candidate: candidate.at_s)
    end = max(candidate.at_s for candidate in case.candidates)
    scale, name = (60, "minutes") if end >= 180 else (1, "seconds")
    at = lambda candidate: round(candidate.at_s / scale, 3)
    x, y, best = [], [], 0
    for candidate in right:
        if candidate.ratio > best:
            best = candidate.ratio
            x.append(at(candidate))
            y.append(round(best, 4))
    x.append(round(end / scale, 3))
    y.append(y[-1])
    data = dots(case, right, at, lambda candidate: round(candidate.ratio, 4), markers, opacity=0.45)
    data.append(go.Scatter(x=x, y=y, mode="lines", name="best so far",
                           line={"shape": "hv", "width": 2.5, "color": BEST},
                           hovertemplate="best so far %{y:.3f}<extra></extra>"))
    return figure(data, 340, {"title": {"text": f"{name} since the case's sweep began"},
                               "range": [-0.02 * end / scale, 1.02 * end / scale]},
                  {"title": {"text": "ratio: the row's time over the candidate's"}, "rangemode":
                   "tozero"}, shapes=[line(f"the table's row {case.row['name']}", y0=1, y1=1)])


def roof(sweep, low, high):
    """The ceilings as a line over intensities."""
    peak, bandwidth = sweep.peak, sweep.bandwidth
    points = [low, high]
    if peak and bandwidth and low < peak / bandwidth < high:
        points.insert(1, peak / bandwidth)
    rates = [min(rate for rate in (peak, bandwidth and bandwidth * x) if rate) for x in points]
    text = [f"{bandwidth:g} GB/s of memory" if bandwidth and rate < (peak or math.inf)
            else f"peak {peak:g} {sweep.unit}" for rate in rates]
    return go.Scatter(x=points, y=rates, mode="lines", text=text, name="ceilings",
                      hovertemplate="%{text}<extra></extra>", line={"color": FAILED, "width": 2})


def star(x, y, text, colour, symbol, size=13):
    return go.Scatter(x=x, y=y, mode="markers", text=text, hovertemplate="%{text}<extra></extra>",
                      marker={"color": colour, "symbol": symbol, "size": size,
                              "line": {"width": 1, "color": "#30363d"}})


def roofline(sweep, cases, markers=None):
    """Rates over operations a byte, below the machine's ceilings: the rows, the best, and where
    markers are given all candidates."""
    at = [case.intensity() for case in cases]
    corner = [sweep.peak / sweep.bandwidth] if sweep.peak and sweep.bandwidth else []
    low, high = min(at + corner) / 3, max(at + corner) * 6
    data = [roof(sweep, low, high)] if sweep.peak or sweep.bandwidth else []
    if markers:
        for case in cases:
            data += dots(case, case.right(), lambda _: case.intensity(),
                         lambda candidate: case.work / candidate.ns, markers, opacity=0.5)
    rows = [f"{html.escape(case.name)}<br>row {case.row['name']}: "
            f"{case.row_rate():.1f} {sweep.unit}" for case in cases]
    data.append(star(at, [case.row_rate() for case in cases], rows, ROW, "diamond", 12))
    best = [case.best() for case in cases]
    names = [f"{html.escape(case.name)}<br>the best<br>{hover(candidate, sweep.unit)}"
             for case, candidate in zip(cases, best)]
    data.append(star(at, [case.work / candidate.ns for case, candidate in zip(cases, best)], names,
                     BEST, "star"))
    rates = [rate for trace in data for rate in trace.y]
    return figure(data, 340, log_axis([low, high], "operations a byte of the tensors"),
                  log_axis(rates, sweep.unit), annotations=ceilings(sweep, low, high))


def ceilings(sweep, low, high):
    """The names of the roof's two parts."""
    notes, peak, bandwidth = [], sweep.peak, sweep.bandwidth
    if peak:
        notes.append({"x": math.log10(high), "y": math.log10(peak), "xanchor": "right",
                      "yanchor": "bottom", "text": f"peak {peak:.0f} {sweep.unit}"})
    if bandwidth:
        x = math.sqrt(low * min(peak / bandwidth if peak else high, high))
        notes.append({"x": math.log10(x), "y": math.log10(bandwidth * x), "xanchor": "right",
                      "yanchor": "bottom", "text": f"{bandwidth:.1f} GB/s"})
    return [{**note, "showarrow": False, "font": {"size": 11}} for note in notes]


def bandwidth(sweep, cases):
    """Bars of bytes a nanosecond, for families whose work is bytes: rows and best candidates beside
    what the machine's memory gives."""
    names = [case.name for case in cases]
    bars = (("the table's row", ROW, [case.row_rate() for case in cases]),
            ("the best", BEST, [case.work / case.best().ns for case in cases]))
    data = [go.Bar(y=names if len(names) > 1 else [bar], x=rates, name=bar, orientation="h",
                   marker={"color": colour}, hovertemplate=f"{bar}: %{{x:.1f}} GB/s<extra></extra>")
            for bar, colour, rates in bars]
    limit = sweep.bandwidth
    shapes = [line("", x0=limit, x1=limit)] if limit else []
    notes = [{"x": limit, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False,
              "text": f"memory {limit:.1f} GB/s", "font": {"size": 11}}] if limit else []
    height = 340 if len(cases) == 1 else 90 + 46 * len(cases)
    largest = max([rate for _, _, rates in bars for rate in rates] + [limit or 0])
    return figure(data, height, {"title": {"text": "GB/s"}, "range": [0, 1.08 * largest]},
                  {"autorange": "reversed", "type": "category"}, shapes=shapes,
                  annotations=notes, bargap=0.4)


def ratio_bars(candidates, names, colours, base, each, **y):
    """Bars of ratios to the table's row."""
    bars = go.Bar(x=[round(candidate.ratio, 4) for candidate in candidates], y=names,
                  orientation="h", text=[f"{candidate.ratio:.2f}" for candidate in candidates],
                  textposition="outside", cliponaxis=False,
                  hovertext=[hover(candidate, "") for candidate in candidates],
                  hovertemplate="%{hovertext}<extra></extra>", marker={"color": colours})
    largest = max([candidate.ratio for candidate in candidates] + [1])
    return figure([bars], base + each * len(candidates),
                  {"title": {"text": "best ratio to the table's row"},
                   "range": [0, 1.12 * largest]},
                  {"type": "category", **y}, bargap=0.3, shapes=[line("", x0=1, x1=1)])


def schedules(case):
    """The best ratio of each way: hand-written schedules and autoschedulers."""
    best = {}
    for candidate in case.right():
        if candidate.way not in best or candidate.ratio > best[candidate.way].ratio:
            best[candidate.way] = candidate
    order = sorted(best.values(), key=lambda candidate: candidate.ratio)
    colours = [BY_MACHINE if candidate.by_machine else COLOURS[0] for candidate in order]
    return ratio_bars(order, [candidate.way for candidate in order], colours, 110, 28)


def ratios(cases):
    """The best ratio of each case."""
    return ratio_bars([case.best() for case in cases], [case.name for case in cases], BEST, 90, 26,
                      autorange="reversed")
