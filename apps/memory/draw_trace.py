"""Draws a trace of the library's memory (hk::MemoryTrace, HK_MEMORY_TRACE) as a picture: what is in
use by label, what is reserved, and the peak. For each pool the whole trace, and where it has marks
the part between marks around the peak. Prints the peak of each pool."""

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

from files import save_figure  # noqa: E402

ALLOCATE, FREE, RESERVE, RELEASE, RETRY, FAILURE, MARK = range(7)
COLOURS = ["#1f6fb4", "#d9730d", "#2b8a3e", "#8e5bb5", "#c2334d", "#138f9c", "#a8741a", "#5c6bc0"]
GREY, DARK = "#b3b8c0", "#333840"
MOST_LABELS = len(COLOURS)
COLUMNS = 1600  # of a curve


@dataclass
class Pool:
    """The state after each event, and the marks between them."""
    name: str
    labels: list  # in the order of the rows of `live`
    us: np.ndarray
    live: np.ndarray  # [label, event], bytes asked for
    reserved: np.ndarray
    troubles: list  # (us, text)

    @property
    def total(self):
        return self.live.sum(axis=0)


def read(path):
    """The trace; raises ValueError where it is none."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    trace = json.loads(data)
    if not isinstance(trace, dict) or trace.get("format") != "hk memory trace 1":
        raise ValueError("it is no memory trace")
    return trace


def marks_of(trace):
    """[(us, text)]"""
    return [(event[0], trace["marks"][event[2]]) for event in trace["events"] if event[1] == MARK]


def pool_of(trace, place):
    """A pool's curves; None where nothing of it was handed out."""
    events = [event for event in trace["events"] if event[1] != MARK and event[2] == place]
    if not any(event[1] == ALLOCATE for event in events):
        return None
    change = np.zeros((len(trace["labels"]), len(events) + 1), dtype=np.int64)
    reserved = np.full(len(events) + 1, trace["reserved"][place], dtype=np.int64)
    us = np.zeros(len(events) + 1)
    blocks, troubles = {}, []
    for i, event in enumerate(events, start=1):
        us[i] = event[0]
        kind = event[1]
        reserved[i] = event[4] if kind in (RESERVE, RELEASE) else reserved[i - 1]
        if kind == ALLOCATE:
            blocks[event[3]] = (event[6], event[4])
            change[event[6], i] = event[4]
        elif kind == FREE:
            label, asked = blocks.pop(event[3])
            change[label, i] = -asked
        elif kind == FAILURE:
            troubles.append((event[0], f"no memory for {in_bytes(event[3])}"))
    live = change.cumsum(axis=1)
    labels, rows = ordered(trace["labels"], live)
    return Pool(trace["pools"][place], labels, us, rows, reserved, troubles)


def ordered(names, live):
    """Labels in the order of their first blocks, the smallest of too many as one."""
    peaks = live.max(axis=1)
    used = [row for row in np.argsort((live > 0).argmax(axis=1), kind="stable") if peaks[row] > 0]
    largest = sorted(used, key=lambda row: -peaks[row])
    kept = set(largest if len(largest) <= MOST_LABELS + 1 else largest[:MOST_LABELS])
    labels = [names[row] or "no label" for row in used if row in kept]
    rows = [live[row] for row in used if row in kept]
    others = [live[row] for row in used if row not in kept]
    if others:
        labels.append(f"{len(others)} others")
        rows.append(sum(others))
    return labels, np.array(rows)


def in_bytes(count):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            number = count / size
            return f"{number:.3g} {unit}" if number < 999.5 else f"{number:.0f} {unit}"
    return f"{count:.0f} B"


