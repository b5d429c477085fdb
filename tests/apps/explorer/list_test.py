"""explorer list: all that was built, beside what CMake wrote of it."""

import json

import program_runs
from program_runs import BUILD, ProgramTest, rows_of

KERNELS = BUILD / "kernels"
FAMILIES = sorted(path.parent.name for path in KERNELS.glob("*/rows.txt"))


class List(ProgramTest):
    def listed(self, arguments=""):
        return json.loads(self.run_line(f"explorer list {arguments} --json", errors=False))

    def test_has_every_kernel_once(self):
        listed = [name for row in self.listed() for name in row["kernels"]]
        built = [row["name"] for family in FAMILIES for row in rows_of(family)]
        self.assertGreater(len(built), 0)
        self.assertEqual(sorted(listed), sorted(built))

    def test_says_what_the_table_says(self):
        for family in FAMILIES:
            by_name = {row["name"]: row for row in rows_of(family)}
            for listed in self.listed(family):
                with self.subTest(family, row=listed["row"]):
                    self.check_row(family, listed, [by_name[name] for name in listed["kernels"]])

    def check_row(self, family, listed, rows):
        self.assertEqual(listed["family"], family)
        for row in rows:
            for column in ("row", "algorithm", "schedule", "knobs", "where"):
                self.assertEqual(listed[column], row[column])
        for names, column in (("types", "type"), ("layouts", "layout"), ("targets", "device")):
            self.assertEqual(set(listed[names]), {row[column] for row in rows} - {"any"})
        files = [KERNELS / family / row["name"] for row in rows]
        reports = [json.loads(file.with_suffix(".json").read_text()) for file in files]
        self.assertEqual(listed["library_bytes"],
                         sum(file.with_suffix(".a").stat().st_size for file in files))
        seconds = sum(report["seconds"] for report in reports)
        self.assertGreater(seconds, 0)
        self.assertAlmostEqual(listed["compile_seconds"], seconds, delta=1e-6)
        registers = max(report.get("registers", -1) for report in reports)
        self.assertEqual(listed["registers"], None if registers < 0 else registers)

    def test_sorts_by_time_and_size(self):
        count = len(self.listed())
        for by, field in (("compile-time", "compile_seconds"), ("size", "library_bytes")):
            figures = [row[field] for row in self.listed("--sort " + by)]
            self.assertEqual(len(figures), count)
            self.assertEqual(figures, sorted(figures, reverse=True))
        self.expect("explorer list --sort age", "age not in {compile-time,size}", status=2)

    def test_fits_a_screen(self):
        text = self.run_line("explorer list", errors=False)
        text += self.run_line("explorer list --sort compile-time", errors=False)
        for line in text.split("\n"):
            self.assertLessEqual(len(line), 140, line)
        for family in FAMILIES:
            self.assertIn(family + ": ", text)

    def test_names_the_families(self):
        self.expect_refused("explorer list conv3d", 'no family "conv3d"; there are: ', *FAMILIES)


if __name__ == "__main__":
    program_runs.main()
