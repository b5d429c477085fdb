"""apps/explorer/report.py: what the page of a sweep says, and that it works in a browser without a
network.

    report_test.py REPOSITORY FOLDER
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

REPOSITORY, FOLDER = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = os.path.join(REPOSITORY, "apps", "explorer", "report.py")
sys.path[:0] = [os.path.dirname(REPORT), HERE, os.path.join(REPOSITORY, "tests", "support")]

import browser  # noqa: E402
import report  # noqa: E402
import sample_sweep  # noqa: E402
import sweep_results  # noqa: E402
from own_folder import own_folder  # noqa: E402

BASE = {"name": "packed/broadcast kernel_w=3", "family": "conv2d", "algorithm": "packed",
        "schedule": "broadcast", "rows": "3x3, staged", "where": "kernel_w=3 groups>=4",
        "chooser": "broadcast.cpp:25",
        "knobs": [{"name": "tile_x", "value": 7, "legal": [4, 7, 14]},
                  {"name": "stage", "value": 1, "legal": [1]}]}
ROW = {"name": "any", "base": "packed/broadcast", "candidate": "packed/broadcast tile_x:4"}


def about(**fields):
    case = {"name": "56x56", "work": 4000.0, "bytes": 1000.0, "row": ROW, "bases": [BASE]}
    return {"family": "conv2d", "unit": "GFLOP/s", "strategy": "grid", "seed": 1, "machine": "a CPU",
            "settings": {"type": "f32", "layout": "nhwc", "device": "cpu", "threads": 1},
            "date": "2026-01-02", "ceilings": {"peak": 100.0, "memory": 10.0}, "cases": [case],
            **fields}


def line(ns=None, **fields):
    """Of a candidate, right where it has a time; the row took 100 ns."""
    right = {"status": "ok", "ns": ns, "table_ns": 100, "ratio": 100 / ns, "rate": 4000 / ns,
             "max_error": 1e-7} if ns else {"ns": 0, "table_ns": 0, "ratio": 0}
    return {"case": "56x56", "candidate": "c", "algorithm": "packed", "schedule": "broadcast",
            "fixed": "kernel_w=3", "knobs": "", "reason": "", "compile_s": 1, "seconds_total": 3,
            "at_s": 5, "part": "1/1", **right, **fields}


class Sweeps(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(FOLDER, self)

    def write(self, lines, tail="", **fields):
        with open(os.path.join(self.folder, "sweep.json"), "w", encoding="utf-8") as file:
            json.dump(about(**fields), file)
        results = os.path.join(self.folder, "results.csv")
        with open(results, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, sample_sweep.COLUMNS)
            writer.writeheader()
            writer.writerows(lines)
            file.write(tail)

    def read(self, lines, **fields):
        self.write(lines, **fields)
        return sweep_results.read(self.folder)

    def page(self, lines, **fields):
        return report.page(self.read(lines, **fields)).split("</head>")[1]

    def run_report(self, *arguments):
        return subprocess.run([sys.executable, REPORT, self.folder, *arguments],
                              capture_output=True, text=True)


class Reading(Sweeps):
    def test_a_knob_that_is_not_named_has_its_choosers_value(self):
        case = self.read([line(50, knobs="tile_x:14"), line(60)]).cases[0]
        self.assertEqual(case.knobs(), {"tile_x": ["4", "7", "14"]})  # stage has no choice
        self.assertEqual([case.knob_of(candidate, "tile_x") for candidate in case.candidates],
                         ["14", "7"])

    def test_best_wasted_and_refused(self):
        case = self.read([
            line(50), line(200, schedule="Adams2019"), line(status="crash", seconds_total=2),
            line(status="does not take", algorithm="grouped", seconds_total=0)]).cases[0]
        self.assertEqual(case.best().ratio, 2)
        self.assertEqual(case.best(lambda candidate: candidate.by_machine).ratio, 0.5)
        self.assertEqual(case.wasted(), 0.25)
        self.assertEqual((len(case.candidates), len(case.failed()), len(case.refused)), (3, 1, 1))

    def test_the_verdict(self):
        lines = report.verdict(self.read([
            line(50), line(200, schedule="Adams2019"), line(status="crash", seconds_total=2),
            line(status="does not take", algorithm="grouped", seconds_total=0)]))
        self.assertEqual([" ".join(text.split()) for text in lines], [
            "conv2d 56x56: 2 measured, 1 failed, 1 bases that don't take it",
            "table 0.0001 ms 40.00 GFLOP/s 1.000 any: packed/broadcast tile_x:4",
            "1 0.0001 ms 80.00 GFLOP/s 2.000 c", "2 0.0002 ms 20.00 GFLOP/s 0.500 c",
            "autoscheduler 0.0002 ms 20.00 GFLOP/s 0.500 c",
            "the table is as good as the best of these",
            "25.0 % of the candidates' time went into those that failed"])

    def test_ratios_are_those_of_the_same_rounds(self):
        # A quiet and a busy machine.
        case = self.read([line(50), line(60, table_ns=300)]).cases[0]
        self.assertEqual(case.best().ratio, 5)
        self.assertEqual(case.table_ns, 200)
        self.assertEqual([candidate.ns for candidate in case.candidates], [100, 40])
        self.assertEqual(case.best().rate, 100)

    def test_half_a_line_at_the_end_is_left_out(self):
        self.write([line(50)], tail="56x56,packed/broadcast,pack")
        self.assertEqual(len(sweep_results.read(self.folder).cases[0].candidates), 1)

    def test_refuses_other_files_in_one_line(self):
        self.assertEqual(self.run_report().returncode, 2)
        for lines, fields in (([line(50, case="other")], {}), ([{**line(50), "ns": "fast"}], {}),
                              ([], {"cases": [{"name": "56x56"}]})):
            self.write(lines, **fields)
            outcome = self.run_report()
            self.assertEqual(outcome.returncode, 2)
            self.assertRegex(outcome.stderr,
                             r"^report: .+: (results\.csv, line 2|sweep\.json).+\n$")


class Page(Sweeps):
    def test_line_for_the_table(self):
        with_line = {**about()["cases"][0], "line": "row(cpu any … groups>=4)"}
        page = self.page([line(50, knobs="tile_x:14")], cases=[with_line])
        self.assertIn("<pre>row(cpu any … groups&gt;=4)</pre>", page)
        self.assertIn("broadcast.cpp:25", page)

    def test_no_line_where_the_sweep_found_none(self):
        self.assertNotIn("<pre>", self.page([line(50)]))

    def test_text_of_others_is_text(self):
        page = self.page([line(50), line(status="wrong", reason="</script><b>1 & 2")])
        self.assertNotIn("<b>1", page)
        self.assertIn("&lt;/script&gt;&lt;b&gt;1 &amp; 2</td>", page)

    def test_schedules_that_dont_take_the_case_stand_apart(self):
        page = self.page([line(50), line(status="does not take", algorithm="dot", schedule="dot",
                                         reason="1 is 2")])
        rows = page.split('id="table-1"')[1].split("</table>")[0]
        self.assertNotIn("dot/dot", rows)
        self.assertRegex(page,
                         r"(?s)don't take this case: 1</summary>.+dot/dot kernel_w=3</td>.+1 is 2")

    def test_a_case_without_candidates_and_one_without_a_right_one(self):
        self.assertIn("No candidate yet", self.page([]))
        page = self.page([line(status="timeout", reason="20 s")])
        self.assertIn('id="table-1"', page)
        self.assertNotIn('class="plot"', page)

    def test_machines_without_ceilings(self):
        for ceilings in ({"peak": None, "memory": None}, {"peak": 100.0, "memory": None},
                         {"peak": None, "memory": 10.0}):
            self.assertIn('id="roofline-1"', self.page([line(50)], ceilings=ceilings))

    def test_bytes_have_a_bar_instead_of_a_roofline(self):
        page = self.page([line(50)], unit="GB/s")
        self.assertIn("<h3>Bandwidth</h3>", page)
        self.assertNotIn("Roofline", page)


# Evaluated in the page; true where it is as it should be.
CHECKS = {
    "all plots are drawn": "[...document.querySelectorAll('.plot')].every("
                           "e => e.querySelector('.main-svg') && e._fullData.length)",
    "a dot for each candidate that is right": "['progress-1', 'roofline-1'].every(id =>"
        "document.querySelectorAll(`#${id} .scatterlayer .point`).length >= "
        "document.querySelectorAll('#table-1 tr[data-status=ok]').length)",
    "dots say what they are": "document.getElementById('knob-1-block')._fullData"
                              ".every(t => t.text.every(s => s.includes('<br>')))",
    "nothing is wider than the window": "document.documentElement.scrollWidth <= innerWidth",
    "the index leads to the cases": "[...document.querySelectorAll('#table-0 a')].every("
                                    "a => document.querySelector(a.getAttribute('href')))",
    "the fastest stand first": "(() => { const r = [...document.querySelectorAll("
        "'#table-1 tr[data-status=ok] td:nth-child(4)')].map(c => +c.dataset.value);"
        "return r.length > 9 && r.every((v, i) => !i || v <= r[i - 1]); })()",
    "a click sorts, what has no number last": "(() => {"
        "document.querySelectorAll('#table-1 th')[4].click();"
        "const t = [...document.querySelectorAll('#table-1 tbody td:nth-child(5)')]"
        ".map(c => c.dataset.value); const n = t.filter(v => v !== '').map(Number);"
        "return n.length < t.length && t.slice(0, n.length).every(v => v !== '') &&"
        "n.every((v, i) => !i || v >= n[i - 1]); })()",
    "words filter": "(() => { const input = document.querySelector('#case-1 .filter input');"
        "input.value = 'winograd block:32'; input.dispatchEvent(new Event('input'));"
        "const shown = [...document.querySelectorAll('#table-1 tbody tr')].filter(r => !r.hidden);"
        "return shown.length > 0 && shown.every(r => r.textContent.includes('winograd')"
        "&& r.textContent.includes('block:32')); })()",
    "statuses filter": "(() => { const select = document.querySelector('#case-1 .filter select');"
        "document.querySelector('#case-1 .filter input').value = ''; select.value = 'crash';"
        "select.dispatchEvent(new Event('change'));"
        "const shown = [...document.querySelectorAll('#table-1 tbody tr')].filter(r => !r.hidden);"
        "return shown.length > 0 && shown.every(r => r.dataset.status === 'crash'); })()",
}


def draw_all(page):
    """Figures are drawn when they come near the window."""
    for place in range(page.evaluate("document.querySelectorAll('.plot').length")):
        plot = f"document.querySelectorAll('.plot')[{place}]"
        page.evaluate(plot + ".scrollIntoView()")
        page.wait_for_function(f"'drawn' in {plot}.dataset")


class InABrowser(Sweeps):
    def sample(self, *arguments):
        subprocess.run([sys.executable, sample_sweep.__file__, self.folder, *arguments], check=True)
        outcome = self.run_report()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return os.path.join(self.folder, "report.html")

    def test_plots_and_tables(self):
        address = pathlib.Path(self.sample("--cases", "3", "--cut")).as_uri()
        with browser.opened(address, "1280,900", wait=100) as (page, wrong):
            self.assertFalse(page.evaluate(
                "'drawn' in document.getElementById('schedules-2').dataset"))
            draw_all(page)
            for what, expression in CHECKS.items():
                self.assertIs(page.evaluate(expression), True, what)
        self.assertEqual(wrong, [])

    def test_all_ids_are_there_without_errors(self):
        page = self.sample("--cases", "2", "--unit", "GB/s", "--candidates", "40")
        ids = ["index", "ratios", "roofline-0", "table-0"] + [
            f"{plot}-{case}" for case in (1, 2)
            for plot in ("progress", "roofline", "schedules", "table", "case")]
        ids += [f"knob-{case}-{name}" for case in (1, 2) for name in ("block", "tile_x", "tile")]
        for extra in ([], ["--dark"]):
            outcome = subprocess.run(
                [sys.executable, browser.__file__, page, "--size", "1280,900", *extra,
                 *(word for name in ids for word in ("--drawn", name))],
                capture_output=True, text=True)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_the_page_needs_nothing_else(self):
        with open(self.sample("--candidates", "40"), encoding="utf-8") as file:
            head, body = file.read().split("</head>")
        elsewhere = r"<(link|img|iframe)\b|\bsrc=|href=\"[^#]|@import|https?:"
        self.assertIsNone(re.search(elsewhere, head.split("<script>")[0]))
        self.assertIsNone(re.search(elsewhere, body))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
