"""apps/filter as a person runs it."""

import program_runs
from PIL import Image
from program_runs import ProgramTest


class Filter(ProgramTest):
    def test_draws_a_picture_of_all_devices_that_agree(self):
        Image.radial_gradient("L").resize((60, 45)).convert("RGB").save(self.folder / "in.png")
        text = self.expect("filter --image in.png --output out.png --repeats 1",
                           "cpu", "GFLOP/s  conv2d_")
        self.assertNotIn("DISAGREE", text)
        width, height = Image.open(self.folder / "out.png").size
        self.assertGreater(width, 1000)
        self.assertGreater(height, 700)

    def test_tells_what_is_wrong_with_the_image(self):
        self.expect("filter --image none.jpg", "none.jpg: No such file", status=1)
        self.write("text.png", "hello")
        self.expect("filter --image text.png", "neither a PNG nor a JPEG", status=1)

    def test_tells_what_is_wrong_with_the_arguments(self):
        self.expect("filter --device toaster", "toaster", status=2)
        self.expect("filter --device cpu --max-size 16 --output no/folder.png",
                    "folder.png: No such file", status=1)
        self.expect("filter --help", "--image")


if __name__ == "__main__":
    program_runs.main()