def columns(pool, marks, first_us, last_us):
    """What to draw of the events in the range: all, or the highest and the lowest of each column;
    columns are what lies between two marks where there are enough of them. Returns where columns
    begin, the places of those events, and which they are: nothing where all are drawn."""
    begin = max(np.searchsorted(pool.us, first_us, side="right") - 1, 0)
    end = np.searchsorted(pool.us, last_us, side="right")
    places = np.arange(begin, end)
    times = np.maximum(pool.us[places], first_us)
    if len(places) <= 2 * COLUMNS:
        return times, places, places, ""
    edges = np.unique([us for us, _ in marks if first_us <= us < last_us])
    edges = edges[::len(edges) // COLUMNS + 1]
    kind = "between marks"
    if len(edges) < 50:
        kind = "of each column"
        edges = np.linspace(first_us, last_us, COLUMNS, endpoint=False)
    column = np.maximum(np.searchsorted(edges, times, side="right") - 1, 0)
    order = np.lexsort((pool.total[places], column))
    ends = np.flatnonzero(np.append(np.diff(column[order]) > 0, True))
    begins = np.append(0, ends[:-1] + 1)
    return (np.maximum(edges[column[order[ends]]], first_us), places[order[ends]],
            places[order[begins]], kind)


def colours_of(labels):
    colours = iter(COLOURS)
    return [GREY if label == "no label" or label.endswith(" others") else next(colours)
            for label in labels]


def shown_marks(marks, first_us, last_us, most=14):
    """Marks in the range; where there are many those of the rarest kind (epochs among steps), every
    second, fifth, tenth, … of them."""
    inside = [(us, text) for us, text in marks if first_us <= us <= last_us]
    if len(inside) <= most:
        return inside
    kind = lambda text: text.rstrip("0123456789")
    kinds = Counter(kind(text) for _, text in inside)
    rarest = min((name for name in kinds if kinds[name] > 1), key=kinds.get, default=None)
    if rarest is not None:
        inside = [(us, text) for us, text in inside if kind(text) == rarest]
    step = next(step for step in (factor * 10**power for power in range(9) for factor in (1, 2, 5))
                if len(inside) <= most * step)
    return inside[::step]


def draw(axes, pool, marks, first_us, last_us, title):
    unit, scale = next((u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3))
                       if pool.reserved.max() >= 2 * s or s == 1e3)
    seconds = last_us - first_us >= 2e6
    time = lambda us: us / (1e6 if seconds else 1e3)
    begins, places, lowest, kind = columns(pool, marks, first_us, last_us)
    x = time(np.append(begins, last_us))
    extended = np.append(places, places[-1])
    axes.stackplot(x, pool.live[:, extended] / scale, step="post", labels=pool.labels,
                   colors=colours_of(pool.labels), linewidth=0)
    axes.step(x, pool.reserved[extended] / scale, where="post", color=DARK, linewidth=1.4,
              label="reserved")
    if kind:
        title += f", by the highest {kind}"
    if kind == "between marks":
        axes.step(x, pool.total[np.append(lowest, lowest[-1])] / scale, where="post", color=DARK,
                  linewidth=0.8, linestyle=(0, (4, 2)), label="least in use")

    top = max(pool.reserved[places].max(), pool.total[places].max()) / scale
    peak = places[pool.total[places].argmax()]
    peak_x, peak_y = time(max(pool.us[peak], first_us)), pool.total[peak] / scale
    on_left = peak_x < (x[0] + x[-1]) / 2
    axes.annotate(f"peak {in_bytes(pool.total[peak])} in use{mark_at(marks, pool.us[peak])}",
                  (peak_x, peak_y), textcoords="offset points",
                  xytext=(30 if on_left else -30, 34), ha="left" if on_left else "right",
                  va="center", color=DARK,
                  arrowprops={"arrowstyle": "-|>", "color": DARK, "shrinkA": 0, "shrinkB": 1},
                  bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": GREY})
    for us, text in pool.troubles:
        if first_us <= us <= last_us:
            axes.axvline(time(us), color="#c2334d", linewidth=1)
            axes.text(time(us), top * 1.05, text, color="#c2334d", ha="center")

    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(0, top * 1.3)
    axes.set_title(title, loc="left")
    axes.set_xlabel("seconds" if seconds else "milliseconds")
    axes.set_ylabel(unit)
    axes.grid(axis="y", color="#e6e8eb", linewidth=0.6)
    axes.set_axisbelow(True)
    draw_marks(axes, [(time(us), text) for us, text in shown_marks(marks, first_us, last_us)])


def draw_marks(axes, marks):
    """On an axis at the top; those that would lie on each other as one."""
    apart = []
    for x, text in marks:
        if apart and x - apart[-1][0] < 0.01 * np.ptp(axes.get_xlim()):
            apart[-1] = (apart[-1][0], f"{apart[-1][1]}, {text}")
        else:
            apart.append((x, text))
    marks = apart
    above = axes.secondary_xaxis("top")
    above.set_xticks([x for x, _ in marks], [text for _, text in marks], fontsize=8, rotation=30,
                     ha="left", rotation_mode="anchor")
    for x, _ in marks:
        axes.axvline(x, color=DARK, linewidth=0.5, alpha=0.35, linestyle=(0, (2, 3)))


def mark_at(marks, us):
    before = [text for at, text in marks if at <= us]
    return f", {before[-1]}" if before else ""


def around_peak(pool, marks):
    """From the mark before the peak to the second one after it; None where there are no two."""
    times = np.array([us for us, _ in marks] + [pool.us[-1]])
    if len(times) < 5:
        return None
    peak = pool.us[pool.total.argmax()]
    before = max(int(np.searchsorted(times, peak, side="right")) - 1, 0)
    begin = min(before, len(times) - 3)
    return times[begin], times[begin + 2]


def describe(pool, marks):
    peak = int(pool.total.argmax())
    parts = ", ".join(f"{label} {in_bytes(count)}"
                      for label, count in zip(pool.labels, pool.live[:, peak]) if count)
    reserved = pool.reserved.max()
    return (f"{pool.name}: peak {in_bytes(pool.total[peak])} in use"
            f"{mark_at(marks, pool.us[peak])} ({parts}); {in_bytes(reserved)} reserved, "
            f"{reserved / pool.total[peak]:.3f} of it")


def picture(pools, marks, title):
    panels = []
    for pool in pools:
        end = max(pool.us[-1], marks[-1][0] if marks else 0, 1)
        panels.append((pool, 0, end, f"{pool.name}: the whole trace"))
        part = around_peak(pool, marks)
        if part:
            panels.append((pool, *part, f"{pool.name}: around the peak"))
    figure, axes = plt.subplots(len(panels), 1, figsize=(11, 1 + 4.2 * len(panels)), squeeze=False,
                                layout="constrained")
    figure.suptitle(title, fontsize=13, x=0.01, ha="left")
    for place, (pool, first, last, name) in zip(axes[:, 0], panels):
        draw(place, pool, marks, first, last, name)
        handles, labels = place.get_legend_handles_labels()
        place.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.01, 1),
                     frameon=False, borderaxespad=0)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", help="JSON, or that through gzip")
    parser.add_argument("picture", help="PNG, SVG or PDF, by its name")
    parser.add_argument("--title", default="Memory")
    parser.add_argument("--pool", help="this one alone (cpu, opencl:0)")
    arguments = parser.parse_args()
    try:
        trace = read(arguments.trace)
        pools = [pool_of(trace, place) for place, name in enumerate(trace["pools"])
                 if arguments.pool in (None, name)]
        pools = [pool for pool in pools if pool]
        if not pools:
            of = f" of {arguments.pool}" if arguments.pool else ""
            raise ValueError(f"it has no blocks{of}")
        marks = marks_of(trace)
        title = arguments.title + ("" if trace["complete"] else " (the trace is cut off)")
        figure = picture(pools, marks, title)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        sys.exit(f"draw_trace: {arguments.trace}: {error}")
    try:
        save_figure(figure, arguments.picture, dpi=140)
    except (OSError, ValueError) as error:
        sys.exit(f"draw_trace: {error}")
    for pool in pools:
        print(describe(pool, marks))


if __name__ == "__main__":
    main()
