"""What tests of programs share: lines of a shell, as a person types them, in a folder of the
test's own.

    TEST.py SOURCE BUILD [TEST…]
"""

import os
import pathlib
import subprocess
import sys
import unittest

from own_folder import own_folder

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
FOLDERS = BUILD / "tests" / "folders" / pathlib.Path(sys.argv[0]).stem
PYTHON = sys.executable


def rows_of(family):
    """The columns of each line of a family's rows.txt."""
    lines = (BUILD / "kernels" / family / "rows.txt").read_text().splitlines()
    names = "name family row algorithm schedule knobs type layout device where budget contract".split()
    return [dict(zip(names, line.split("|"), strict=True)) for line in lines]


def built_devices():
    return {row["device"] for row in rows_of("conv2d")}


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(own_folder(FOLDERS, self))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run_line(self, line, status=0, errors=True, **environment):
        """What it prints, on both streams or, without `errors`, on the first alone. Programs are
        found by their names. A status of None: any but 0."""
        path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
        outcome = subprocess.run(
            line, shell=True, cwd=self.folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors else subprocess.DEVNULL,
            env={**os.environ, "PATH": path, **environment})
        if status is None:
            self.assertNotEqual(outcome.returncode, 0, f"{line}\n{outcome.stdout}")
        else:
            self.assertEqual(outcome.returncode, status, f"{line}\n{outcome.stdout}")
        return outcome.stdout

    def expect(self, line, *parts, status=0, **environment):
        """The line prints each of the parts."""
        text = self.run_line(line, status, **environment)
        for part in parts:
            self.assertIn(part, text, line)
        return text

    def expect_refused(self, line, *parts):
        """Bad input: one line, which begins with the program's name."""
        text = self.expect(line, *parts, status=2)
        self.assertTrue(text.startswith(line.split()[0] + ": "), text)
        self.assertEqual(text.count("\n"), 1, text)


def main():
    unittest.main("__main__", argv=[sys.argv[0], *sys.argv[3:]])
