#!/usr/bin/env python3
"""What the documents say of speed, from the JSON files that bench writes:

    report.py FILE.json ...                       a page of these results, on the terminal
    report.py --output page.md --picture page.svg FILE.json ...
    report.py --repository . FILE.json ...        the repository's documents, with these results
    report.py --repository . --bench build/bin/bench     and with those of a whole run of bench
    report.py --repository . --check              fails where they don't follow from the CSV files

In a repository docs/performance/CPU.csv has the cases of each CPU; the page and the picture beside
it, docs/performance.md and the README's table of ratios are made from these files.
"""

import argparse
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "program"))

from files import write_file  # noqa: E402
from headline import NETWORKS, OTHERS, with_headline  # noqa: E402
from measurements import combined, read_csv, read_json  # noqa: E402
from summary import page, summary  # noqa: E402

QUANTIZED = ["--family", "quantized_conv2d"]
WEIGHT = ["--family", "conv2d_backward_weight"]
DATA = ["--family", "conv2d_backward_data"]
SPARSE = ["--family", "tensor_product"]
# Families that are not named run once, as bench runs them where nothing is asked for.
RUNS = [
    ["--type", "f32", "--layout", "nhwc"],
    ["--type", "f32", "--layout", "nhwc", "--list", ",".join(OTHERS)],
    ["--type", "f32", "--layout", "nchw", "--list", ",".join(NETWORKS + OTHERS)],
    ["--type", "bf16", "--layout", "nhwc", "--list", ",".join(NETWORKS)],
    ["--type", "f16", "--layout", "nhwc", "--list", ",".join(NETWORKS)],
    [*QUANTIZED, "--type", "u8", "--layout", "nhwc", "--list", ",".join(NETWORKS)],
    [*QUANTIZED, "--type", "f32", "--layout", "nhwc", "--list", ",".join(NETWORKS)],
    [*QUANTIZED, "--type", "f32", "--layout", "nchw", "--list", "shape_case"],
    [*WEIGHT, "--type", "f32", "--layout", "nhwc"],
    [*WEIGHT, "--type", "f32", "--layout", "nchw", "--list", ",".join([*NETWORKS, "depthwise"])],
    [*DATA, "--type", "f32", "--layout", "nhwc"],
    [*DATA, "--type", "f32", "--layout", "nchw", "--list", ",".join([*NETWORKS, "depthwise"])],
    [*SPARSE, "--type", "f32"],
    [*SPARSE, "--type", "f16"],
]


def runs_of(families):
    named = {dict(zip(run[::2], run[1::2])).get("--family", "conv2d") for run in RUNS}
    return RUNS + [["--family", family] for family in families if family not in named]


def run_bench(program):
    """All runs one after the other; their JSON files, in the build tree, and whether one failed."""
    families = subprocess.run([program, "--families"], check=True, capture_output=True, text=True)
    tree = os.path.dirname(os.path.dirname(os.path.abspath(program)))
    files = []
    failed = False
    for place, flags in enumerate(runs_of(families.stdout.split())):
        file = os.path.join(tree, f"bench-{place}.json")
        failed |= subprocess.run([program, *flags, "--json", file], check=False).returncode != 0
        files.append(file)
    return files, failed


def read(names, reader):
    results = []
    for name in names:
        try:
            results += reader(name)
        except (OSError, ValueError, TypeError) as error:
            print(f"report.py: {name}: {error}", file=sys.stderr)
            sys.exit(2)
    return results


def draw(measured, path):
    """Whether there is anything to show."""
    import picture  # matplotlib takes a second

    if not picture.panels_of(measured):
        return False
    picture.draw(measured, path)
    return True


class Repository:
    def __init__(self, folder):
        self.readme = os.path.join(folder, "README.md")
        self.summary = os.path.join(folder, "docs", "performance.md")
        self.data = os.path.join(folder, "docs", "performance")

    def file(self, some, ending):
        return os.path.join(self.data, some.cpu.page + ending)

    def former(self):
        return read(sorted(glob.glob(os.path.join(self.data, "*.csv"))), lambda f: [read_csv(f)])

    def documents(self, measured):
        with open(self.readme, encoding="utf-8") as file:
            readme = file.read()
        documents = {self.summary: summary(measured, "performance/"),
                     self.readme: with_headline(readme, measured)}
        for some in measured:
            picture = f"{some.cpu.page}.svg"
            shown = picture if os.path.exists(os.path.join(self.data, picture)) else ""
            documents[self.file(some, ".md")] = page([some], shown, some.cpu.file, "../")
        return documents

    def write(self, measured):
        os.makedirs(self.data, exist_ok=True)
        for some in measured:
            write_file(self.file(some, ".csv"), str(some))
        measured = self.former()  # which has fewer digits
        for some in measured:
            draw([some], self.file(some, ".svg"))
        for path, text in self.documents(measured).items():
            write_file(path, text)

    def stale(self, measured):
        def differs(path, text):
            if not os.path.exists(path):
                return True
            with open(path, encoding="utf-8") as file:
                return file.read() != text

        return [path for path, text in self.documents(measured).items() if differs(path, text)]


def write_page(measured, output, picture):
    shown = ""
    if picture and draw(measured, picture):
        shown = os.path.relpath(picture, os.path.dirname(output) if output != "-" else ".")
    text = page(measured, shown)
    if output == "-":
        sys.stdout.write(text)
    else:
        write_file(output, text)


def arguments_of_command():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="-", help="page to write; - for the terminal")
    parser.add_argument("--picture", help="file of the picture: SVG, PNG or PDF by its name")
    parser.add_argument("--repository", metavar="FOLDER", help="write its documents instead")
    parser.add_argument("--check", action="store_true", help="write nothing, fail where they differ")
    parser.add_argument("--bench", help="the program, to run it first")
    parser.add_argument("files", nargs="*", help="written by bench --json")
    return parser.parse_args()


def main():
    arguments = arguments_of_command()
    repository = Repository(arguments.repository) if arguments.repository else None
    files, failed = run_bench(arguments.bench) if arguments.bench else ([], False)
    newer = combined(read(files + arguments.files, read_json))
    former = combined(repository.former() if repository else [])
    if arguments.bench:  # all of it is new
        former = {file: some for file, some in former.items() if file not in newer}
    measured = [some for _, some in sorted(combined([*former.values(), *newer.values()]).items())]
    if not measured:
        sys.exit("report.py: no results; it needs --bench, files, or a repository that has some")
    if arguments.check:
        stale = repository.stale(measured)
        for path in stale:
            print(f"{path} is out of date: apps/bench/report.py --repository .", file=sys.stderr)
        return 1 if stale else 0
    if repository:
        repository.write(measured)
    else:
        write_page(measured, arguments.output, arguments.picture)
    if failed:
        sys.exit("report.py: a run of bench failed")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f"report.py: {error}")
