"""apps/pointcloud as a person runs it."""

import program_runs
from PIL import Image
from program_runs import ProgramTest


class Pointcloud(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("hill.xyz", "".join(f"{x} {y} {x * y // 60}\n"
                                       for x in range(30) for y in range(20)))

    def test_draws_a_cloud_after_all_devices_agree(self):
        for type_ in ("f32", "f16", "bf16"):
            text = self.expect(
                "pointcloud hill.xyz --voxel 1 --repeats 1 --channels 8 --output out.png "
                f"--type {type_}",
                "hill.xyz: 600 points, 600 voxels of 1", "map of down 2x2x2: ", "cpu deterministic",
                "up 2x2x2")
            self.assertNotIn("DISAGREE", text)
            self.assertGreater(Image.open(self.folder / "out.png").width, 1000)

    def test_finds_a_size_of_voxels(self):
        self.run_line("pointcloud hill.xyz --repeats 1 --device cpu")
        self.assertTrue((self.folder / "cloud.png").exists())

    def test_tells_what_is_wrong(self):
        self.write("empty.xyz", "# nothing\n")
        for arguments, part in (
                ("none.ply", "none.ply: No such file"),
                ("hill.xyz --device toaster", "toaster"),
                ("hill.xyz --type f64", "--type"),
                ("hill.xyz --voxel -1", "--voxel"),
                ("hill.xyz --voxel 1e-9 --device cpu", "at most 2147483647 is possible"),
                ("hill.xyz --voxel 1e-7 --device cpu", "at most 62 are possible"),
                ("hill.xyz --voxel 1 --device cpu --output no/folder.png",
                 "folder.png: No such file"),
                ("empty.xyz", "empty.xyz: it has no points")):
            self.expect("pointcloud " + arguments, part, status=None)
        self.expect("pointcloud --help", "--voxel")


if __name__ == "__main__":
    program_runs.main()
