"""The picture of a page of results: a line for each family, type, layout and list, a dot at the
mean ratio of its cases, and a bar from the lowest to the highest. Lists of one case are left out."""

import io
import math
import os
import re
import sys
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

from files import save_figure, write_file  # noqa: E402
from measurements import geometric_mean  # noqa: E402
from summary import lists_of  # noqa: E402

FASTER, SLOWER, BOUND = "#2f74b5", "#d1622b", "#9aa3ad"
DARK, GREY, GROUND = "#24292f", "#6a737d", "#f3f5f7"
TICKS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16]
LOW, HIGH = 1 / 20, 20  # what lies beyond is drawn at the edge
FONT = "DejaVu Sans"
WIDTH, LINE, HEADER, FOOTER = 9.4, 0.185, 0.7, 0.35  # inches


@dataclass
class Line:
    name: str
    ratios: list
    colour: str

    @property
    def mean(self):
        return geometric_mean(self.ratios)


def line_of(kernels, name, rows):
    """None: less than two cases to compare."""
    done = [row for row in rows if row["ns"]]
    ratios = [row["ratio"] for row in done if row["ratio"]]
    if len(ratios) > 1:
        colour = FASTER if geometric_mean(ratios) >= 1 else SLOWER
        return Line(f"{kernels}, {name}", ratios, colour)
    ratios = [row["other_layouts"]["memcpy"] / row["ns"] for row in done
              if "memcpy" in row["other_layouts"]]
    return Line(f"{kernels}, {name}", ratios, BOUND) if len(ratios) > 1 else None


def panels_of(measured):
    """A title and its lines for each CPU that has some."""
    panels = [(str(some.cpu), [line_of(*part) for part in lists_of(some.rows)])
              for some in measured]
    panels = [(title, [line for line in lines if line]) for title, lines in panels]
    return [(title, lines) for title, lines in panels if lines]


def within(ratio):
    return min(max(ratio, LOW), HIGH)


def draw_bars(axes, lines, colour):
    """All of one colour as one path, which keeps the file small."""
    bars, means = ([], []), ([], [])
    for place, line in enumerate(lines):
        if line.colour == colour:
            bars[0].extend([within(min(line.ratios)), within(max(line.ratios)), math.nan])
            bars[1].extend([place, place, math.nan])
            means[0].append(within(line.mean))
            means[1].append(place)
    axes.plot(*bars, color=colour, linewidth=3, alpha=0.35, solid_capstyle="round")
    axes.plot(*means, "o", color=colour, markersize=4.5, clip_on=False)


def draw_panel(axes, title, lines):
    stripes = [place for i in range(0, len(lines), 2) for place in (i, i, math.nan)]
    axes.plot([LOW, HIGH, math.nan] * (len(stripes) // 3), stripes, color=GROUND, zorder=0,
              linewidth=72 * LINE, solid_capstyle="butt")
    for colour in dict.fromkeys(line.colour for line in lines):
        draw_bars(axes, lines, colour)
    for place, line in enumerate(lines):
        axes.text(HIGH * 1.08, place, f"{line.mean:.2f}", va="center", fontsize=7.5,
                  color=line.colour)
    axes.axvline(1, color=DARK, linewidth=0.9, zorder=1)
    axes.set_xscale("log")
    axes.set_xlim(LOW, HIGH)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_yticks(range(len(lines)), [line.name for line in lines], fontsize=7.5, color=DARK)
    names = [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in TICKS]
    axes.set_xticks(TICKS, names, fontsize=8, color=GREY)
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.grid(axis="x", color="#d9dee3", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(left=False, bottom=False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(title, loc="left", fontsize=8.5, color=GREY, pad=4)


def legend(figure, height):
    entries = [(FASTER, "faster than the fastest baseline, on the mean"), (SLOWER, "slower"),
               (BOUND, "to memcpy of as many bytes, a bound")]
    handles = [plt.Line2D([], [], color=colour, marker="o", linewidth=3, markersize=4.5)
               for colour, _ in entries]
    figure.legend(handles, [name for _, name in entries], loc="upper left", ncols=3, frameon=False,
                  bbox_to_anchor=(0.01, 1 - 0.3 / height), fontsize=8, borderaxespad=0)


def save_svg(figure, path):
    """What matplotlib writes, without turns by nothing and names of what nobody asks for, with the
    font named once and in tenths of a pixel."""
    image = io.StringIO()
    figure.savefig(image, format="svg",
                   metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", image.getvalue())
    family = f"font-family: '{FONT}'"
    text = text.replace(f"{family}; ", "").replace("*{", f"*{{{family}; ", 1)
    text = re.sub(r'<g id="(text|line2d|patch|[xy]tick)_\d+">', "<g>", text)
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d)\d+", r"\1", tag[0]), text)
    write_file(path, re.sub(r"\n *", "\n", text).encode())


def draw(measured, path):
    """SVG, PNG or PDF, by its name; the same bytes for the same results. Needs a panel."""
    plt.rcParams.update({"svg.hashsalt": "performance", "svg.fonttype": "none",
                         "font.family": FONT})
    panels = panels_of(measured)
    height = 0.2 + sum(HEADER + FOOTER + LINE * len(lines) for _, lines in panels)
    figure = plt.figure(figsize=(WIDTH, height), facecolor="white")
    top = height - 0.2
    for title, lines in panels:
        tall = LINE * len(lines)
        top -= HEADER + tall
        draw_panel(figure.add_axes([0.4, top / height, 0.53, tall / height]), title, lines)
        top -= FOOTER
    figure.text(0.012, 1 - 0.08 / height, "Time of the fastest baseline over ours: dot the mean of "
                "a list, bar the range of its cases", fontsize=9.5, va="top", color=DARK)
    legend(figure, height)
    if path.endswith(".svg"):
        save_svg(figure, path)
    else:
        save_figure(figure, path, dpi=110)
    plt.close(figure)
