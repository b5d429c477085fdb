"""The program bench: its flags, and what it writes."""

import collections
import json
import sys

import program_runs
from program_runs import SOURCE, ProgramTest

REPORT = f"'{sys.executable}' '{SOURCE / 'apps' / 'bench' / 'report.py'}'"
QUICK = "--seconds 0.01"
BAD_FLAGS = {
    "--colour red": "--colour",
    "--family conv9d": "conv9d",
    "--list resnet51": "resnet51",
    "--list smoke --type f8": "f8",
    "--list smoke --family conv2d --type s32": "s32",
    "--list smoke --family conv2d --type u8": "u8",
    "--list smoke --type u8 --output-type u16": "u16",
    "--list smoke --output-type u8": "u8",
    "--list smoke --family quantized_conv2d --type f32 --output-type s32": "s32",
    "--list smoke --layout hwc": "hwc",
    "--family topk --layout nchw": "nchw",
    "--family topk --row 9x9": "9x9",
    "--family topk --list resnet50": "resnet50",
    "--family tensor_product --batch 3": "--batch is 3",
    "--family tensor_product --row 9x9": "9x9",
    "--family tensor_product --type s8": "s8",
    "--family kernel_map --batch 3": "--batch is 3",
    "--family kernel_map --row any": "--row is any",
    "--list smoke --device gpu": "gpu",
    "--list smoke --device cuda:77": "cuda:77",
    "--list smoke --threads 0": "threads",
    "--list smoke --row 9x9": "9x9",
    "--list smoke --filter nothing_like_it": "nothing_like_it",
}


class BenchTest(ProgramTest):
    def results_of(self, flags, list_="smoke", file="smoke.json"):
        self.run_line(f"bench --list {list_} {QUICK} --json {file} {flags}")
        return json.loads((self.folder / file).read_text())


