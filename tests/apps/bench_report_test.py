"""apps/bench/report.py and what it is made of: the page, the CSV files, the README's table and the
picture from results of bench.

    bench_report_test.py REPOSITORY FOLDER BENCH
"""

import csv
import json
import os
import re
import subprocess
import sys
import unittest

REPOSITORY, FOLDER, BENCH = sys.argv[1:4]
REPORT = os.path.join(REPOSITORY, "apps", "bench", "report.py")
sys.path[:0] = [os.path.dirname(REPORT), os.path.join(REPOSITORY, "tests", "support")]

import headline  # noqa: E402
import measurements  # noqa: E402
import picture  # noqa: E402
import report  # noqa: E402
from own_folder import own_folder  # noqa: E402

CPU = "A CPU (GenuineIntel, family 6, model 143)"
ABILITIES = "AVX-512, 2.0 FMA a cycle at 3.0 GHz; caches 48 KiB, 2 MiB, 100 MiB"
PAGE = "intel-family6-model143"
FILE = f"{PAGE}.csv"
README = f"# Title\n<!-- headline {FILE} -->\nold\n<!-- end of headline -->\nrest\n"


def result(case="1x1", ns=1000.0, **fields):
    peers = fields.pop("peers", {"oneDNN": 800.0, "ONNX Runtime": 900.0})
    return {"family": "conv2d", "list": "resnet50", "case": case, "kind": "dense 1x1", "count": 1,
            "shapes": {}, "type": "f32", "output_type": "f32", "layout": "nhwc", "device": "cpu",
            "threads": 1, "kernel": "k", "row": "any", "ns": ns, "unit": "GFLOP/s", "rate": 50.0,
            "peers": peers, "other_layouts": {}, "peer_variants": {},
            "ratio": min(peers.values()) / ns if peers and ns else None, "peak": 100.0,
            "peak_fraction": 0.5, "max_error": 1e-7, "failure": None, "peer_versions": ["oneDNN 3"],
            "cpu": CPU, "abilities": ABILITIES, "date": "2026-01-02", "command": "bench", **fields}


def moved(**fields):
    return result(**{"family": "activate", "layout": "any", "list": "sizes", "peers": {},
                     "unit": "GB/s", "peak": None, "other_layouts": {"memcpy": 600.0}, **fields})


def measured(rows):
    return measurements.Measurements(measurements.Cpu(CPU), ABILITIES, ["oneDNN 3"], rows)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = own_folder(FOLDER, self)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, rows):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(rows) if isinstance(rows, str) else json.dump(rows, file)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_report(self, *arguments, status=0):
        outcome = subprocess.run([sys.executable, REPORT, *arguments], capture_output=True, text=True)
        self.assertEqual(outcome.returncode, status, outcome.stderr)
        return outcome


class Page(Files):
    def test_line_of_a_list(self):
        rows = [result("a", 400.0), result("b", 1600.0, other_layouts={"hk plain": 3200.0}),
                result("a", 400.0, list="mobilenetv2"), moved(ns=1200.0)]
        lines = self.run_report(self.write("now.json", rows)).stdout.splitlines()
        self.assertIn("| conv2d f32 nhwc | resnet50 | 2 | 50 % | 1.00 | 0.50 `b` | 1 of 2 | "
                      "oneDNN 1.00, ONNX Runtime 1.12, (hk plain 2.00 in 1) |", lines)
        self.assertIn("| conv2d f32 nhwc | mobilenetv2 | 1 | 50 % | 2.00 |  | 0 of 1 | "
                      "oneDNN 2.00, ONNX Runtime 2.25 |", lines)
        self.assertIn("| activate f32 | sizes | 1 |  |  |  |  | (memcpy 0.50) |", lines)

    def test_names_the_cpu(self):
        text = self.run_report(self.write("now.json", [result()])).stdout
        self.assertIn(f"## Intel A CPU, family 6, model 143\n\nOne core: {ABILITIES}.\n", text)

    def test_types_devices_and_threads_are_told_apart(self):
        rows = [result(), result(type="u8", output_type="u8"), result(type="u8"), result(threads=2),
                result(device="cuda:0", peak=None)]
        text = self.run_report(self.write("now.json", rows)).stdout
        self.assertEqual(re.findall(r"^\| (conv2d[^|]*) \|", text, re.M),
                         ["conv2d f32 nhwc", "conv2d u8 nhwc", "conv2d u8 to f32 nhwc",
                          "conv2d f32 nhwc 2 threads", "conv2d f32 nhwc cuda:0"])

    def test_failed_cases_are_counted(self):
        failed = result("bad", None, failure="output(0) is 1, not 2", ratio=None, rate=None)
        text = self.run_report(self.write("now.json", [result(), failed])).stdout
        self.assertIn("| resnet50 | 1, 1 failed |", text)

    def test_picture_has_a_place_and_a_name(self):
        rows = self.write("now.json", [result("a"), result("b")])
        os.mkdir(self.path("docs"))
        self.run_report("--output", self.path("docs/page.md"), "--picture", self.path("p.png"), rows)
        self.assertIn("](../p.png)", self.read("docs/page.md"))
        with open(self.path("p.png"), "rb") as file:
            self.assertEqual(file.read(4), b"\x89PNG")

    def test_without_baselines_there_is_no_picture(self):
        self.run_report("--output", self.path("p.md"), "--picture", self.path("p.svg"),
                        self.write("now.json", [result(peers={})]))
        self.assertNotIn("![", self.read("p.md"))
        self.assertFalse(os.path.exists(self.path("p.svg")))

    def test_refuses_other_files(self):
        for name in (self.write("text", "{"), self.write("other.json", [{"family": "conv2d"}]),
                     self.write("cpu.json", [result(cpu="a CPU")]), self.path("nowhere")):
            outcome = self.run_report(name, status=2)
            self.assertRegex(outcome.stderr, rf"^report\.py: {re.escape(name)}: .+\n$")


