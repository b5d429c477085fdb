"""run.sh of make gpu-bundle, on the CUDA device in software, with programs of this build."""

import json
import shutil

import program_runs
from program_runs import BUILD, SOURCE, ProgramTest, built_devices

BUNDLE = SOURCE / "apps" / "gpu_bundle"
SOFTWARE = {"LD_LIBRARY_PATH": str(BUILD / "software-cuda"), "SOFTWARE_CUDA_THREADS": "1"}
CASES = "softmax_cross_entropy f32 any smoke 0\nconv2d f32 nhwc smoke 2\nconv2d tf32 nhwc smoke 2\n"


class GpuBundleTest(ProgramTest):
    def setUp(self):
        super().setUp()
        if "cuda" not in built_devices():
            self.skipTest("built without CUDA kernels")
        for path in (BUNDLE / "run.sh", BUNDLE / "compare.py", SOURCE / "apps" / "bench" / "measurements.py"):
            shutil.copy(path, self.folder)
        self.write("cases.txt", "# family type layout list batch\n" + CASES)
        programs = self.folder / "programs"
        programs.mkdir()
        for program in ("bin/bench", "bin/fuzz", "tests/softmax_cross_entropy_kernels_test"):
            (programs / program.split("/")[1]).symlink_to(BUILD / program)

    def test_without_a_gpu(self):
        for verb in ("check", "bench"):
            self.expect(f"./run.sh {verb}", "there is no CUDA device here", status=77, LD_LIBRARY_PATH="")

    def test_usage(self):
        self.expect("./run.sh", "run.sh check [COUNT]", status=2)

    def test_check(self):
        text = self.expect("./run.sh check 2", "topk valid on cuda:0: 2 right", " passed, 0 failed", **SOFTWARE)
        self.assertGreater(int(text.splitlines()[-1].split()[0]), 0, text)

    def test_check_of_what_fails(self):
        self.write("programs/rows_test", "#!/bin/sh\nexit 3\n")
        (self.folder / "programs" / "rows_test").chmod(0o755)
        self.expect("./run.sh check 1", "rows_test.0: exit status 3", status=1, **SOFTWARE)

    def test_check_of_nothing(self):
        (self.folder / "programs" / "softmax_cross_entropy_kernels_test").unlink()
        self.write("programs/rows_test", "#!/bin/sh\n")
        (self.folder / "programs" / "rows_test").chmod(0o755)
        self.expect("./run.sh check 1", "0 passed, 0 failed", status=1, **SOFTWARE)

    def test_bench(self):
        self.expect("./run.sh bench 0.01", "n2_8x8_16-32_1x1 [products]", "| softmax_cross_entropy | f32 | any | smoke |",
                    "| conv2d | f32 | nhwc | smoke | 2 | 4 | 0 |", "| conv2d | tf32 | nhwc | smoke | 2 | 4 | 0 |",
                    "n2_8x8_16-32_1x1 [matrices_1x1]", **SOFTWARE)
        results = json.loads((self.folder / "results" / "results.json").read_text())["results"]
        self.assertEqual(len(results), 14)
        strided = next(r for r in results if r["case"].startswith("n2_12x12"))
        self.assertEqual((strided["fields"]["stride"], strided["fields"]["groups"]), ("2", "4"))

    def test_bench_of_what_fails(self):
        self.write("cases.txt", CASES + "conv2d f32 nhwc no_list 0\n")
        self.run_line("./run.sh bench 0.01", status=1, **SOFTWARE)


if __name__ == "__main__":
    program_runs.main()
