"""The picture of a memory trace: what it prints, and that what it names is there to be seen."""

import json

import program_runs
from PIL import Image
from program_runs import PYTHON, SOURCE, ProgramTest

DRAW = f"'{PYTHON}' '{SOURCE}/apps/memory/draw_trace.py'"


def steps():
    """Five steps on the CPU: 1 MB of parameters, and 2 MB (in the second step 3) of the pass; and a
    pool that hands nothing out."""
    events = [[0, 2, 0, 4000000, 4000000], [1, 0, 0, 1, 1000000, 1000064, 1]]
    for step in range(5):
        us, size = 1000 * (step + 1), 3000000 if step == 1 else 2000000
        events += [[us, 6, step], [us + 10, 0, 0, step + 2, size, 3000064, 2],
                   [us + 900, 1, 0, step + 2]]
    return json.dumps({"format": "hk memory trace 1", "complete": True, "reserved": [0, 512],
                       "labels": ["", "parameters", "pass"], "pools": ["cpu", "opencl:0"],
                       "marks": [f"step {step + 1}" for step in range(5)], "events": events})


class DrawTrace(ProgramTest):
    def test_shows_labels_reserved_and_the_peak(self):
        self.write("steps.json", steps())
        self.assertEqual(
            self.run_line(DRAW + " steps.json steps.png"),
            "cpu: peak 4 MB in use, step 2 (parameters 1 MB, pass 3 MB); 4 MB reserved, "
            "1.000 of it\n")
        image = Image.open(self.folder / "steps.png").convert("RGB")
        self.assertGreater(image.width, 1000)
        self.assertGreater(image.height, 1000)  # two panels
        count = dict((colour, times) for times, colour in image.getcolors(1 << 24))
        self.assertGreater(count[0x1f, 0x6f, 0xb4], 50000)  # parameters
        self.assertGreater(count[0xd9, 0x73, 0x0d], count[0x1f, 0x6f, 0xb4])  # the pass
        self.assertGreater(count[0x33, 0x38, 0x40], 1000)  # reserved

    def test_of_the_training_program(self):
        trace = SOURCE / "apps" / "memory" / "train.json.gz"
        text = self.run_line(f"{DRAW} '{trace}' train.svg --title 'A training run'")
        self.assertTrue(text.startswith("cpu: peak "), text)
        svg = (self.folder / "train.svg").read_text()
        for part in ("forward", "backward", "parameters", "reserved", "peak", "A training run"):
            self.assertIn(part, svg)

    def test_refuses_what_is_no_trace(self):
        self.write("other.json", '{"format": "x"}')
        self.write("cut.json", '{"format": ')
        for name in ("other.json", "cut.json", "nowhere"):
            text = self.run_line(f"{DRAW} {name} none.png", status=1)
            self.assertTrue(text.startswith(f"draw_trace: {name}: "), text)
        self.write("steps.json", steps())
        self.expect(DRAW + " steps.json none.png --pool opencl:0", "it has no blocks of opencl:0",
                    status=1)


if __name__ == "__main__":
    program_runs.main()