class InARepository(Files):
    def setUp(self):
        super().setUp()
        self.write("README.md", README)
        self.write("docs/performance.md", "")

    def report(self, rows, *more, status=0):
        files = [self.write("now.json", rows)] if rows else []
        return self.run_report("--repository", self.folder, *more, *files, status=status)

    def cases(self):
        with open(self.path(f"docs/performance/{FILE}"), encoding="utf-8") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def test_cases_are_in_a_file_of_the_cpu(self):
        failed = result("bad", None, failure='is 1, not "2"', ratio=None, rate=None)
        self.report([result("a", 1234.56), moved(), failed])
        cases = self.cases()
        self.assertEqual([case["us"] for case in cases], ["1.235", "1", ""])
        self.assertEqual(cases[0]["baseline:oneDNN"], "0.8")
        self.assertEqual(cases[1]["other:memcpy"], "0.6")
        self.assertEqual(cases[2]["failure"], 'is 1, not "2"')

    def test_everything_follows_from_the_csv_files(self):
        self.report([result("a"), result("b"), moved(), moved(case="2")])
        names = ("README.md", "docs/performance.md",
                 *(f"docs/performance/{PAGE}.{ending}" for ending in ("csv", "md", "svg")))
        first = [self.read(name) for name in names]
        self.report([], "--check")
        self.report([])
        self.assertEqual([self.read(name) for name in names], first)

    def test_stale_documents_are_found(self):
        self.report([result("a"), result("b")])
        for name in ("README.md", "docs/performance.md", f"docs/performance/{PAGE}.md"):
            text = self.read(name)
            self.write(name, text.replace("0.80", "0.81"))
            outcome = self.report([], "--check", status=1)
            self.assertIn(f"{name} is out of date", outcome.stderr)
            self.write(name, text)

    def test_summary_has_the_cpus_side_by_side(self):
        other = {"cpu": "AMD EPYC (AuthenticAMD, family 26, model 2)", "abilities": "AVX-512, 2.0"}
        self.report([result("a", 400.0), result("b", 800.0), result("c", list="vgg16"), moved(),
                     result("a", 1600.0, **other), result("a", family="topk", layout="any", **other)])
        lines = self.read("docs/performance.md").splitlines()
        self.assertIn("- AMD 26/2 is [AMD EPYC, family 26, model 2](performance/amd-family26-model2.md"
                      "), measured 2026-01-02. One core: AVX-512, 2.0.", lines)
        table = [line for line in lines if line.startswith("|")]
        self.assertEqual(table, ["| kernels | AMD 26/2 | Intel 6/143 |", "|---|---:|---:|",
                                 "| conv2d f32 nhwc, resnet50 | *0.50* | 1.41 (1.00) |",
                                 "| topk f32 | *0.80* |  |",
                                 "| conv2d f32 nhwc, vgg16 |  | *0.80* |",
                                 "| activate f32 |  | *0.60* |"])
        page = self.read("docs/performance/amd-family26-model2.md")
        self.assertIn("](../benchmarking.md)", page)
        self.assertIn("[amd-family26-model2.csv](amd-family26-model2.csv)", page)
        self.assertNotIn("Intel", page)

    def test_a_cpu_is_what_it_was_last_measured_to_be(self):
        self.report([result("a"), result("c", list="vgg16")])
        self.report([result("a", abilities="AVX2, 2.0 FMA a cycle")])
        self.assertIn("One core: AVX2, 2.0 FMA a cycle.", self.read("docs/performance.md"))
        self.assertEqual(len(self.cases()), 2)

    def test_newer_results_replace_those_of_their_list(self):
        self.report([result("a", 1000.0), result("b", 1000.0), result("c", list="mobilenetv2")])
        self.report([result("a", 500.0)])
        self.assertEqual([(case["list"], case["case"], case["us"]) for case in self.cases()],
                         [("resnet50", "a", "0.5"), ("mobilenetv2", "c", "1")])

    def test_readme_has_the_means_and_the_worst(self):
        self.report([result("a", 400.0), result("b", 800.0), result("c", layout="nchw"),
                     result("a", list="mobilenetv2"), moved(ns=1200.0)])
        text = self.read("README.md")
        self.assertTrue(text.startswith("# Title\n") and text.endswith("\nrest\n"))
        self.assertIn("| convolution, ResNet-50 | 1.41 (1.00) | *0.80* |  |  |  | "
                      "oneDNN, ONNX Runtime |", text)
        self.assertIn("| activations | *0.50* |  |  |  |  | memcpy |", text)
        self.assertNotIn("top-k", text)


