"""Random calls with random arguments, most of them wrong: a result or a Python error, no crash.

HK_FUZZ_CALLS says how many (3000), HK_FUZZ_SEED which ones come first.
"""

import array
import os

import ml_dtypes
import numpy as np
import pytest
from arrays_test import Dlpack, Lying

import halide_kernels as hk

CALLS = int(os.environ.get("HK_FUZZ_CALLS", 3000))
SEED = int(os.environ.get("HK_FUZZ_SEED", 0))
ERRORS = (ValueError, TypeError, MemoryError, BufferError, hk.DeviceError)
TYPES = [np.float32] * 6 + [np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.uint8, np.int16,
                            np.int32, np.int64, np.uint64, bool, complex, ">f4", "U3", object]


class Random:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one(self, choices):
        return choices[self.rng.integers(len(choices))]

    def size(self):
        return int(self.one([0, 1, 1, 2, 3, 4, 4, 5, 8]))

    def number(self):
        return self.one([0, 1, 1, 1, 2, 2, 3, -1, 7, 1 << 31, -(1 << 63), 1 << 70, 1.5, True, None,
                         "1", np.int64(2), (1, 2), (2,), [1, 1], (), (1, "x"), ((1, 0), (0, 1)),
                         "same", "valid"])

    def view(self, x):
        """Another view of the array, some with elements that overlap."""
        for _ in range(self.rng.integers(3)):
            if x.ndim == 0:
                break
            axis = int(self.rng.integers(x.ndim))
            index = [slice(None)] * x.ndim
            index[axis] = self.one([slice(None, None, -1), slice(None, None, 2), slice(1, None),
                                    slice(0, 0)])
            x = self.one([lambda: x[tuple(index)], lambda: np.swapaxes(x, axis, 0), lambda: x.T,
                          lambda: np.broadcast_to(x, (2, *x.shape)), lambda: x[..., None]])()
        return x

    def numpy(self, rank):
        rank = int(self.one([rank] * 8 + [0, 1, 2, 3, 5]))
        shape = [self.size() for _ in range(rank)]
        x = self.rng.integers(0, 3, shape).astype(self.one(TYPES))
        if self.rng.random() < 0.3:
            x = self.view(x)
        if self.rng.random() < 0.1:
            x = x.copy()
            x.flags.writeable = False
        return x

    def lying(self):
        return Lying(**self.one([
            {}, {"ndim": -1}, {"ndim": 1}, {"shape": (-1, 2)}, {"shape": (1 << 40, 1 << 40)},
            {"strides": (1 << 62, 1 << 62)}, {"strides": (0, 0)}, {"strides": (-1, 1), "shape": (1, 1)},
            {"data": None}, {"device_type": 10}, {"device_type": 99}, {"device_type": 2}, {"device_type": 4},
            {"byte_offset": 2}, {"code": 4}, {"bits": 7}, {"lanes": 3}, {"shape": (0, 1 << 62)}]))

    def array(self, rank):
        x = self.numpy(rank)
        kind = self.rng.random()
        if kind < 0.7:
            return x
        try:
            return self.one([
                lambda: hk.asarray(x), lambda: Dlpack(x), lambda: Dlpack(x, old=True),
                lambda: memoryview(x), lambda: self.lying(), lambda: x.tolist(), lambda: None,
                lambda: array.array("f", [1, 2]), lambda: bytes(8), lambda: 3, lambda: type(x),
                lambda: hk.asarray(x, device="opencl:0")])()
        except ERRORS:
            return x

    def options(self, *names):
        made = {
            "stride": self.number, "padding": self.number, "dilation": self.number,
            "groups": self.number, "axis": self.number, "scale": self.number, "alpha": self.number,
            "layout": lambda: self.one(["nhwc", "nchw", "nchw", "any", 1, None]),
            "activation": lambda: self.one(["relu", "clamp", "leaky_relu", "silu", "nope", None]),
            "pooling": lambda: self.one(["max", "average", "mean"]),
            "out": lambda: self.array(4), "largest": lambda: self.one([True, False, 2]),
            "accumulate": lambda: self.one([True, False]),
            "output_dtype": lambda: self.one(["float32", "u8", np.int8, "int32", "what", 5]),
            "input_scale": lambda: self.one([None, 1.0, 0, -1, np.float32(2), "x"]),
            "weight_scale": lambda: self.one([None, 1.0, np.ones(3, np.float32), float("nan")]),
            "wanted": lambda: self.one([(True, True, True), (False, True, False), (1,), None]),
        }
        return {name: made[name]() for name in names if self.rng.random() < 0.4}


