"""Programs on the CUDA device in software, as a person runs them."""

import json

import program_runs
from PIL import Image
from program_runs import ProgramTest


class SoftwareCuda(ProgramTest):
    def picture(self):
        Image.radial_gradient("L").resize((40, 30)).convert("RGB").save(self.folder / "in.png")

    def test_filter_agrees_with_the_cpu(self):
        self.picture()
        text = self.expect("filter --image in.png --repeats 1 --device cpu --device cuda:0",
                           "cuda:0", "software sm_80")
        self.assertNotIn("DISAGREE", text)

    def test_pointcloud_agrees_with_the_cpu(self):
        self.write("hill.xyz", "".join(f"{x} {y} {x * y // 60}\n"
                                       for x in range(20) for y in range(10)))
        for type_ in ("f32", "f16", "bf16"):
            text = self.expect("pointcloud hill.xyz --voxel 1 --repeats 1 --channels 8 "
                               f"--type {type_} --device cpu --device cuda:0",
                               "cuda:0 deterministic", "cuda:0 atomic")
            self.assertNotIn("DISAGREE", text)

    def test_training_gives_the_losses_of_the_cpu(self):
        losses = []
        for device in ("cpu", "cuda:0"):
            self.run_line(f"train --steps 3 --batch 16 --device {device} --history run.json")
            run = json.loads((self.folder / "run.json").read_text())
            losses.append([step["loss"] for step in run["steps"]])
        self.assertEqual(len(losses[0]), 3)
        for cpu, cuda in zip(*losses, strict=True):
            self.assertAlmostEqual(cpu, cuda, delta=1e-4)

    def test_writes_what_was_executed(self):
        self.picture()
        self.run_line("filter --image in.png --repeats 1 --device cuda:0",
                      SOFTWARE_CUDA_COUNT="counts.json")
        counts = json.loads((self.folder / "counts.json").read_text())
        self.assertGreaterEqual(len(counts), 1)
        for kernel in counts:
            self.assertGreater(kernel["launches"], 0)
        # Not of kernels that copy.
        self.assertGreater(max(kernel["thread_instructions"]["multiply-add"] for kernel in counts), 1000)

    def test_imitates_chips(self):
        self.picture()
        self.expect("filter --image in.png --repeats 1 --device cuda:1", "software sm_90",
                    SOFTWARE_CUDA_CHIP="sm_80,sm_90", SOFTWARE_CUDA_DEVICES="2")

    def test_tells_which_setting_is_wrong(self):
        self.picture()
        self.expect("filter --image in.png --device cuda:0",
                    "SOFTWARE_CUDA_LANES=8 is not one of: 1, 16, 32",
                    status=None, SOFTWARE_CUDA_LANES="8", SOFTWARE_CUDA_REPORT="")

    def test_counts_refuses_flags_that_it_would_ignore(self):
        for line, *parts in (("--rates --output a.json", "--rates", "--output"),
                             ("--rates --list resnet50", "--rates", "--list"),
                             ("--list resnet50 --output a.json", "--list", "--output"),
                             ("--list resnet50 --filter conv2d", "--list", "--filter")):
            self.expect(f"counts {line}", "excludes", *parts, status=2)

    def test_counts_has_no_rate_where_nothing_runs(self):
        self.expect("counts --rates", "launched nothing", status=1, SOFTWARE_CUDA_RUN="off")
        self.expect_refused("counts --rates --filter nothing", '"nothing"')


if __name__ == "__main__":
    program_runs.main()