class Repository(unittest.TestCase):
    def measured(self):
        folder = os.path.join(REPOSITORY, "docs", "performance")
        return [measurements.read_csv(os.path.join(folder, name)) for name in os.listdir(folder)
                if name.endswith(".csv")]

    def test_headline_leaves_no_case_out(self):
        for some in self.measured():
            shown = {(row["family"], row["list"], row["case"], row["type"], row["layout"])
                     for _, family, lists in headline.all_lines(some.rows)
                     for column in headline.COLUMNS.values()
                     for row in headline.cases_of(some.rows, family, lists, *column).values()}
            for row in some.rows:
                key = tuple(row[name] for name in ("family", "case", "type", "layout"))
                if row["ratio"] and row["device"] == "cpu" and row["threads"] == 1:
                    self.assertIn(key, {(f, c, t, l) for f, _, c, t, l in shown})

    def test_files_are_short(self):
        docs = os.path.join(REPOSITORY, "docs")
        with open(os.path.join(docs, "performance.md"), encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 100)
        for some in self.measured():
            picture = os.path.join(docs, "performance", f"{some.cpu.page}.svg")
            self.assertLessEqual(os.path.getsize(picture), 40 << 10)

    def test_names_of_files_are_those_of_the_cpus(self):
        for some in self.measured():
            path = os.path.join(REPOSITORY, "docs", "performance", some.cpu.file)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), str(some))


class Runs(unittest.TestCase):
    def test_every_family_of_bench_is_run(self):
        listed = subprocess.run([BENCH, "--families"], capture_output=True, text=True, check=True)
        families = listed.stdout.split()
        named = [dict(zip(run[::2], run[1::2])) for run in report.runs_of(families)]
        self.assertEqual({run.get("--family", "conv2d") for run in named}, set(families))
        self.assertLessEqual({family for _, family, _ in headline.LINES}, set(families))

    def test_a_family_without_a_line_has_its_name(self):
        row = {"family": "dropped_out", "list": "layers"}
        self.assertEqual(list(headline.all_lines([row]))[-1],
                         ("dropped out", "dropped_out", ["layers"]))



class Picture(unittest.TestCase):
    def test_lines_are_lists_of_several_cases(self):
        rows = [result("a", 400.0), result("b", 1600.0), result("alone", list="shape_case"),
                result("a", 1000.0, layout="nchw"), result("b", 1000.0, layout="nchw"),
                moved(ns=1200.0), moved(case="2", ns=300.0)]
        (title, lines), = picture.panels_of([measured(rows)])
        self.assertEqual(title, "Intel A CPU, family 6, model 143")
        self.assertEqual([(line.name, round(line.mean, 2), line.colour) for line in lines],
                         [("conv2d f32 nhwc, resnet50", 1.0, picture.FASTER),
                          ("conv2d f32 nchw, resnet50", 0.8, picture.SLOWER),
                          ("activate f32, sizes", 1.0, picture.BOUND)])

    def test_svg_repeats(self):
        rows = [result(str(case), 10.0 * 4**case) for case in range(8)]
        folder = own_folder(FOLDER, self)
        texts = []
        for name in ("1.svg", "2.svg"):
            picture.draw([measured(rows)], os.path.join(folder, name))
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1])
        self.assertIn(">conv2d f32 nhwc, resnet50<", texts[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