class Bench(BenchTest):
    def test_devices(self):
        self.assertTrue(self.run_line("bench --devices").startswith("cpu "))

    def test_writes_one_object_a_case(self):
        results = self.results_of("")
        self.assertEqual(len(results), 4)
        expected = {"family": "conv2d", "list": "smoke", "type": "f32", "output_type": "f32",
                    "unit": "GFLOP/s", "layout": "nhwc", "device": "cpu", "threads": 1,
                    "failure": None}
        for r in results:
            self.assertEqual({name: r[name] for name in expected}, expected)
            self.assertTrue(r["case"] and r["kind"])
            self.assertIn(" FMA a cycle at ", r["abilities"])
            self.assertTrue(r["kernel"].startswith("conv2d_"))
            self.assertGreater(r["ns"], 0)
            self.assertTrue(0 < r["peak_fraction"] < 2, r)
            self.assertTrue(0 <= r["max_error"] < 1e-5, r)
            for ns in r["peers"].values():
                self.assertGreater(ns, 0)
            if r["peers"]:
                self.assertAlmostEqual(r["ratio"], min(r["peers"].values()) / r["ns"], places=12)
            else:
                self.assertIsNone(r["ratio"])

    def test_all_lists_are_summed_up_each_shape_once(self):
        self.write("more.csv", "input,weight,groups,passes\n"
                               "1x8x8x16,32x1x1x16,1,bwd_data|bwd_weight\n"
                               "1x7x7x8,8x5x5x1,8,bwd_weight\n1x7x7x4,4x1x1x4,1,bwd_data\n")
        text = self.run_line(
            f"bench --family conv2d_backward_weight --no-peers {QUICK} --list smoke,more.csv")
        self.assertIn("all lists: 5 cases", text)
        self.assertIn("depthwise, larger: 1 cases", text[text.index("all lists"):])
        self.assertNotIn("4-4_1x1", text)

    def test_filter_batch_row_and_file_narrow_the_run(self):
        self.assertEqual(len(self.results_of("--no-peers --filter depthwise")), 1)
        batch = self.results_of("--no-peers --batch 3 --filter 1x1")
        self.assertEqual(batch[0]["shapes"]["input"], [3, 8, 8, 16])
        for r in self.results_of("--no-peers --row any"):
            self.assertEqual(r["row"], "any")
        self.write("own.csv", "input,weight\n1x9x9x6,4x1x1x6\n")
        self.expect(f"bench --no-peers {QUICK} --list own.csv", "9x9_6-4_1x1")

    def test_report_has_every_list_and_case(self):
        self.write("list.csv", "input,weight\n1x8x8x16,32x1x1x16\n1x8x8x4,8x1x1x4\n")
        results = [*self.results_of("", file="conv2d.json"),
                   *self.results_of("--type u8 --output-type f32", file="bytes.json"),
                   *self.results_of("--family conv2d_backward_data", "smoke,list.csv",
                                     "gradients.json")]
        for family in ("topk", "tensor_product", "kernel_map"):
            results += self.results_of(f"--family {family}", file=f"{family}.json")
        files = ("conv2d.json bytes.json gradients.json topk.json tensor_product.json "
                 "kernel_map.json")
        self.expect(f"{REPORT} {files}", "| conv2d f32 nhwc | smoke | 4 |",
                    "| quantized_conv2d u8 to f32 nhwc | smoke | 4 |",
                    "| conv2d_backward_data f32 nhwc | smoke | 4 |", "list.csv | 2 |",
                    "| topk f32 | smoke | 9 |", "| tensor_product f32 | smoke | 6 |",
                    "| kernel_map s32 | smoke | 4 |", "GOP/s", "hk kept maps")
        # Every case is in the file of this CPU.
        docs = self.folder / "repository" / "docs"
        docs.mkdir(parents=True)
        self.write("repository/README.md", "A README without a headline\n")
        self.write("repository/docs/performance.md", "")
        self.run_line(f"{REPORT} --repository repository {files}")
        cases = "".join(file.read_text() for file in (docs / "performance").iterdir())
        for r in results:
            self.assertIn(f",{r['case']},", cases)

    def test_bad_flags_are_refused_with_their_value(self):
        for flags, told in BAD_FLAGS.items():
            with self.subTest(flags):
                self.expect("bench " + flags, told, status=2)


class AgainstGeneral(BenchTest):
    def test_takes_least_middle_and_most_of_a_row(self):
        self.write("widths.csv", "input,weight\n" + "".join(
            f"1x8x{width}x32,32x1x1x32\n" for width in (20, 9, 30, 12, 11)))
        self.expect(f"bench --against-general {QUICK} --list widths.csv --json rows.json",
                    "on the mean: ")
        rows = json.loads((self.folder / "rows.json").read_text())
        self.assertEqual([r["case"] for r in rows],
                         ["8x9_32-32_1x1", "8x12_32-32_1x1", "8x30_32-32_1x1"])
        for r in rows:
            self.assertTrue(r["abilities"])

    def test_refuses_what_has_no_later_row(self):
        for flags, told in {"--family kernel_map": "kernel_map", "--row 9x9": "9x9",
                            "--filter nothing_like_it": "no case of these lists"}.items():
            with self.subTest(flags):
                self.expect(f"bench --against-general {QUICK} {flags}", told, status=2)


