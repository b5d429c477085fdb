"""The picture of docs/performance.md: the ratio of every case, a panel for each family, type and
layout, the cases of a list side by side."""

import math
import os
import sys
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

from files import save_figure  # noqa: E402

COLOURS = {"dense 1x1": "#2f74b5", "dense, larger": "#17a2b8", "grouped": "#e07b1a",
           "depthwise": "#3a9d4f"}
OTHER, BYTES = "#7d5fb2", "#a9b0ba"
DARK, GREY = "#24292f", "#6a737d"
MEAN = (0, (3, 1.5))  # dashes of the line of a list's mean
TICKS = [0.25, 0.5, 1, 2, 4, 8, 16]
LOW, HIGH = TICKS[0], TICKS[-1]  # what lies beyond ends in an arrow
WIDTH, ROW_HEIGHT = 12.2, 2.0  # inches
CAPACITY = 178  # cases in a row of panels
LIST_GAP, PANEL_GAP = 3, 7  # in cases
CHARACTER = 1.08  # of a title or a list's name, in cases


@dataclass
class Bar:
    case: str
    ratio: float
    kind: str
    fair: bool  # else to a peer that does another task


def bar_of(row):
    """Its ratio, or that to memcpy, which counts in none; None: there is neither."""
    if row["ratio"]:
        return Bar(row["case"], row["ratio"], row["kind"], True)
    if row["ns"] and "memcpy" in row["other_layouts"]:
        return Bar(row["case"], row["other_layouts"]["memcpy"] / row["ns"], row["kind"], False)
    return None


def colour_of(bar):
    return COLOURS.get(bar.kind, OTHER) if bar.fair else BYTES


def mean(bars):
    """Of distinct cases."""
    ratios = {bar.case: bar.ratio for bar in reversed(bars)}.values()
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


@dataclass
class Panel:
    title: str
    lists: dict  # name: bars

    @property
    def width(self):
        cases = sum(map(len, self.lists.values())) + LIST_GAP * (len(self.lists) - 1) + 2
        return max(cases, CHARACTER * (len(self.title) + 2))


def panels_of(rows):
    """In the order of the rows."""
    panels = {}
    for row in rows:
        types = [row["type"]] if row["output_type"] == row["type"] else [
            row["type"], "to", row["output_type"]]
        layout = [] if row["layout"] == "any" else [row["layout"]]
        device = [] if row["device"] == "cpu" else [row["device"]]
        threads = [f"{row['threads']} threads"] if row["threads"] > 1 else []
        title = " ".join([row["family"], *types, *layout, *device, *threads])
        bar = bar_of(row)
        if bar:
            panels.setdefault(title, {}).setdefault(row["list"], []).append(bar)
    result = []
    for title, lists in panels.items():
        bars = [bar for some in lists.values() for bar in some]
        against = "" if any(bar.fair for bar in bars) else " to memcpy"
        result.append(Panel(f"{title}: {mean(bars):.2f}{against}", lists))
    return result


def lines_of(panels, capacity):
    """Panels as words of a text."""
    lines, used = [], capacity
    for panel in panels:
        if used + PANEL_GAP + panel.width > capacity:
            lines.append([])
            used = -PANEL_GAP
        lines[-1].append(panel)
        used += PANEL_GAP + panel.width
    return lines


def draw_bars(axes, places, bars, points):
    """All of one colour as one path, which keeps the file small."""
    for colour in dict.fromkeys(map(colour_of, bars)):
        x, y = [], []
        for place, bar in zip(places, bars):
            if colour_of(bar) == colour:
                x += [place, place, math.nan]
                y += [1, min(max(bar.ratio, LOW), HIGH), math.nan]
        axes.plot(x, y, color=colour, linewidth=0.72 * points, solid_capstyle="butt")
    for limit, marker, beyond in ((LOW, "v", lambda r: r < LOW), (HIGH, "^", lambda r: r > HIGH)):
        some = [(place, bar) for place, bar in zip(places, bars) if beyond(bar.ratio)]
        for place, bar in some:
            axes.plot(place, limit, marker, color=colour_of(bar), markersize=4.5, clip_on=False)


