"""The pages of explorer show and diff, in a browser without a network."""

import html
import json
import pathlib
import re

import program_runs
from program_runs import BUILD, PYTHON, ProgramTest, built_devices

BROWSER = f"'{PYTHON}' '{pathlib.Path(__file__).with_name('browser.py')}'"
SECTIONS = "--id overview --id algorithm --id schedule --id conceptual --id lowered --id code "


class PageTest(ProgramTest):
    def need(self, *devices):
        if missing := set(devices) - built_devices():
            self.skipTest(f"this build has no kernels for {', '.join(missing)}")

    def page(self, arguments):
        """The text of the page that the explorer writes."""
        line = f"explorer {arguments} --output page.html"
        self.assertEqual(self.run_line(line), "page.html\n")
        return (self.folder / "page.html").read_text()

    def open(self, wanted, page="page.html"):
        """In a browser nothing is wrong; `wanted`: flags of browser.py."""
        self.run_line(f"{BROWSER} {page} {wanted}")


class Show(PageTest):
    def test_page_of_a_cpu_kernel(self):
        self.page("show conv2d/staged")
        self.open(SECTIONS + "--drawn equation --drawn resources --drawn knobs --drawn counts "
                  "--text 'conv2d_staged_f32_nhwc_cpu' "
                  "--text 'sum over c, s, r of weight(c, s, r, k, g)' "
                  "--text 'vector registers' --text 'multiply-adds' "
                  "--text 'window<=1048576' "
                  "--at algorithm --drawn algorithm --text 'Conv2d conv2d_packed(' "
                  "--at schedule --drawn schedule --text 'void broadcast(Conv2d &stages' "
                  "--text 'PackedTile choose(const Conv2dContext &context)' "
                  "--at conceptual --drawn conceptual --text 'produce sum' "
                  "--at lowered --drawn lowered-page --text 'func conv2d_staged_f32_nhwc_cpu(' "
                  "--at code --drawn code --text '.globl conv2d_staged_f32_nhwc_cpu' "
                  "--at line-40 --drawn code --drawn line-40")
        self.open("--drawn code --drawn line-40 --dark", "page.html#line-40")

    def test_page_of_an_opencl_kernel(self):
        self.need("opencl")
        self.page("show conv2d/3x3 --target opencl --type f16 --layout nchw")
        self.open(SECTIONS + "--drawn resources --text 'conv2d_3x3_f16_nchw_opencl' "
                  "--text 'shared bytes a block, of the budget' --text '22784' "
                  "--at code --text '__kernel void'")

    def test_page_of_a_cuda_kernel(self):
        self.need("cuda")
        self.page("show conv2d/any --target cuda")
        self.open(SECTIONS + "--drawn resources --text 'shared bytes a block, of 48 KiB' "
                  "--text 'threads a block 256' --text 'shared loads' "
                  "--at code --text '.visible .entry' --text 'fma.rn.f32' "
                  "--at conceptual --text 'in GPUShared' "
                  "--at lowered --drawn lowered-page --text 'halide_cuda_run'")

    def test_shows_what_a_cuda_kernel_executes(self):
        self.need("cuda")
        small = "--case input=1x8x8x16,weight=16x3x3x16,padding=1"
        self.page(f"show conv2d/any --target cuda --count {small} --knobs tile_c:4")
        self.open("--drawn executed --text 'conv2d' --text 'wavefronts of shared memory over the "
                  "least' --text 'a model, not a time' --text 'H100 SXM, bound by'")
        self.assertNotIn('id="executed"', self.page("show conv2d/any --target cuda"))
        self.expect("explorer show conv2d/staged --target cpu --count", "is no CUDA kernel", status=2)
        self.expect("explorer show conv2d/any --target cuda --count --case 9x9",
                    'there is no case "9x9"', status=2)

    def test_says_who_set_a_knob(self):
        self.page("show conv2d/staged --knobs tile_x:5")
        self.open("--text 'tile_x 5 you' --text 'tile_y 1 chooser'")
        self.page("show conv2d/rgb --target cpu")
        self.open("--text 'tile_x 8 row'")

    def test_marks_what_is_over_budget(self):
        """Slices of twice as many channels take twice the shared bytes."""
        self.need("opencl")
        self.assertIn('class="over"', self.page(
            "show conv2d/3x3 --target opencl --knobs tile_c:16"))
        self.open("--text '200 % 45568 22784'")

    def test_opens_the_page(self):
        self.write("xdg-open", '#!/bin/sh\necho "opened $1"\n')
        (self.folder / "xdg-open").chmod(0o700)
        page = self.folder / "sgd_plain_f32_cpu.html"
        self.expect('PATH="$PWD:$PATH"; explorer show sgd_plain_f32_cpu --open', f"opened {page}\n")
        self.assertTrue(page.exists())

    def test_the_command_repeats_it(self):
        page = self.page("show sgd_plain_f32_cpu")
        command = html.unescape(re.search(r'id="command">(.*?)</pre>', page, re.S)[1])
        self.run_line(f"mkdir repeated; cd repeated; {command}")
        for extension in (".s", ".stmt.html"):
            self.assertTrue((self.folder / "repeated" / ("sgd_plain_f32_cpu" + extension)).exists())


