"""apps/bench/report.py and picture.py: the page and its picture from results of bench, and from
former ones.

    bench_report_test.py REPOSITORY FOLDER BENCH
"""

import json
import os
import re
import subprocess
import sys
import unittest

REPOSITORY, FOLDER, BENCH = sys.argv[1:4]
REPORT = os.path.join(REPOSITORY, "apps", "bench", "report.py")
sys.path[:0] = [os.path.dirname(REPORT), os.path.join(REPOSITORY, "tests", "support")]

import picture  # noqa: E402
import report  # noqa: E402
from own_folder import own_folder  # noqa: E402


def result(case="1x1", ns=1000.0, **fields):
    peers = fields.pop("peers", {"oneDNN": 800.0, "ONNX Runtime": 900.0})
    return {"family": "conv2d", "list": "resnet50", "case": case, "kind": "dense 1x1", "count": 1,
            "shapes": {}, "type": "f32", "output_type": "f32", "layout": "nhwc", "device": "cpu",
            "threads": 1, "kernel": "k", "row": "any", "ns": ns, "unit": "GFLOP/s", "rate": 50.0,
            "peers": peers, "other_layouts": {}, "peer_variants": {},
            "ratio": min(peers.values()) / ns if peers and ns else None, "peak": 100.0,
            "peak_fraction": 0.5, "max_error": 1e-7, "failure": None, "peer_versions": ["oneDNN 3"],
            "cpu": "a CPU", "date": "2026-01-02", "command": "bench", **fields}


def moved(**fields):
    return result(family="activate", layout="any", kind="relu", peers={}, unit="GB/s", peak=None,
                  peak_fraction=None, other_layouts={"memcpy": 600.0}, **fields)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(FOLDER, self)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, rows):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(rows, file)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_report(self, *arguments):
        return subprocess.run([sys.executable, REPORT, *arguments], capture_output=True, text=True)

    def test_page_begins_with_its_picture(self):
        outcome = self.run_report("--output", self.path("performance.md"),
                                  self.write("now.json", [result()]))
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        lines = self.read("performance.md").splitlines()
        self.assertEqual(lines[0], "# Performance")
        self.assertRegex(lines[2], r"^!\[.+\]\(performance\.svg\)$")
        self.assertTrue(self.read("performance.svg").rstrip().endswith("</svg>"))

    def test_picture_has_a_place_and_a_name(self):
        rows = self.write("now.json", [result()])
        os.mkdir(self.path("docs"))
        outcome = self.run_report("--output", self.path("docs/page.md"), "--picture",
                                  self.path("p.png"), rows)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("](../p.png)", self.read("docs/page.md"))
        with open(self.path("p.png"), "rb") as file:
            self.assertEqual(file.read(4), b"\x89PNG")

    def test_terminal_gets_no_picture(self):
        outcome = self.run_report(self.write("now.json", [result()]))
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertNotIn("![", outcome.stdout)
        self.assertEqual(os.listdir(self.folder), ["now.json"])

    def test_without_peers_there_is_no_picture(self):
        outcome = self.run_report("--output", self.path("p.md"),
                                  self.write("now.json", [result(peers={})]))
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertNotIn("![", self.read("p.md"))
        self.assertFalse(os.path.exists(self.path("p.svg")))

    def test_ratios_before_and_after(self):
        former = [result("a", 1000.0), result("b", 1000.0), result("gone", 10.0), moved(ns=1000.0)]
        now = [result("a", 500.0), result("b", 1250.0), result("new", 1.0), moved(ns=800.0)]
        kept = self.path("tuning.json")
        outcome = self.run_report("--keep", kept, self.write("former.json", former))
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        pages = [self.run_report("--before", before, "--", self.write("now.json", now))
                 for before in (self.path("former.json"), kept)]
        self.assertEqual(pages[0].stdout, pages[1].stdout)
        # 0.8 and 0.8; 1.6 and 0.64; 2 and 0.8 of their former times.
        self.assertIn("| conv2d, f32, nhwc | resnet50 | 2 | 0.80 | **1.01** | 1.26 | 2.00 | 0.80 |",
                      pages[0].stdout)
        self.assertIn("| activate, f32 | resnet50 | 1 |  |  | 1.25 | 1.25 | 1.25 |", pages[0].stdout)

    def test_other_settings_are_not_compared(self):
        outcome = self.run_report("--before", self.write("old.json", [result(layout="nchw")]), "--",
                                  self.write("now.json", [result()]))
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertNotIn("Before and after", outcome.stdout)

    def test_failed_cases_are_in_the_page(self):
        failed = result("bad", None, failure="output(0) is 1 | not 2", ratio=None, peak_fraction=None)
        outcome = self.run_report("--output", self.path("p.md"),
                                  self.write("now.json", [result(), failed]))
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn(r"failed: output(0) is 1 \| not 2", self.read("p.md"))

    def test_refuses_other_files(self):
        with open(self.path("text"), "w", encoding="utf-8") as file:
            file.write("{")
        rows = self.write("now.json", [result()])
        for name in (self.path("text"), self.write("other.json", [{"family": "conv2d"}]),
                     self.path("nowhere")):
            for arguments in ([name], ["--before", name, "--", rows]):
                outcome = self.run_report(*arguments)
                self.assertEqual(outcome.returncode, 2)
                self.assertRegex(outcome.stderr, rf"^report\.py: {re.escape(name)}: .+\n$")


