"""Contracts of the table against counts that are made up."""

import json
import pathlib
import subprocess

import program_runs
from program_runs import PYTHON, SOURCE, ProgramTest

ROW = "k|family|row|algorithm|schedule||f32|any|{device}||shared:0,registers:8|{contract}\n"
COUNTED = {"kernel": "k", "case": "small", "share_of_multiply_adds": 0.6, "conflicts": 1.25,
           "sectors": 1.5, "of_least_bytes": 1}


class Contracts(ProgramTest):
    def check(self, contract, counts=(COUNTED,), device="cuda"):
        folder = pathlib.Path(self.folder)
        family = folder / "kernels" / "family"
        family.mkdir(parents=True, exist_ok=True)
        (family / "rows.txt").write_text(ROW.format(contract=contract, device=device))
        (family / "k.json").write_text("{}")
        (family / "k.a").write_text("")
        (folder / "counts.json").write_text(json.dumps(list(counts)))
        script = SOURCE / "compiler" / "check_contracts.py"
        return subprocess.run([PYTHON, script, folder / "kernels", folder / "counts.json"],
                              capture_output=True, text=True, check=False)

    def test_what_keeps_its_contract_passes(self):
        for contract in ("", "conflicts:1.25,sectors:1.5,fma:0.6", "sectors:2.0", "fma:0.5"):
            done = self.check(contract)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 of 1 CUDA kernels counted", done.stdout)

    def test_what_is_over_it_is_named(self):
        for contract, told in {
                "conflicts:1.2": "k: conflicts 1.2500 on small, its contract is 1.2",
                "sectors:1.49": "k: sectors 1.5000 on small, its contract is 1.49",
                "conflicts:2.0,fma:0.61": "k: fma 0.6000 on small, its contract is 0.61"}.items():
            done = self.check(contract)
            self.assertEqual(done.returncode, 1, contract)
            self.assertEqual(done.stderr, told + "\n")

    def test_what_was_not_counted_fails(self):
        done = self.check("sectors:2.0", [])
        self.assertEqual(done.returncode, 1)
        self.assertIn("k has a contract and was not counted", done.stderr)
        self.assertEqual(self.check("", []).returncode, 1, "nothing at all was counted")

    def test_only_cuda_is_held_to_it(self):
        other = dict(COUNTED, kernel="other")
        done = self.check("sectors:1.0", [other], device="opencl")
        self.assertNotIn("contract and", done.stderr)

    def test_a_filter_that_no_kernel_has_is_refused(self):
        self.expect("counts --filter nothing_like_it",
                    'no problem of a CUDA kernel with "nothing_like_it"', status=2)


if __name__ == "__main__":
    program_runs.main()
