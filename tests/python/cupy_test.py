"""Arrays of CuPy, which needs a GPU: a module that stands in for it, whose arrays give and take
DLPack as CuPy's do (cupy/_core/dlpack.pyx), on the software CUDA device."""

import ctypes
import sys
import types

import numpy as np
import pytest
from arrays_test import DLTensor

import halide_kernels as hk

CUDA, CUDA_MANAGED = 2, 13  # of DLPack's device types
DEFAULT_STREAM = 1


class Capsule:
    """What hk.asarray takes a capsule from."""

    def __init__(self, capsule, device):
        self.capsule, self.device = capsule, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.capsule


class ndarray:
    def __init__(self, values):
        self.tensor = values if isinstance(values, hk.Tensor) else hk.asarray(values, "cuda:0")
        self.streams = []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, stream=None, *, max_version=None, dl_device=None, copy=None):
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream, max_version=max_version)

    def transpose(self, *order):
        turned = ndarray(self.tensor)
        turned.order, = order
        return turned


class OldNdarray(ndarray):
    """Of CuPy before 14."""

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream)


def tensor_in(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return DLTensor.from_address(pointer(capsule, b"dltensor"))


class Turned(ndarray):
    """An nchw array whose memory is nhwc."""

    def __dlpack__(self, stream=None, **options):
        capsule = self.tensor.__dlpack__(stream=stream)
        tensor = tensor_in(capsule)
        for sizes in (tensor.shape, tensor.strides):
            sizes[1], sizes[2], sizes[3] = sizes[3], sizes[1], sizes[2]
        return capsule


class Managed(ndarray):
    """Of memory that CUDA moves between host and device."""

    def __dlpack_device__(self):
        return CUDA_MANAGED, 0

    def __dlpack__(self, stream=None, **options):
        self.streams.append(stream)
        capsule = self.tensor.__dlpack__(stream=stream)
        tensor_in(capsule).device_type = CUDA_MANAGED
        return capsule


def from_dlpack(array, *, device=None, copy=None):
    kind, index = array.__dlpack_device__()
    if kind != CUDA:
        raise TypeError(f"Unsupported array type: {kind}")
    capsule = array.__dlpack__(stream=DEFAULT_STREAM, max_version=(1, 0), copy=copy)
    return ndarray(hk.asarray(Capsule(capsule, (kind, index))))


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    module = types.ModuleType("cupy")
    module.from_dlpack = from_dlpack
    for kind in (ndarray, OldNdarray, Turned, Managed):
        monkeypatch.setattr(kind, "__module__", "cupy")
    monkeypatch.setitem(sys.modules, "cupy", module)


on_cuda = pytest.mark.skipif("cuda:0" not in hk.devices(), reason="no cuda:0")


@on_cuda
@pytest.mark.parametrize("kind", [ndarray, OldNdarray, Managed])
def test_results_are_cupys(ints, kind):
    x, w = ints(1, 5, 4, 3), ints(2, 3, 3, 3)
    there = [kind(x), kind(w)]
    y = hk.conv2d(*there, padding="same")
    assert type(y) is ndarray and y.tensor.device == "cuda:0"
    np.testing.assert_array_equal(y.tensor.numpy(), hk.conv2d(x, w, padding="same"))
    assert [array.streams for array in there] == [[DEFAULT_STREAM]] * 2
    values, indices = hk.topk(kind(x), 2)
    assert type(values) is ndarray and type(indices) is ndarray
    np.testing.assert_array_equal(values.tensor.numpy(), hk.topk(x, 2)[0])


@on_cuda
def test_memory_that_is_nhwc(ints):
    x, w = ints(1, 5, 4, 3), ints(2, 1, 1, 3)
    y = hk.conv2d(Turned(x), Turned(w), layout="nchw")
    assert y.order == (0, 3, 1, 2)
    np.testing.assert_array_equal(y.tensor.numpy(), hk.conv2d(x, w))


@on_cuda
def test_written_arrays(ints):
    x = ints(3, 4)
    out = ndarray(np.zeros_like(x))
    assert hk.activate(ndarray(x), out=out) is out
    np.testing.assert_array_equal(out.tensor.numpy(), np.maximum(x, 0))


@on_cuda
def test_other_devices(ints):
    x, w = ints(1, 2, 2, 3), ints(2, 1, 1, 3)
    with pytest.raises(ValueError, match="cpu.*cuda:0|cuda:0.*cpu"):
        hk.conv2d(ndarray(x), w)
