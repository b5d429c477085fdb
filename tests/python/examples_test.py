"""The examples run, draw their pictures, and find what they should; so do the document's blocks,
and the benchmark."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHOTO = ROOT / "apps" / "filter" / "astronaut.jpg"


def run(tmp_path, name, data, *arguments):
    """What it prints, and its picture."""
    picture = tmp_path / "picture.png"
    done = subprocess.run(
        [sys.executable, ROOT / "python" / "examples" / name, data, picture, *arguments],
        capture_output=True, text=True, env={**os.environ, "MPLCONFIGDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    return done.stdout, np.asarray(Image.open(picture).convert("RGB"))


def test_numpy_filters(tmp_path):
    text, picture = run(tmp_path, "numpy_filters.py", PHOTO)
    assert "16 filters" in text and picture.std() > 20


def test_numpy_scan(tmp_path):
    text, picture = run(tmp_path, "numpy_scan.py", ROOT / "apps" / "pointcloud" / "montpellier.ply",
                        "400")
    assert "KernelMap" in text and picture.std() > 20


def test_torch_digits(tmp_path):
    pytest.importorskip("torch")
    text, picture = run(tmp_path, "torch_digits.py", ROOT / "apps" / "train" / "digits.csv", "3")
    assert float(re.search(r"([0-9.]+)% of", text)[1]) > 85
    assert picture.std() > 5


def test_jax_denoise(tmp_path):
    pytest.importorskip("jax")
    text, picture = run(tmp_path, "jax_denoise.py", PHOTO, "30")
    first, last = map(float, re.search(r"error ([0-9.]+), after 30 steps ([0-9.]+)", text).groups())
    assert last < 0.7 * first and picture.shape == (128, 384, 3)


@pytest.mark.parametrize("name", sorted(one.name for one in (ROOT / "python/examples").glob("*.py")))
def test_without_arguments_they_say_how_to_call_them(name):
    pytest.importorskip(name.split("_")[0])
    done = subprocess.run([sys.executable, ROOT / "python" / "examples" / name], capture_output=True,
                          text=True)
    assert done.returncode == 1 and f"python {name} " in done.stderr


def test_document():
    """The blocks of docs/python.md one after the other, which print what their comments say."""
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) >= 4
    lines, frameworks = [], ("torch", "jax")
    for block in blocks:
        if all(importlib.util.find_spec(name) or f"import {name}\n" not in block
               for name in frameworks):
            lines += block.splitlines()
    expected = [line.partition("#")[2].strip() for line in lines if "#" in line
                and line.startswith("print(") and "(" in line.partition("#")[2]]
    printed = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True,
                             text=True)
    assert printed.returncode == 0, printed.stderr
    assert len(expected) >= 2
    assert [line for line in printed.stdout.splitlines() if line in expected] == expected


def test_bench(tmp_path):
    report = tmp_path / "report.json"
    done = subprocess.run([sys.executable, "-m", "halide_kernels.bench", "smoke", "--rounds", "1",
                           "--json", report], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(report.read_text())
    assert "NumPy" in result["overhead_seconds"]
    assert {row["passes"] for row in result["rows"]} == {"forward", "training"}
    for row in result["rows"]:
        assert {"hk nhwc", "hk nchw"} <= set(row["seconds"])
        assert all(0 < seconds < 10 for seconds in row["seconds"].values())
    voxels = tmp_path / "voxels.csv"
    voxels.write_text("voxels,kernel,stride,c,m\n500,3,1,4,8\n500,2,2,4,8\n")
    done = subprocess.run([sys.executable, "-m", "halide_kernels.bench", voxels, "--rounds", "1"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "500 voxels, 4-8 channels" in done.stdout, done.stderr
    missing = subprocess.run([sys.executable, "-m", "halide_kernels.bench", "nothing"],
                             capture_output=True, text=True)
    assert missing.returncode != 0 and "there is no list nothing" in missing.stderr
    assert not missing.stdout  # before anything is timed