class Runs(unittest.TestCase):
    def test_every_family_of_bench_is_run(self):
        told = subprocess.run([BENCH, "--family", "none"], capture_output=True, text=True).stderr
        families = set(told.split("there are:")[1].split())
        named = [dict(zip(run[::2], run[1::2])) for run in report.RUNS]
        self.assertEqual({run.get("--family", "conv2d") for run in named}, families)


class Picture(unittest.TestCase):
    def test_means_are_those_of_the_page(self):
        rows = [result("a", 400.0), result("b", 1600.0), result("a", 400.0, list="mobilenetv2"),
                moved(ns=1200.0)]
        titles = [panel.title for panel in picture.panels_of(rows)]
        self.assertEqual(titles, ["conv2d f32 nhwc: 1.00", "activate f32: 0.50 to memcpy"])
        self.assertEqual(list(picture.panels_of(rows)[0].lists), ["resnet50", "mobilenetv2"])

    def test_types_and_threads_have_panels_of_their_own(self):
        rows = [result(), result(type="u8", output_type="u8"), result(type="u8"), result(threads=2)]
        titles = [panel.title.split(":")[0] for panel in picture.panels_of(rows)]
        self.assertEqual(titles, ["conv2d f32 nhwc", "conv2d u8 nhwc", "conv2d u8 to f32 nhwc",
                                  "conv2d f32 nhwc 2 threads"])

    def test_panels_fit_in_their_lines(self):
        rows = [result(str(case), family=f"family_{size}") for size in (3, 170, 60, 90, 20, 2, 5)
                for case in range(size)]
        panels = picture.panels_of(rows)
        lines = picture.lines_of(panels, picture.CAPACITY)
        self.assertEqual([panel for line in lines for panel in line], panels)
        for line in lines:
            used = sum(panel.width for panel in line) + picture.PANEL_GAP * (len(line) - 1)
            self.assertLessEqual(used, picture.CAPACITY)
        self.assertLess(len(lines), len(panels))

    def test_svg_repeats_and_has_a_bar_of_each_kind(self):
        rows = [result(str(case), 100.0 * 2**case, kind=kind) for case in range(8)
                for kind in picture.COLOURS] + [moved()]
        folder = own_folder(FOLDER, self)
        texts = []
        for name in ("1.svg", "2.svg"):
            picture.draw(rows, os.path.join(folder, name))
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1])
        for colour in (*picture.COLOURS.values(), picture.BYTES):
            # In the legend, and of bars.
            self.assertGreaterEqual(texts[0].count(f"stroke: {colour}"), 2, colour)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
