"""apps/train as a person runs it, alone and as ranks of MPI: train_program_test.py SOURCE
BUILD MPIEXEC"""

import json
import sys

import program_runs
from PIL import Image
from program_runs import BUILD, ProgramTest

# Open MPI wants to be asked before it runs as root.
MPI = ("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0 "
       f"{sys.argv.pop()} --oversubscribe")


class Train(ProgramTest):
    def history(self, name):
        return json.loads((self.folder / name).read_text())

    def test_writes_its_history_and_draws_it(self):
        text = self.expect("train --epochs 2 --batch 64 --output curves.png",
                           "1442 digits to train on, 355 to test on", "groups 4")
        self.assertNotIn("\r", text, "a progress bar where there is no terminal")
        run = self.history("curves.png.json")
        self.assertEqual((len(run["epochs"]), len(run["steps"])), (2, 46))
        self.assertIn(run["fingerprint"], text)
        for epoch in run["epochs"]:
            test, memory = epoch["test"], epoch["memory"]
            self.assertGreaterEqual(test["top3"], test["top1"])
            self.assertGreaterEqual(memory["reserved"], memory["live"])
            self.assertGreater(memory["peak"], memory["live"])
            self.assertGreater(memory["resident"], 0)
        self.assertGreater(Image.open(self.folder / "curves.png").width, 800)

    def test_has_the_same_history_again(self):
        runs = []
        for threads in "12":
            self.run_line(f"train --steps 20 --seed 7 --history {threads}.json",
                          HL_NUM_THREADS=threads)
            runs.append(self.history(threads + ".json"))
        self.assertEqual(runs[0]["fingerprint"], runs[1]["fingerprint"])
        losses = [[step["loss"] for step in run["steps"][:20]] for run in runs]
        self.assertEqual(len(losses[0]), 20)
        self.assertEqual(losses[0], losses[1])
        self.assertEqual(runs[0]["epochs"][0]["test"], runs[1]["epochs"][0]["test"])

    def test_tells_what_is_wrong(self):
        for arguments, part, status in (
                ("--data nowhere.csv", "train: nowhere.csv: No such file", 1),
                ("--data .", "train: .: Is a directory", 1),
                ("--device gpu", "train: ", 2),
                ("--steps 1 --history nowhere/run.json", "nowhere/run.json: No such file", 1),
                ("--batch 0", "", None)):
            self.expect("train " + arguments, part, status=status)

    # How much is for a quiet machine: train --pool-gain 5 --epochs 6.
    def test_tells_what_the_pool_gains(self):
        self.expect("train --pool-gain 1 --epochs 2", "times as fast")

    def test_soaks_flat(self):
        self.expect("train_soak --steps 300 --batch 16",
                    "grown at most by 0 bytes in use, 0 blocks, 0 bytes reserved",
                    ASAN_OPTIONS="quarantine_size_mb=1:thread_local_quarantine_size_kb=64")

    def test_together_is_training_alone(self):
        for ranks in (2, 3):
            self.run_line(f"{MPI} -n {ranks} '{BUILD}/tests/ranks_check'")

    def test_of_ranks_one_tells(self):
        first = self.expect(f"{MPI} -n 2 train --steps 8 --history a.json", "2 ranks")
        self.assertEqual(first.count("8 steps"), 1, first)
        self.run_line(f"{MPI} -n 2 train --steps 8 --history b.json")
        self.assertEqual(self.history("a.json")["fingerprint"],
                         self.history("b.json")["fingerprint"])
        self.expect(f"{MPI} -n 2 train --data nowhere.csv",
                    "nowhere.csv: No such file", status=None)


if __name__ == "__main__":
    program_runs.main()
