"""Installs a wheel into an environment that has nothing else, and tries it there.

    try_wheel.py FOLDER TESTS

FOLDER holds one wheel, TESTS the tests of the package, of which those that need NumPy alone run.
"""

import pathlib
import subprocess
import sys
import tempfile
import venv

# ml_dtypes for the tests of bfloat16.
TOOLS = ["pytest", "ml_dtypes"]
TESTS = ["operations_test.py", "arrays_test.py"]


def main():
    wheel, = pathlib.Path(sys.argv[1]).glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(pathlib.Path(folder, "bin", "python"))

        def run(*command):
            subprocess.run([python, "-I", "-m", *command], check=True, cwd=folder)

        install = ("pip", "--quiet", "--disable-pip-version-check", "install")
        run(*install, str(wheel.resolve()))
        run("halide_kernels")
        run(*install, *TOOLS)
        tests = [str(pathlib.Path(sys.argv[2], name).resolve()) for name in TESTS]
        run("pytest", "-q", "-p", "no:cacheprovider", *tests)


if __name__ == "__main__":
    main()