class Diff(PageTest):
    def test_marks_what_differs(self):
        # Of AVX-512 a block of 16 filters is one vector, of AVX2 two.
        wide = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
        registers = "6 of 32 8 of 32" if wide else "11 of 16 15 of 16"
        page = self.page("diff conv2d/staged conv2d/staged --type f16 --knobs-b tile_x:6")
        self.open("--id schedule --drawn facts --text 'knob tile_x 4 6' "
                  f"--text 'estimated vector registers {registers}' "
                  "--at schedule --text 'Schedule, the same on both sides' "
                  "--at conceptual --text 'equal lines' "
                  "--at code --text 'equal lines' --text 'lines differ on the left'")
        self.assertIn('<tr class="different"><td>knob tile_x</td>', page)
        self.assertNotIn('<tr class="different"><td>knob tile_y</td>', page)

    def test_of_two_rows(self):
        self.page("diff conv2d/staged conv2d/3x3_dot")
        self.open("--drawn facts --text 'algorithm packed dot' "
                  "--at schedule --text 'schedules/conv2d/cpu/broadcast.cpp' "
                  "--text 'schedules/conv2d/cpu/dot.cpp' --text 'lines differ on the left'")

    def test_of_two_devices(self):
        self.need("cuda", "opencl")
        self.page("diff conv2d_any_f32_nhwc_cuda conv2d_any_f32_nhwc_opencl")
        report = BUILD / "kernels" / "conv2d" / "conv2d_any_f32_nhwc_cuda.json"
        registers = json.loads(report.read_text())["registers"]
        self.open(f"--text 'device cuda opencl' --text 'registers {registers} unknown' "
                  "--text 'PTX and OpenCL'")

    def test_of_a_kernel_with_itself_is_equal(self):
        page = self.page("diff sgd_plain_f32_cpu sgd_plain_f32_cpu")
        self.assertNotIn("different", page.split("</style>")[1])
        self.open("--at conceptual --text 'Equal.' --at code --text 'Equal.'")


class Browser(PageTest):
    """The browser's script finds faults."""

    def open_body(self, body, fault=None):
        self.write("page.html", "<!DOCTYPE html><link rel=icon href='data:,'><body>" + body)
        self.expect(f"{BROWSER} page.html --patience 0 --drawn made --text 'two words'",
                    fault or "", status=1 if fault else 0)

    def test_passes_what_is_there(self):
        self.open_body("<script>document.body.innerHTML = "
                       "'<p id=made>two\\n <b>words</b>'</script>")
        self.open_body("<p id=made>one <iframe srcdoc='<p>two words'></iframe>")

    def test_finds_faults(self):
        fine = "<p id=made>two words</p>"
        for body, fault in (
                ("<p>two words", "no element has the id made"),
                ("<p>two words<p id=made hidden>", "made is not drawn"),
                ("<p id=made>two <i hidden>words</i>", 'no text "two words"'),
                (fine + "<script>missing()</script>", "uncaught ReferenceError"),
                (fine + "<script>console.error('broken')</script>", "broken"),
                (fine + "<iframe srcdoc='<script>console.error(1)</script>'></iframe>",
                 "the console: 1"),
                (fine + "<script src='https://example.org/a.js'></script>",
                 "asks for https://example.org"),
                (fine + "<img src=picture.png>", "picture.png"),
                ("<p>two words<img id=made width=9 height=9 src='data:image/png;base64,AAAA'>",
                 "not drawn")):
            with self.subTest(fault):
                self.open_body(body, fault)


if __name__ == "__main__":
    program_runs.main()
