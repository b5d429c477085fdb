"""The examples run, draw their pictures, and find what they should."""

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
