"""What holds for all programs: their exit status, where messages go, what flags take, and files
that they can't write."""

import program_runs
from program_runs import PYTHON, SOURCE, ProgramTest

SMALL_BENCH = "bench --list smoke --filter 1x1 --no-peers --seconds 0.01 --json "
# With work of a second for each, which writes to out.* in the folder that it runs in.
PROGRAMS = {
    "filter": "--device cpu --max-size 32 --repeats 1 --output out.png",
    "pointcloud": "--device cpu --voxel 300 --repeats 1 --channels 4 --output out.png",
    "train": "--steps 3 --history out.json --trace out.trace",
    "train_soak": "--steps 10 --batch 8",
    "replay": "--allocations 100 --live 10 --rounds 1",
    "explain": "topk --input 4x100 --k 3",
    "bench": SMALL_BENCH.removeprefix("bench ") + "out.json",
    "explorer": "list topk",
    "fuzz": "--family sgd --kind valid --count 3",
}
APPS = f"'{PYTHON}' '{SOURCE}/apps/"
# Of each: what makes its input, and its command, which writes to {}.
WRITERS = {
    "filter": ("", "filter --device cpu --max-size 64 --repeats 1 --output {}"),
    "pointcloud": ("", "pointcloud --device cpu --voxel 300 --repeats 1 --channels 4 --output {}"),
    "train_history": ("", "train --steps 30 --history {}"),
    "train_trace": ("", "train --steps 30 --trace {}"),
    "train_output": ("", "train --steps 30 --history h.json --output {}"),
    "bench": ("", SMALL_BENCH + "{}"),
    "explorer": ("", "explorer show sgd_plain_f32_cpu --output {}"),
    "draw_trace": ("", f"{APPS}memory/draw_trace.py' '{SOURCE}/apps/memory/train.json.gz' {{}}"),
    "report_page": (SMALL_BENCH + "rows.json",
                    APPS + "bench/report.py' rows.json --picture p.svg --output {}"),
}
DIGITS = 309 * "9"
MISTAKES = [
    ("pointcloud --voxel nan", '"nan" is not a finite number above 0'),
    ("pointcloud --voxel " + DIGITS, "(309 characters)"),
    ("pointcloud --turn nan", '--turn: "nan" is not a finite number'),
    ("pointcloud --tilt inf", '--tilt: "inf" is not a finite number'),
    ("train --learning-rate nan", "--learning-rate"),
    ("train --momentum nan", "--momentum"),
    ("train --weight-decay nan", "--weight-decay"),
    ("train --pool-gain 1 --trace out.json", "excludes"),
    ("bench --seconds nan", "--seconds"),
    ("bench --list input=1x8x8x" + DIGITS, "is too large"),
    ("bench --list groups=8,groups=9", 'column "groups" is there twice'),
    ("mkdir f.csv; bench --list f.csv", "f.csv: Is a directory"),
    ("explorer run conv2d input=1x8x8x8,weight=4x1x1x8 --seconds nan", "--seconds"),
    ("explorer sweep conv2d c=8,h=8,w=8 --budget nan", "--budget"),
    ("explorer show conv2d/staged --knobs tile_x:" + DIGITS, "tile_x"),
    ("explain topk --k 3 --input 4x" + DIGITS, "is too large"),
    ("filter --device toaster", 'filter: device is "toaster"'),
    ("train --device toaster", 'train: device is "toaster"'),
    (f"echo '{{\"format\": 1{DIGITS}}}' > t; replay t", "replay: t: "),
]


class EachProgram(ProgramTest):
    def test_ends_with_2_for_flags_that_it_does_not_have(self):
        for program in PROGRAMS:
            with self.subTest(program):
                # CLI11 asks for a missing verb first.
                told = ("A subcommand is required" if program in ("explain", "explorer")
                        else "--no-such-flag")
                line = program + " --no-such-flag"
                self.expect(line, told, status=2)
                self.assertEqual(self.run_line(line, 2, errors=False), "",
                                 "it belongs on standard error")

    def test_does_its_work(self):
        for program, work in PROGRAMS.items():
            with self.subTest(program):
                self.run_line(f"{program} {work}")

    def test_fails_where_what_it_prints_is_not_written(self):
        for program, work in PROGRAMS.items():
            for flags in ("--help", work):
                with self.subTest(program, flags=flags):
                    # bench prints much: the stream's error is older than its end.
                    why = "" if program == "bench" else "No space left"
                    self.expect(f"{{ {program} {flags} >/dev/full; }}",
                                f"{program}: standard output: {why}", status=1)


class Writers(ProgramTest):
    # No file may have more than one block.
    def test_keep_what_was_there_where_the_disk_is_full(self):
        for name, (before, command) in WRITERS.items():
            with self.subTest(name):
                if before:
                    self.run_line(before)
                self.write("out.png", "old")
                files = {path.name for path in self.folder.iterdir()}
                text = self.run_line("trap '' XFSZ; ulimit -f 1; " + command.format("out.png"), 1)
                self.assertEqual((self.folder / "out.png").read_text(), "old")
                self.assertEqual({path.name for path in self.folder.iterdir()}, files)
                self.assertNotIn("wrote out.png", text)

    def test_fail_where_they_cant_write(self):
        for name, (before, command) in WRITERS.items():
            with self.subTest(name):
                if before:
                    self.run_line(before)
                text = self.expect(command.format("/dev/full"), "No space left on device", status=1)
                self.assertNotIn("wrote /dev/full", text)


class BadInput(ProgramTest):
    def test_is_told_in_a_line_or_two(self):
        """Which say what is wrong, and nothing of how the program is made."""
        for line, part in MISTAKES:
            with self.subTest(line):
                text = self.expect(line, part, status=2)
                self.assertNotIn("basic_", text)
                self.assertLess(len(text), 500)


class BenchList(ProgramTest):
    RUN = "bench --no-peers --seconds 0.01 --list "
    ONE = "input=1x8x8x8,weight=4x1x1x8"

    def test_sizes_next_to_each_other_are_one_case(self):
        self.expect(self.RUN + self.ONE, "8x8_8-4_1x1", ": 1 cases")
        self.expect(f"{self.RUN}smoke,{self.ONE} --list input=1x5x1x4,weight=1x1x1x4 --filter 1x1",
                    "all lists: 3 cases")

    def test_shapes_that_cant_be_go_to_standard_error(self):
        """A kernel larger than its input, among others that are measured."""
        line = f"{self.RUN}{self.ONE} --list input=1x2x2x8,weight=1x5x5x8"
        self.expect(line, "bench: 2x2_8-1_5x5_p0x0: conv2d: ", status=2)
        printed = self.run_line(line, 2, errors=False)
        self.assertNotIn("5x5", printed)
        self.assertIn("8x8_8-4_1x1", printed)


if __name__ == "__main__":
    program_runs.main()
