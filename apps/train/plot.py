"""Draws loss, accuracy and memory of a run of build/bin/train from its history."""

import argparse
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

from files import save_figure  # noqa: E402

BLUE, ORANGE, GREEN, GREY = "#1f6fb4", "#d9730d", "#2b8a3e", "#8a8f98"
KILOBYTE = 1024


def smoothed(values, window):
    """A mean over a window that ends at each value, so that a curve looks at no later step."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - window)
    return (sums[ends] - sums[starts]) / (ends - starts)


def draw_loss(axes, history, steps_an_epoch):
    losses = np.array([step["loss"] for step in history["steps"]])
    place = (np.arange(len(losses)) + 1) / steps_an_epoch
    axes.plot(place, losses, color=BLUE, alpha=0.2, linewidth=0.6)
    axes.plot(place, smoothed(losses, steps_an_epoch), color=BLUE,
              label="training, distorted digits (mean of an epoch)")
    tests = [epoch["test"]["loss"] for epoch in history["epochs"]]
    axes.plot(np.arange(1, len(tests) + 1), tests, color=ORANGE, label="test")
    axes.set_yscale("log")
    axes.set_ylim(min(tests + list(smoothed(losses, steps_an_epoch))) / 5, 2 * max(losses))
    axes.set_ylabel("loss")
    axes.legend()


def draw_accuracy(axes, history):
    epochs = np.arange(1, len(history["epochs"]) + 1)
    curves = (("test", "top3", GREEN, "test, top 3"), ("test", "top1", ORANGE, "test, top 1"),
              ("train", "top1", BLUE, "training, top 1"))
    for part, key, colour, label in curves:
        errors = [100 * (1 - epoch[part][key]) for epoch in history["epochs"]]
        axes.plot(epochs, np.maximum(errors, 0.05), color=colour, label=label)
    axes.set_yscale("log")
    ticks = np.array([50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05])
    axes.set_yticks(ticks, [f"{100 - tick:g}" for tick in ticks[:-1]] + ["100"])
    axes.minorticks_off()
    axes.invert_yaxis()
    axes.set_ylabel("right answers, %")
    axes.legend(loc="lower right")


def draw_memory(axes, history, steps_an_epoch):
    memory = [step["memory"] for step in history["steps"]]
    place = (np.arange(len(memory)) + 1) / steps_an_epoch
    # An epoch's last batch may be small, so that of peaks the largest in an epoch tells.
    most = [max(step["peak"] for step in memory[max(0, i + 1 - steps_an_epoch):i + 1])
            for i in range(len(memory))]
    curves = ((GREY, "reserved by the pool", [step["reserved"] for step in memory]),
              (ORANGE, "most in use during a step", most),
              (BLUE, "in use between steps: parameters, gradients, velocity",
               [step["live"] for step in memory]))
    for colour, label, values in curves:
        axes.plot(place, np.array(values) / KILOBYTE, color=colour, label=label)
    resident = [step["resident"] for step in memory]
    after_first = resident[min(steps_an_epoch, len(resident)) - 1]
    axes.set_title(
        f"The process: {resident[-1] / KILOBYTE ** 2:.1f} MB resident, "
        f"{(resident[-1] - after_first) / KILOBYTE:+.0f} KB since the first epoch", fontsize=10)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("memory, KB")
    axes.legend(loc="center right")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("history", help="the JSON of train --history")
    parser.add_argument("--output", default="training.png")
    arguments = parser.parse_args()
    with open(arguments.history, encoding="utf-8") as file:
        history = json.load(file)
    options, epochs = history["options"], history["epochs"]
    steps_an_epoch = -(-history["digits"]["train"] // options["batch"])

    plt.rcParams.update({"font.size": 10, "axes.grid": True, "grid.alpha": 0.25,
                         "axes.spines.top": False, "axes.spines.right": False,
                         "legend.frameon": False, "lines.linewidth": 1.6})
    figure, panels = plt.subplots(3, 1, figsize=(9, 10), sharex=True, layout="constrained")
    last, seconds = epochs[-1]["test"], sum(epoch["seconds"] for epoch in epochs)
    figure.suptitle(
        f"Handwritten digits: {100 * last['top1']:.2f} % of {history['digits']['test']} test digits "
        f"right, {100 * last['top3']:.2f} % among the best three\n"
        f"{history['parameters']} parameters, {options['type']}, {options['device']}, "
        f"{len(history['steps'])} steps of {options['batch']} in {seconds:.1f} s")
    draw_loss(panels[0], history, steps_an_epoch)
    draw_accuracy(panels[1], history)
    draw_memory(panels[2], history, steps_an_epoch)
    panels[2].set_xlabel("epoch")
    panels[2].set_xlim(0, len(history["steps"]) / steps_an_epoch)
    try:
        save_figure(figure, arguments.output, dpi=120)
    except (OSError, ValueError) as error:
        sys.exit(f"plot.py: {error}")


if __name__ == "__main__":
    main()
