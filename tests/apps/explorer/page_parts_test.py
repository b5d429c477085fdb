"""Parts of the explorer's pages: page_parts_test.py SOURCES KERNELS

The algorithm, schedule and equation of every row are found; counts in assembly are right; a diff
marks the lines that differ.
"""

import pathlib
import sys
import unittest

ROOT, KERNELS = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(ROOT / "apps" / "explorer"))

import assembly  # noqa: E402
import difference  # noqa: E402
import templates  # noqa: E402
from page import offline  # noqa: E402
from source import Sources  # noqa: E402

X86 = """\t.text
kernel:                                 # @kernel
\tsubq\t$320, %rsp
\tmovq\t%rax, 8(%rsp)                   # 8-byte Spill
.LBB0_1:                                # %"for x"
                                        # =>This Loop Header: Depth=1
.LBB0_2:                                # %"for c"
                                        #   Parent Loop BB0_1 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
\tmovq\t8(%rsp), %rax                   # 8-byte Reload
\tvbroadcastss\t(%rsi,%r8), %zmm31
\tvfmadd231ps\t%zmm30, %zmm31, %zmm28     # zmm28 = (zmm31 * zmm30) + zmm28
\tvfmadd231ps\t64(%rdx), %zmm31, %zmm27   # zmm27 = (zmm31 * mem) + zmm27
\tvmovaps\t%zmm1, (%rdi)
\tjne\t.LBB0_2
# %bb.3:
\tjne\t.LBB0_1
\tretq
.Lfunc_end0:
"""
PTX = """//
.version 7.0
.visible .entry gpu_kernel(
\t.param .u64 p
)
{
\tbar.sync \t0;
$L__BB0_3:                              // %for
                                        // =>This Inner Loop Header: Depth=1
\tld.shared.f32 \t%f1, [%r1];
\tfma.rn.f32 \t%f2, %f1, %f1, %f2;
\tmad.lo.s32 \t%r1, %r2, 4, %r1;
\t@%p1 bra \t$L__BB0_3;
\tst.global.f32 \t[%rd1], %f2;
\tret;
                                        // -- End function
}
"""


class PartsOfPages(unittest.TestCase):
    def test_every_row_has_its_sources(self):
        sources, seen = Sources(ROOT), set()
        for path in sorted(KERNELS.glob("*/rows.txt")):
            for line in path.read_text().splitlines():
                _, family, _, algorithm, schedule, _, _, _, device = line.split("|")[:9]
                seen.add((family, algorithm, schedule, "cpu" if device == "cpu" else "gpu"))
        self.assertGreater(len(seen), 20)
        for family, algorithm, schedule, device in sorted(seen):
            with self.subTest(f"{family} {algorithm}/{schedule}"):
                function, header = sources.algorithm(family, algorithm)
                self.assertIn("return", function.code)
                equation = sources.equation(family, header)
                self.assertTrue(equation and equation[0].comment)
                applied = sources.schedule(family, algorithm, schedule)
                self.assertTrue(applied.path.startswith("schedules/"))
                self.assertIn("stages", applied.code)
                self.assertIn(f"/{device}/", applied.path)

    def test_names_lead_to_their_functions(self):
        sources = Sources(ROOT)
        for family, algorithm, function in (
                ("conv2d", "dot", "conv2d_dot("), ("sgd", "plain", "sgd_plain("),
                ("pool2d_backward", "average", "pool2d_backward_average("),
                ("conv2d_backward_data", "packed", "conv2d_packed("),
                ("topk_unpack", "indices", "topk_unpack_indices(")):
            self.assertIn(function, sources.algorithm(family, algorithm)[0].code.split("\n")[0])
        found = sources.schedule("conv2d", "packed", "grouped")
        self.assertEqual(found.path, "schedules/conv2d/cpu/grouped.cpp")
        self.assertTrue(found.code.startswith("void grouped("))
        lines = (ROOT / found.path).read_text().splitlines()
        self.assertTrue(lines[found.line - 1].startswith("//"))
        self.assertIsNone(sources.schedule("conv2d", "packed", "none"))

    def test_counts_of_host_code(self):
        functions, loops = assembly.read(X86)
        self.assertEqual([f.name for f in functions], ["kernel"])
        self.assertEqual(functions[0].counts["stack bytes"], 320)
        self.assertEqual(functions[0].counts["spills"], 1)
        self.assertEqual(functions[0].counts["instructions"], 10)
        self.assertEqual(len(loops), 1)
        self.assertEqual((loops[0].line, loops[0].depth), (7, 2))
        self.assertEqual(loops[0].counts, {"instructions": 6, "multiply-adds": 2, "loads": 3,
                                           "stores": 1, "spills": 0, "reloads": 1})

    def test_counts_of_device_code(self):
        functions, loops = assembly.read(PTX)
        self.assertEqual([f.name for f in functions], ["gpu_kernel"])
        self.assertEqual(functions[0].counts["barriers"], 1)
        self.assertEqual(functions[0].counts["global stores"], 1)
        self.assertEqual(len(loops), 1)
        self.assertEqual(loops[0].counts["multiply-adds"], 1)
        self.assertEqual(loops[0].counts["shared loads"], 1)
        self.assertEqual(loops[0].counts["barriers"], 0)

    def test_a_diff_marks_lines(self):
        left = [f"line of {c}" for c in "abcdefghijklmnop"]
        right = left[:8] + ["another <line>"] + left[9:]
        found = difference.Difference(left, right)
        self.assertEqual((found.removed, found.added), (1, 1))
        body = str(templates.PAGES.get_template("lines.html").module.lines(found))
        self.assertIn('<td class="removed">line of i</td>', body)
        self.assertIn('<td class="added">another &lt;line&gt;</td>', body)
        self.assertIn("5 equal lines", body)
        self.assertNotIn(">line of a<", body)

    def test_a_diff_passes_over_numbers_of_temporaries(self):
        key = difference.comparable
        self.assertEqual(key("let t17 = t16 + 4"), key("let t21 = t20 + 4"))
        self.assertNotEqual(key("let t17 = t16 + 4"), key("let t17 = t16 + 8"))
        self.assertEqual(key("\tjne\t.LBB0_2"), key("\tjne\t.LBB0_31"))
        self.assertNotEqual(key("\taddq\t$8, %rsi"), key("\taddq\t$16, %rsi"))

    def test_halides_page_loads_nothing(self):
        page = ("<script src='http://code.jquery.com/jquery-1.10.2.js'></script>"
                '<script type="module" name="hl">import x from "https://cdn";</script>'
                "<p>kept</p><script>kept()</script>")
        self.assertEqual(offline(page), "<p>kept</p><script>kept()</script>")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