def draw_list(axes, name, bars, first, points, alone):
    """Bars from `first` on, on a ground of their own, with the list's name and mean."""
    last = first + len(bars) - 1
    axes.axvspan(first - 1.5, last + 1.5, color="#f3f5f7", zorder=0, linewidth=0)
    axes.hlines(TICKS, first - 1.5, last + 1.5, color="#d9dee3", linewidth=0.5, zorder=1)
    draw_bars(axes, [first + i for i in range(len(bars))], bars, points)
    axes.hlines(1, first - 1.5, last + 1.5, color=DARK, linewidth=0.9, zorder=3)
    middle = mean(bars)
    text = name if alone else f"{name} {middle:.2f}"
    if alone:
        axes.text(first - 1.5, LOW * 0.8, text, va="top", fontsize=8, color=GREY)
    elif CHARACTER * 0.85 * len(text) < len(bars) + LIST_GAP:
        axes.text((first + last) / 2, LOW * 0.8, text, ha="center", va="top", fontsize=8,
                  color=GREY)
    if len(bars) > 1:
        axes.plot([first - 0.7, last + 0.7], [middle] * 2, color=DARK, linewidth=1.1,
                  linestyle=MEAN)


def draw_panel(axes, panel, points):
    place = 1.0
    for name, bars in panel.lists.items():
        draw_list(axes, name, bars, place, points, len(panel.lists) == 1)
        place += len(bars) + LIST_GAP
    axes.set_xlim(-1, panel.width)
    axes.set_yscale("log")
    axes.set_ylim(LOW, HIGH)
    axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0, labelsize=8, labelcolor=GREY)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(panel.title, loc="left", fontsize=9.5, color=DARK, pad=5)


def legend(figure, panels, top):
    bars = [bar for panel in panels for some in panel.lists.values() for bar in some]
    entries = [(name, colour) for name, colour in COLOURS.items()
               if any(bar.fair and bar.kind == name for bar in bars)]
    if any(colour_of(bar) == OTHER for bar in bars):
        entries.append(("others", OTHER))
    if any(not bar.fair for bar in bars):
        entries.append(("to memcpy of as many bytes, which is not the same task", BYTES))
    handles = [plt.Line2D([], [], color=colour, linewidth=6) for _, colour in entries]
    handles.append(plt.Line2D([], [], color=DARK, linewidth=1.1, linestyle=MEAN))
    figure.legend(handles, [name for name, _ in entries] + ["mean of a list"], loc="upper left",
                  bbox_to_anchor=(0.028, top), ncols=len(handles), frameon=False, fontsize=9,
                  handlelength=1.2, columnspacing=1.6, borderaxespad=0)


def draw(rows, path):
    """SVG, PNG or PDF, by its name; the same bytes for the same rows."""
    plt.rcParams.update({"svg.hashsalt": "performance", "font.family": "DejaVu Sans"})
    panels = panels_of(rows)
    capacity = max([CAPACITY] + [panel.width for panel in panels])
    lines = lines_of(panels, capacity)
    header = 0.95
    height = header + ROW_HEIGHT * len(lines)
    figure = plt.figure(figsize=(WIDTH, height), facecolor="white")
    left, right = 0.032, 0.992
    case = (right - left) / capacity
    for i, line in enumerate(lines):
        place = left
        for panel in line:
            bottom = 1 - (header + ROW_HEIGHT * (i + 1) - 0.32) / height
            axes = figure.add_axes([place, bottom, panel.width * case,
                                    (ROW_HEIGHT - 0.68) / height])
            draw_panel(axes, panel, case * WIDTH * 72)
            if panel is not line[0]:
                axes.tick_params(labelleft=False)
            place += (panel.width + PANEL_GAP) * case
    figure.text(left - 0.004, 1 - 0.12 / height, "Times of the fastest peer over ours, a bar a "
                "case: upwards we are faster", fontsize=12.5, color=DARK, va="top", weight="bold")
    legend(figure, panels, 1 - 0.44 / height)
    save_figure(figure, path, metadata={"Date": None} if path.endswith(".svg") else None, dpi=110)
    plt.close(figure)