def maps(r):
    index = r.one([np.int32, np.int64, np.float32])
    imap, omap = (r.rng.integers(-2, 5, (r.size(), r.size())).astype(index) for _ in range(2))
    if r.rng.random() < 0.7:
        omap = np.resize(omap, imap.shape) if omap.size else imap
    return hk.TensorProductMaps(r.one([imap, r.array(2)]), omap, r.size(), r.size(),
                                r.one([None, None, r.array(1)]))


CONV = ("stride", "padding", "dilation", "groups", "layout")
CALLABLES = [
    lambda r: hk.conv2d(r.array(4), r.array(4), r.one([None, r.array(1)]), r.one([None, r.array(4)]),
                        **r.options(*CONV, "activation", "alpha", "out")),
    lambda r: hk.conv2d(r.array(4), hk.prepare_filter(r.array(4)), **r.options(*CONV)),
    lambda r: hk._core._conv2d_of_torch(r.array(4), r.array(4), r.one([None, r.array(1)]), r.number(),
                                        r.one([(0, 1, 1, 0), r.number()]), r.number(), 1, False),
    lambda r: hk.conv2d_backward(r.array(4), r.array(4), r.array(4), **r.options(*CONV, "wanted")),
    lambda r: hk.conv2d_backward_data(r.array(4), r.array(4), [r.number() for _ in range(4)],
                                      **r.options(*CONV, "out", "accumulate")),
    lambda r: hk.conv2d_backward_weight(r.array(4), r.array(4), [r.size() for _ in range(4)],
                                        **r.options(*CONV, "out", "accumulate")),
    lambda r: hk.conv2d_backward_bias(r.array(4), **r.options("layout", "out", "accumulate")),
    lambda r: hk.quantized_conv2d(r.array(4), r.array(4), **r.options(
        *CONV, "input_scale", "weight_scale", "output_dtype", "out")),
    lambda r: hk.quantized_conv2d(
        r.array(4), hk.prepare_filter(r.array(4), weight_scale=1.0, weight_zero_point=r.number()),
        **r.options(*CONV, "input_scale", "weight_scale", "output_dtype")),
    lambda r: hk.pool2d(r.array(4), r.number(), **r.options("pooling", "stride", "padding", "layout",
                                                            "out")),
    lambda r: hk.pool2d_backward(r.array(4), r.array(4), r.one([None, r.array(4)]), 2,
                                 **r.options("pooling", "stride", "padding", "layout")),
    lambda r: hk.activate(r.array(3), **r.options("activation", "alpha", "out")),
    lambda r: hk.activate_backward(r.array(3), r.array(3), **r.options("activation", "out")),
    lambda r: hk.group_norm(r.array(4), r.number(), r.one([None, r.array(1)]),
                            **r.options("layout", "out")),
    lambda r: hk.group_norm_backward(r.array(4), r.array(4), r.array(2), r.array(2),
                                     **r.options("layout", "wanted")),
    lambda r: hk.softmax_cross_entropy(r.array(2), r.array(1), gradient=True, **r.options("scale")),
    lambda r: hk.sgd_step(r.array(2), r.array(2), r.array(2), learning_rate=0.1, momentum=0.5),
    lambda r: hk.topk(r.array(3), r.number(), **r.options("axis", "largest")),
    lambda r: hk.sort(r.array(2), **r.options("axis")),
    lambda r: hk.argsort(r.array(2), **r.options("axis")),
    lambda r: hk.tensor_product(r.array(2), r.array(3), maps(r), **r.options("groups", "out")),
    lambda r: hk.tensor_product_backward_data(r.array(2), r.array(3), maps(r), **r.options("groups")),
    lambda r: hk.tensor_product_backward_weight(r.array(2), r.array(2), maps(r)),
    lambda r: hk.submanifold_map(r.array(2), r.number()),
    lambda r: hk.strided_map(r.array(2), r.number(), r.number()).transposed(r.array(2)),
    lambda r: hk.explain(hk.conv2d, r.array(4), r.array(4), **r.options(*CONV)),
]


def test_random_calls():
    results = 0
    for seed in range(SEED, SEED + CALLS):
        r = Random(seed)
        call = r.one(CALLABLES)
        try:
            call(r)
            results += 1
        except ERRORS:
            pass
        except BaseException as error:
            pytest.fail(f"HK_FUZZ_SEED={seed} HK_FUZZ_CALLS=1: {error!r}")
    # Errors alone would try little.
    assert CALLS < 100 or results > CALLS / 50
