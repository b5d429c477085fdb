"""The package: devices, memory, threads, explanations, stubs, and what it promises of itself."""

import os
import pathlib
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import halide_kernels as hk

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_version_is_cmakes():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert re.search(r"VERSION ([0-9.]+)", text)[1] == hk.__version__ or f"VERSION {hk.__version__}" in text


def test_pins_are_those_of_requirements():
    pins = set((ROOT / "requirements.txt").read_text().split())
    build = re.search(r"requires = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.S)[1]
    asked = re.findall(r'"([^"]+)"', build)
    assert len(asked) > 5
    assert [pin for pin in asked if pin not in pins] == []


def test_main():
    text = subprocess.run([sys.executable, "-m", "halide_kernels"], capture_output=True, text=True,
                          check=True).stdout
    assert f"halide_kernels {hk.__version__}" in text
    assert "device cpu" in text and "CPU features" in text and "conv2d: " in text


def test_main_into_a_closed_pipe():
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        run = subprocess.run([sys.executable, "-m", "halide_kernels"], stdout=write_end,
                             stderr=subprocess.PIPE, text=True, timeout=60)
    finally:
        os.close(write_end)
    assert (run.returncode, run.stderr) == (0, "")


def test_import_is_quick_and_alone():
    code = ("import sys, time; start = time.perf_counter(); import halide_kernels;"
            "print(time.perf_counter() - start, 'numpy' in sys.modules)")
    best = []
    for _ in range(3):
        seconds, numpy = subprocess.run([sys.executable, "-c", code], capture_output=True,
                                        text=True, check=True).stdout.split()
        assert numpy == "False"
        best.append(float(seconds))
    assert min(best) < 0.1


def public_names():
    names = [name for name, value in vars(hk).items()
             if not name.startswith("_") and not isinstance(value, types.ModuleType)]
    assert {"conv2d", "Tensor", "topk"} <= set(names)
    return names


def test_everything_is_documented():
    for name in public_names():
        assert getattr(hk, name).__doc__, name


def test_stubs_have_every_function():
    stub = pathlib.Path(hk.__file__).with_name("_core.pyi")
    if not stub.exists():
        pytest.skip("not built with sanitizers")
    text = stub.read_text()
    for name in public_names():
        assert re.search(rf"\b(def|class) {name}\b", text), name
    compile(text, str(stub), "exec")
    assert pathlib.Path(hk.__file__).with_name("py.typed").exists()


def test_devices():
    assert hk.devices()[0] == "cpu"
    assert hk.device_description("cpu")
    hk.synchronize("cpu")


def test_threads(ints):
    x, w = ints(1, 20, 20, 16), ints(16, 3, 3, 16)
    before = hk.get_threads()
    try:
        hk.set_threads(1)
        one = hk.conv2d(x, w)
        hk.set_threads(2)
        assert hk.get_threads() == 2
        np.testing.assert_array_equal(hk.conv2d(x, w), one)
        for threads in (-1, 257, 1 << 40):
            with pytest.raises(ValueError, match=f"threads is {threads}"):
                hk.set_threads(threads)
    finally:
        hk.set_threads(before)


def test_memory():
    before = hk.memory_statistics()
    tensor = hk.empty((1 << 16,))
    now = hk.memory_statistics()
    assert now.requested - before.requested == 4 << 16 and now.blocks == before.blocks + 1
    assert now.peak_requested >= now.requested and now.limit is None and now.threshold is None
    del tensor
    hk.trim_memory()
    hk.reset_memory_peaks()
    assert hk.memory_statistics().peak_reserved == hk.memory_statistics().reserved
    hk.set_memory_threshold(0)
    try:
        assert hk.memory_statistics().threshold == 0
    finally:
        hk.set_memory_threshold(None)
    with pytest.raises(ValueError, match="bytes is -1"):
        hk.set_memory_limit(-1)


def test_kernels():
    rows = hk.kernels()
    assert len({row.name for row in rows}) == len(rows) > 100
    row = next(row for row in rows if row.device == "cuda")
    assert row.resources["threads"] > 0
    assert {"conv2d", "topk", "sgd"} <= {row.family for row in rows}


def test_explain(ints):
    x, w = ints(1, 8, 8, 16), ints(16, 3, 3, 16)
    selection = hk.explain(hk.conv2d, x, w, padding="same")
    assert selection.kernel.family == "conv2d" and selection.kernel.name in str(selection)
    assert all(reason for _, reason in selection.rejected) and selection.rejected
    assert not selection.fell_back
    other = hk.explain(hk.conv2d, ints(1, 8, 8, 16), ints(16, 1, 1, 16))
    assert other.kernel.name != selection.kernel.name
    rows = np.stack([np.arange(9)] * 4, 1).astype(np.int32)
    calls = [
        (hk.conv2d_backward_data, (x, w, (1, 10, 10, 16)), {}),
        (hk.conv2d_backward_weight, (ints(1, 6, 6, 16), x, w.shape), {}),
        (hk.pool2d, (x,), {}), (hk.pool2d_backward, (ints(1, 4, 4, 16), x), {}),
        (hk.group_norm, (x,), {}), (hk.topk, (x, 2), {}), (hk.sort, (x,), {}),
        (hk.softmax_cross_entropy, (ints(3, 4), np.zeros(3, np.int64)), {}),
        (hk.tensor_product, (ints(9, 4), ints(27, 4, 4), hk.submanifold_map(rows)), {}),
        (hk.quantized_conv2d, (x.astype(np.uint8), w.astype(np.int8)),
         {"input_scale": 0.5, "weight_scale": 0.25}),
    ]
    for function, arguments, options in calls:
        assert hk.explain(function, *arguments, **options).kernel, function
    for function, arguments in [(hk.activate, (x,)), (print, ()), (hk.devices, ())]:
        with pytest.raises((ValueError, TypeError), match="explain"):
            hk.explain(function, *arguments)
    assert isinstance(hk.conv2d(x, w), np.ndarray)


def test_same_bits_as_the_library(rng):
    from library import Library, poisoned

    library = Library(os.path.join(os.environ["HK_BUILD"], "tests", "onnx_calls"), "cpu")
    x, w, b = (rng.standard_normal(s).astype(np.float32) for s in
               [(1, 16, 13, 13), (24, 16, 3, 3), 24])
    options = {"stride": [1, 1], "dilation": [1, 1], "padding": [1, 1, 1, 1], "groups": 1,
               "layout": "nchw"}
    y, = library.call("conv2d", {"input": x, "weight": w, "bias": b,
                                 "output": poisoned((1, 24, 13, 13), np.float32)}, ["output"],
                      **options)
    np.testing.assert_array_equal(hk.conv2d(x, w, b, padding=1, layout="nchw"), y)
    dx, = library.call("conv2d_backward_data",
                       {"output_gradient": y, "weight": w,
                        "input_gradient": poisoned(x.shape, np.float32)}, ["input_gradient"],
                       beta=0, **options)
    np.testing.assert_array_equal(
        hk.conv2d_backward_data(y, w, x.shape, padding=1, layout="nchw"), dx)
    g, = library.call("activate", {"input": x, "output": poisoned(x.shape, np.float32)},
                      ["output"], activation="gelu", alpha=0, beta=0)
    np.testing.assert_array_equal(hk.activate(x, "gelu"), g)
    assert library.close() == 0
