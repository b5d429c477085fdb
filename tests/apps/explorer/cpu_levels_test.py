"""Schedules whose vectors and tiles follow the CPU, compiled for lesser ones: right, and a CPU that is none is told."""

import pathlib

import program_runs
from program_runs import ProgramTest

LEVELS = ("avx2", "sse41")
CASES = (
    "conv2d 7x7_128-32_3x3 --row winograd --layout nhwc",
    "conv2d 225x225_2-2_1x1 --row 1x1_columns --layout nchw",
    "conv2d 7x7_768-768_7x7_depthwise --row depthwise7x7_s1 --layout nchw",
    "conv2d 24x16_2-2_1x1 --row 1x1 --layout nhwc",
    "conv2d_backward_weight 12x12_32-32_3x3_s2_g4 --row grouped8_3x3_pairs --layout nhwc",
    "conv2d_backward_weight 7x7_960-960_3x3_depthwise --row depthwise3x3_s1_32 --layout nhwc",
    "conv2d_backward_weight 14x14_200-200_3x3_depthwise --row depthwise3x3_s1_masked --layout nhwc",
    "conv2d_backward_weight 14x14_200-200_3x3_depthwise --row depthwise3x3_s1_planes --layout nchw",
    "conv2d_backward_weight 28x28_240-240_3x3_s2_depthwise --row depthwise3x3_s2_planes --layout nchw",
    "conv2d_backward_data 7x7_128-32_3x3 --layout nhwc",
    "conv2d_backward_data 7x7_576-160_1x1 --layout nhwc",
    "softmax_cross_entropy 64x10_both --row long --type f16",
)
# Selection takes no row for these problems where the machine itself has no AVX-512.
WIDE_CASES = (
    "conv2d 7x7_128-32_3x3 --row winograd --layout nchw",
    "conv2d_backward_data input=1x27x28x32,weight=32x3x3x8,groups=4,stride=2,padding=1 --row columns_3x3_s2 --layout nchw",
    "conv2d_backward_data input=1x13x15x32,weight=24x3x3x8,groups=4,padding=1 --row columns_3x3 --layout nchw",
)


class CpuLevels(ProgramTest):
    def test_rows_are_right(self):
        wide = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
        for case in CASES + (WIDE_CASES if wide else ()):
            for level in LEVELS:
                with self.subTest(case, cpu=level):
                    text = self.run_line(f"explorer run {case} --cpu {level} --seconds 0.01")
                    self.assertIn(f", {level}\n", text)
                    self.assertRegex(text, r"(?m)^ratio [\d.]+$")

    def test_bad_input(self):
        case = "explorer run conv2d 24x16_2-2_1x1"
        self.assertIn("avx3 not in", self.run_line(f"{case} --cpu avx3", status=None))
        self.assertIn("--cpu is of the target cpu",
                      self.run_line(f"{case} --cpu avx2 --target opencl:0", status=None))


if __name__ == "__main__":
    program_runs.main()
