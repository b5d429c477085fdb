"""The program explorer: what its verbs say of bad input, in a line that says what is allowed."""

import program_runs
from program_runs import ProgramTest

CASE = "conv2d 56x56_64-64_3x3"
SMALL = "conv2d input=1x14x14x24,weight=20x3x3x24,padding=1"
SHOW_AND_DIFF = [
    # Rows that are near, and the families that share one.
    ("show conv2d/3x3_dat", 'no row or kernel "conv2d/3x3_dat"; near it: conv2d/3x3'),
    ("show 3x3_dt", "conv2d/3x3_dot"),
    ("diff conv2d/staged conv2d/nothing", '"conv2d/nothing"'),
    ("show any", "write "),
    ("show any", "conv2d/any or "),
    # The kernels of a row.
    ("show conv2d/3x3_dot --target cuda",
     "conv2d/3x3_dot has no kernel cuda; it has: f32 nhwc cpu, f16 nhwc cpu, "),
    ("show conv2d/3x3_dot --layout nchw --type f32", "no kernel f32 nchw; it has: "),
    ("show conv2d_staged_f32_nhwc_cpu --type f16", "it has: f32 nhwc cpu"),
    # Legal knobs.
    ("show conv2d/staged --knobs tile_q:7", "no knob tile_q in this schedule, only "),
    ("show conv2d/staged --knobs tile_y:9", "knob tile_y is 9, allowed: 1, 2, 3, 4"),
    ("show conv2d/staged --knobs tile_y=2", "expected name:number"),
    ("diff conv2d/staged conv2d/staged --knobs-b tile_y:9", "allowed: 1, 2, 3, 4"),
    ("show conv2d/staged --output /nowhere/page.html", "no folder /nowhere"),
]
RUN = [
    (SMALL + " --knobs tile:4", "only lanes, block, tile_x"),
    (SMALL + " --knobs tile_x:9", "allowed: 1, 2, 3"),
    (SMALL + " --knobs tile_x", "expected name:number"),
    (SMALL + " --schedule fast", "there are: "),
    (SMALL + " --row fast", 'no row "fast"'),
    (SMALL + " --row any --schedule grouped", 'no schedule "grouped" of the row any; there are: '),
    ("conv2d 1x2x3", "a list ("),
    ("conv3d input=1x14x14x24,weight=20x3x3x24,padding=1", "there are: conv2d"),
    (SMALL + " --target cuda:7", "no device"),
    (SMALL + " --type f64", "there are: f32"),
]
SWEEP = [
    ("conv3d 56x56", "there are: conv2d conv2d_backward_data"),
    ("conv2d 57x57", "give a name of its lists"),
    (CASE + " --strategy anneal", "grid"),
    (CASE + " --target tpu", "tpu"),
    (CASE + " --part 5/4", "allowed: 1/N to N/N"),
    (CASE + " --part x", "allowed: 1/N to N/N"),
    (CASE + " --budget 0", "--budget"),
    (CASE + " --schedule origami --output bad", "packed/broadcast"),
    (CASE + " --output /dev/null/x", "--output is /dev/null/x"),
]


class BadInput(ProgramTest):
    def test_of_show_and_diff(self):
        for arguments, part in SHOW_AND_DIFF:
            with self.subTest(arguments):
                self.expect_refused("explorer " + arguments, part)
        for arguments in ("show", "show conv2d/staged --colour red", "diff conv2d/staged"):
            self.run_line("explorer " + arguments, status=2)

    def test_of_run(self):
        for arguments, part in RUN:
            with self.subTest(arguments):
                self.expect_refused("explorer run " + arguments, part)

    def test_of_sweep(self):
        for arguments, part in SWEEP:
            with self.subTest(arguments):
                self.expect("explorer sweep " + arguments, part, status=2)


if __name__ == "__main__":
    program_runs.main()