class Families(BenchTest):
    """What is special to one."""

    def test_lines_are_run_in_every_variant(self):
        for family, kinds in {
                "topk": {"both": 3, "values": 3, "indices": 3},
                "softmax_cross_entropy": {"both": 2, "in_place": 2, "loss": 2},
                "activate": {"relu": 2, "silu": 2, "gelu": 2},
                "sgd": {"momentum": 2, "plain": 2},
                "tensor_product": {"submanifold": 4, "strided": 2}}.items():
            results = self.results_of(f"--family {family}")
            self.assertEqual(collections.Counter(r["kind"] for r in results), kinds)

    def test_topk_compares_with_both_and_one_pass(self):
        for r in self.results_of("--family topk"):
            self.assertGreater(r["other_layouts"]["one pass"], 0)
            both = r["kind"] == "both"
            self.assertEqual("hk both" in r["other_layouts"], not both)
            # ONNX Runtime makes both: it counts where both are asked for.
            self.assertNotIn("hk both", r["peers"])
            if not both:
                self.assertIsNone(r["ratio"])

    def test_batch_is_the_first_extent(self):
        rows = self.results_of("--family topk --no-peers --batch 2 --filter k300")
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[0]["case"], "2x300_k300")
        self.assertEqual(rows[0]["shapes"]["input"], [2, 300])
        for r in self.results_of("--family softmax_cross_entropy --no-peers --batch 4"):
            self.assertEqual(r["shapes"]["logits"][0], 4)
        for r in self.results_of("--family pool2d --no-peers --batch 2 --row average"):
            self.assertEqual(r["shapes"]["input"][0], 2)

    def test_sparse_families_are_compared_with_numpy(self):
        for family in ("tensor_product", "tensor_product_backward_data",
                       "tensor_product_backward_weight"):
            for type_ in ("f32", "bf16", "f64"):
                for r in self.results_of(f"--family {family} --type {type_}"):
                    with self.subTest(r=r):
                        self.assertEqual(r["peak"] is None, type_ == "f64")
                        self.assertEqual(r["max_error"], 0)
                        self.assertGreater(r["other_layouts"]["hk unchecked"], 0)
                        self.assertGreater(r["other_layouts"]["hk kept maps"], 0)
                        # NumPy is in requirements.txt; it has no bf16.
                        self.assertEqual("NumPy" in r["peers"], type_ != "bf16")
                        self.assertEqual("NumPy blocked" in r["peers"], type_ != "bf16")
        maps = self.results_of("--family kernel_map")
        self.assertEqual(len(maps), 4)
        for r in maps:
            voxels = r["shapes"]["coordinates"][0]
            self.assertAlmostEqual(r["rate"] / (1e3 * voxels / r["ns"]), 1, places=12)
            self.assertAlmostEqual(r["ratio"] / (r["peers"]["NumPy"] / r["ns"]), 1, places=12)
        self.assertEqual(maps[1]["case"], "2x2x2_s2")

    def test_gradients_of_convolutions_are_exact_in_f32(self):
        for made, family in (("input", "data"), ("weight", "weight")):
            for r in self.results_of(f"--family conv2d_backward_{family}"):
                self.assertEqual(r["max_error"], 0)
                self.assertLessEqual({"output_gradient", f"{made}_gradient"}, set(r["shapes"]))
                self.assertEqual(r["other_layouts"], {})  # both of oneDNN's count

    def test_quantised_weights_are_compared_with_our_own_convolution(self):
        for r in self.results_of("--family quantized_conv2d --type f32"):
            self.assertGreater(r["peers"]["hk f32"], 0)

    def test_bytes_of_pooling_are_those_of_the_call(self):
        """Of the maximum's gradient four tensors, of the mean's two."""
        for family, elements in (("pool2d", 630 + 200), ("pool2d_backward", 2 * (630 + 200))):
            r = self.results_of(f"--family {family} --layout nchw")[0]
            self.assertEqual(r["case"], "max_n2_9x7_5_3x3_s2")
            self.assertEqual(r["shapes"]["output"], [2, 5, 5, 4])
            self.assertAlmostEqual(r["rate"] * r["ns"], elements * 4, delta=1e-6 * elements)

    def test_clouds_are_described(self):
        """Of what the cases run on, their names say nothing."""
        self.expect(f"bench --family tensor_product --list smoke --no-peers {QUICK} --filter 3x3x3",
                    "pairs over 27 offsets")


if __name__ == "__main__":
    program_runs.main()
