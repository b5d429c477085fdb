"""Comments with a measured figure name the command that prints it.

A comment is a run of comment lines. What counts as measured: a rate, a time, a share of the speed. Usage:
figures_test.py REPOSITORY"""
import pathlib
import re
import sys

MEASURED = re.compile(
    r"\d (?:GFLOP/s|GOP/s|GB/s|TFLOP/s)|[1-9.] (?:ms|us|microseconds|milliseconds)\b"
    r"|\d(?: %)? (?:of the speed|as fast|times as fast|times faster|times slower|faster|slower)\b")
# With a verb or an option: `filter` and `explain` are words of comments too.
COMMAND = re.compile(
    r"\bbench --\w|\bexplorer (?:run|sweep|list|show|diff)\b|\bexplain \w+ --|\bmake (?:bench|soak|explore|test|fuzz)\b"
    r"|\b\w+\.generator -|\b\w+_test\b|\b(?:train|train_soak|replay|pointcloud|fuzz) --")
# Figures of a machine or of somebody else's work, which no command of ours prints, have their source.
SOURCE = re.compile(r"https?://|\b(?:manual|paper|datasheet|data sheet)\b", re.I)
FOLDERS = ("apps", "cmake", "compiler", "generators", "kernels", "runtime", "schedules")
MARKS = {".cpp": "//", ".h": "//", ".def": "//", ".cmake": "#", ".txt": "#", ".py": "#"}


def comments(path):
    """(line, text) of each run of comment lines."""
    mark = MARKS[path.suffix]
    first, lines = 0, []
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        text = line.strip()
        if text.startswith(mark):
            first = first or number
            lines.append(text.lstrip(mark).strip())
        elif lines:
            yield first, " ".join(lines)
            first, lines = 0, []


def main():
    root = pathlib.Path(sys.argv[1])
    found = 0
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")):
        if path.suffix not in MARKS:
            continue
        for line, text in comments(path):
            if MEASURED.search(text) and not COMMAND.search(text) and not SOURCE.search(text):
                found += 1
                print(f"{path.relative_to(root)}:{line}: a figure without the command that prints it: {MEASURED.search(text).group()}")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
