"""The program explain: its flags, its output, and the shared-memory budget of the shape case."""

import collections
import json
import math

import program_runs
from program_runs import BUILD, ProgramTest, built_devices, rows_of

SHAPES = {"nhwc": "--input 1x512x512x64 --weight 256x3x3x64",
          "nchw": "--input 1x64x512x512 --weight 256x64x3x3"}
# The grouped input gradient of which a flipped filter alone has 589824 bytes.
GRADIENT = {"nhwc": "--input 128x24x48x384 --weight 384x1x3x128",
            "nchw": "--input 128x384x24x48 --weight 384x128x1x3"}


def shape_case(layout):
    return (f"conv2d --layout {layout} --type f32 {SHAPES[layout]} --stride 1 --padding 1 "
            "--dilation 1 --groups 1")


def gradient_case(layout):
    return (f"conv2d_backward_data --layout {layout} --type f32 {GRADIENT[layout]} --stride 1 "
            "--padding 0x1 --dilation 1 --groups 3")


# The same of a quantised weight has a dequantised filter of 589824 bytes.
CASES = [(family, layout, flags) for layout in ("nhwc", "nchw") for family, flags in (
    ("conv2d", shape_case(layout)),
    ("quantized_conv2d", f"quantized_{shape_case(layout)} --output-type f32"),
    ("conv2d_backward_data", gradient_case(layout)))]

CONV = "conv2d --input 1x8x8x16 --weight 8x3x3x16"
SPARSE = "tensor_product --rows 4 --pairs 4 --c 3 --m 3"
CLOUD = "tensor_product --type f32 --rows 125000 --pairs 30000 --offsets 27 --c 64 --m 64"
MISTAKES = [
    ("", "subcommand"), ("conv9d", "subcommand"),
    ("conv2d --weight 8x3x3x16", "--input"),
    ("conv2d --input 8x8x16 --weight 8x3x3x16", "8x8x16"),
    ("conv2d_backward_data --input 1x8x8x16 --weight 8x3x3x16 --formulation flipped", "flipped"),
    ("conv2d --input 1x8xax16 --weight 8x3x3x16", '"a"'),
    ("conv2d --input 1x8x-8x16 --weight 8x3x3x16", "-8"),
    ("conv2d --input 1x8x8x16x --weight 8x3x3x16", "1x8x8x16x"),
    (CONV + " --padding 1,2", "1,2"),
    (CONV + " --stride 1x2x3", "1x2x3"),
    (CONV + " --shared-limit -5", "-5"),
    (CONV + " --shared-limit 5k", "5k"),
    ("quantized_" + CONV + " --output-type f16", "f16"),
    ("activate --input 4x5 --elements near", "near"),
    ("sgd --input 4y5", "4y5"),
    ("pool2d --input 1x4x4x5 --pooling min", "min"),
    ("pool2d --input 4x4x5", "4x4x5"),
    ("pool2d_backward --input 1x4x4x5 --kernel 7", "7"),
    ("pool2d_backward --kernel 2", "--input"),
    ("softmax_cross_entropy --input 4x5x6", "4x5x6"),
    ("softmax_cross_entropy --input 4x0", "no classes"),
    ("softmax_cross_entropy --input 4x5 --type f8", "f8"),
    ("topk --input 4x5", "--k"),
    ("topk --input 4x5 --k 6", "k is 6"),
    ("topk --input 4x5 --k -1", "-1"),
    ("topk --input 4x5 --k 1 --axis 2", "axis is 2"),
    ("topk --input 4x5 --k 1 --order best", "best"),
    ("topk --input 4x5 --k 1 --outputs none", "none"),
    ("topk --input 4x5 --k 1 --type f8", "f8"),
    ("tensor_product --pairs 4 --c 3 --m 3", "--rows"),
    (SPARSE + " --mode fast", "fast"),
    (SPARSE + " --groups 2", "3 channels, which 2 groups"),
    (SPARSE + " --groups 0", "0 groups"),
    ("tensor_product --rows 4 --pairs -7 --c 3 --m 3", "-7"),
    (SPARSE + " --type s8", "s8"),
    (CONV + " --type f8", "f8"),
    (CONV + " --layout hwc", "hwc"),
    ("conv2d --input 1x8x8x16 --weight 8x3x3x15", "15"),
    ("conv2d --input 1x8x8x16 --weight 8x3x3x5 --groups 3", "3"),
]


class Explain(ProgramTest):
    def choices(self, flags):
        return json.loads(self.run_line(f"explain {flags} --json", errors=False))

    def each_choice(self, limit=""):
        """Of the shape cases: which it is, and what is told of a target."""
        for family, layout, flags in CASES:
            for choice in self.choices(flags + limit):
                target = choice["target"]
                yield {"family": family, "layout": layout, "limit": limit, "target": target}, choice

    def test_gpu_rows_use_at_most_48_kib_and_no_stack(self):
        targets = collections.Counter()
        for case, choice in self.each_choice():
            with self.subTest(**case):
                targets[choice["target"]] += 1
                self.assertIsInstance(choice["row"], str)
                self.assertIn(choice["shared_bytes"], range(48 * 1024 + 1))
                self.assertIn("registers", choice)
                self.assertIn(choice["stack_bytes"], (0, None))
                for rejected in choice["rejected"]:
                    self.assertIsInstance(rejected["row"], str)
                    self.assertTrue(rejected["reason"])
        self.assertEqual(targets, {device: len(CASES) for device in built_devices()})

    def test_every_row_is_chosen_or_rejected(self):
        for case, choice in self.each_choice():
            with self.subTest(**case):
                # Where no row of nchw takes a gradient, a CPU's rows of nhwc compute it of copies.
                copied = case["layout"] == "nchw" and "_nhwc_" in choice["kernel"]
                layouts = ("nhwc", "nchw") if copied else (case["layout"],)
                rows = [row["row"] for row in rows_of(case["family"])
                        if (row["type"], row["device"]) == ("f32", case["target"])
                        and row["layout"] in layouts]
                told = [choice["row"], *(rejected["row"] for rejected in choice["rejected"])]
                self.assertEqual(sorted(told), sorted(rows))

    def test_grid_comes_from_the_launch(self):
        for case, choice in self.each_choice():
            with self.subTest(**case):
                if choice["target"] != "cuda":
                    continue
                self.assertIsInstance(choice["grid"], list)
                launch = choice["launches"][0]
                self.assertGreater(math.prod(launch["grid"]), 1)
                self.assertLessEqual(launch["dynamic_shared_bytes"], choice["shared_bytes"])
                self.assertIn(choice["threads"], (math.prod(launch["block"]), None))

    def test_ladder_ends_in_a_row_that_fits(self):
        """Every rung is a row of the table that fits or does not, and the first that fits is taken,
        whatever the limit is."""
        for limit in (0, 4224, 16384, 49152, 232448):
            for case, choice in self.each_choice(f" --shared-limit {limit}"):
                with self.subTest(**case):
                    ladder, rung = choice["ladder"], choice["rung"]
                    if choice["target"] == "cpu":
                        self.assertEqual((ladder, rung), ([], None))
                        continue
                    has = choice["limits"]["shared_bytes_opt_in"]
                    self.assertLessEqual(has, limit)
                    self.assertEqual(ladder[rung]["row"], choice["row"])
                    for entry in ladder:
                        self.assertLessEqual(entry["fits"], entry["shared_bytes"] <= has)
                        self.assertEqual(entry["fits"], entry["shortage"] is None)
                    self.assertEqual([entry["fits"]
                                     for entry in ladder[:rung + 1]], [False] * rung + [True])

    def test_text_names_every_target(self):
        self.expect("explain " + shape_case("nchw"),
     *(f"\n{device} (" for device in built_devices()))

    def test_shows_either_formulation(self):
        """Both ways to write the graph stay within the same budget."""
        shared = []
        for formulation in ("flip_expand", "expand_flip"):
            flags = f"{gradient_case('nhwc')} --formulation {formulation}"
            choices = self.choices(flags)
            for choice in choices:
                self.assertTrue(choice["algorithm"].startswith(formulation), choice)
                self.assertLessEqual(choice["shared_bytes"], 48 * 1024)
            shared.append([choice["shared_bytes"] for choice in choices])
            self.expect("explain " + flags, "written as " + formulation)
        self.assertEqual(shared[0], shared[1])
        self.assertEqual(len(shared[0]), len(built_devices()))

    def test_text_shows_the_ladder(self):
        line = "explain " + shape_case("nhwc")
        text = self.expect(
            line + " --shared-limit 16384", "3x3: shared 22784, registers",
            "too large: needs 22784 bytes of shared memory, the device has 16384\n",
            "fits, taken\n")
        self.assertEqual(self.run_line(line, HK_SHARED_LIMIT="16384"), text)

    def test_padding_and_stride_may_be_written_in_several_ways(self):
        shapes = "conv2d --input 1x20x24x16 --weight 8x3x3x16 "
        one = self.choices(shapes + "--padding 1 --stride 2")
        self.assertEqual(one, self.choices(shapes + "--padding 1x1 --stride 2x2"))
        self.assertEqual(one, self.choices(shapes + "--padding 1,1,1,1 --stride 2"))
        self.expect(f"explain {shapes}--padding 0,2,1,0 --dilation 2x1", "output [1, 18, 23, 8]")

    def test_counts_what_cudas_row_executes(self):
        """On the device in software, whatever is in LD_LIBRARY_PATH: products by hand, and bounds."""
        if "cuda" not in built_devices():
            self.skipTest("built without CUDA")
        line = "conv2d --input 1x16x16x16 --weight 64x3x3x16 --padding 1 --count"
        products = 16 * 16 * 16 * 64 * 9
        for choice in self.choices(line):
            counts = choice["counts"]
            if choice["target"] != "cuda":
                self.assertIsNone(counts)
                continue
            self.assertEqual(choice["device"], "software sm_90")
            kernel, = counts["kernels"]
            self.assertEqual(kernel["blocks"], math.prod(choice["grid"]))
            self.assertGreaterEqual(kernel["main_loop"]["threads"]["multiply-add"], products)
            self.assertGreater(counts["share_of_multiply_adds"], 0.5)
            self.assertEqual(counts["least_bytes"], 4 * (16 * 16 * (16 + 64) + 64 * 16 * 9))
            self.assertEqual(counts["distinct_bytes"], counts["least_bytes"])
            for model in kernel["models"]:
                self.assertEqual(model["seconds"], max(model["bounds"].values()))
                self.assertEqual(model["bounds"][model["bound_by"]], model["seconds"])
        self.expect("explain " + line, "  main loop  from line ", "  model      H100 SXM: at least ",
                    "1.00 times the problem's 0.12 MB", "nothing was measured")

    def test_says_how_to_make_the_device_that_counts(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "explain").hardlink_to(BUILD / "bin" / "explain")
        self.expect("bin/explain topk --input 4x50 --k 5 --count", "software-cuda/libcuda.so.1: ",
                    "--target software_cuda makes it", status=1)

    def test_bad_flags_are_refused_with_their_value(self):
        for flags, told in MISTAKES:
            with self.subTest(flags):
                self.expect("explain " + flags, told, status=2)

    def test_topk_shows_its_row_and_the_regions_of_all(self):
        for flags in ("--k 50", "--k 32000 --outputs indices",
                      "--k 64 --axis -2 --order smallest --type bf16"):
            choices = self.choices(f"topk --input 64x32000 {flags}")
            self.assertIn("cpu", {choice["target"] for choice in choices})
            for choice in choices:
                with self.subTest(flags, target=choice["target"]):
                    self.assertTrue(choice["family"].startswith("topk"))
                    told = {choice["row"], *(rejected["row"] for rejected in choice["rejected"])}
                    # The row that is taken has a region; regions are of rows that were told.
                    regions = {region["row"] for region in choice["regions"]}
                    self.assertIn(choice["row"], regions)
                    self.assertLessEqual(regions, told)
                    self.assertTrue(all(region["conditions"] for region in choice["regions"]))
                    self.assertEqual(choice["regions"][-1]["conditions"], "all others")
        self.expect("explain topk --input 64x32000 --k 50", "  region     ",
                    "topk f32: input [64, 32000], values [64, 50], indices [64, 50]\n")

    def test_elementwise_tells_rows(self):
        for flags, row in {
                "activate --input 4x5": "adjacent",
                "activate --input 4x5 --elements apart --type bf16": "any",
                "activate_backward --input 4x5 --elements adjacent": "adjacent",
                "sgd --input 1000": "momentum_adjacent",
                "sgd --input 1000 --momentum 0 --elements apart": "plain"}.items():
            rows = [choice["row"] for choice in self.choices(flags) if choice["target"] == "cpu"]
            self.assertEqual(rows, [row], flags)

    def test_tells_the_problem_first(self):
        for flags, line in {
                "pool2d --input 1x112x112x64 --kernel 3 --padding 1":
                "pool2d f32 nhwc: input [1, 112, 112, 64], output [1, 56, 56, 64]; kernel 3, "
                "padding 1",
                "softmax_cross_entropy --input 64x10":
                "softmax_cross_entropy f32: labels [64], loss [64], logits [64, 10], gradient "
                "[64, 10]"}.items():
            self.assertEqual(self.run_line("explain " + flags).split("\n")[0], line)

    def test_tensor_product_tells_rows_and_arithmetic(self):
        arithmetic = self.choices(CLOUD)[0]["arithmetic"]
        self.assertEqual(arithmetic["operations"], 2 * 27 * 30000 * 64 * 64)
        self.assertEqual(arithmetic["gathered_bytes"], 27 * 30000 * 64 * 4)
        grouped = self.choices(CLOUD + " --groups 4")[0]["arithmetic"]
        self.assertEqual(grouped["operations"], 2 * 27 * 30000 * 64 * 64 / 4)
        self.expect(f"explain {CLOUD} --mode atomic",
                    "tensor_product f32: input [125000, 64], weight [27, 64, 64], output "
                    "[125000, 64]; ",
                    "pairs 30000, mode atomic\n6.636 GFLOP; ", "  row        wide4 (",
                    "  region     wide2: vectors 2\n", "  not wide1: ")

    def test_atomic_tensor_product_stages_512_floats(self):
        """Of the weight, 32 channels of the output by 16 of the input; then none."""
        for choice in self.choices(CLOUD + " --mode atomic"):
            if choice["target"] == "cpu":
                continue
            self.assertEqual(choice["family"], "tensor_product_atomic")
            self.assertEqual(choice["shared_bytes"], 2048)
            self.assertGreaterEqual(len(choice["ladder"]), 2)
            self.assertEqual(choice["ladder"][-1]["shared_bytes"], 0)
            self.assertEqual(choice["rung"], 0)
            self.assertIn(choice["stack_bytes"], (0, None))


if __name__ == "__main__":
    program_runs.main()
