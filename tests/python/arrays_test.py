"""What arrays come in and go out, and what is refused, with both values."""

import array
import ctypes
import gc
import sys
import threading

import ml_dtypes
import numpy as np
import pytest

import halide_kernels as hk


class Dlpack:
    """NumPy's array by DLPack alone, in the version of before 1.0 where that is asked for."""

    def __init__(self, of, old=False):
        self.of, self.old = of, old

    def __dlpack_device__(self):
        return self.of.__dlpack_device__()

    def __dlpack__(self, **options):
        if self.old and "max_version" in options:
            raise TypeError("max_version")
        return self.of.__dlpack__(**options)


def test_results_share_no_memory_and_live_on(ints):
    x = ints(4, 5)
    y = hk.activate(x)
    z = hk.activate(y)
    assert isinstance(y.base, hk.Tensor) and y.flags.writeable and y.flags.c_contiguous
    del x
    expected = y.copy()
    del y
    gc.collect()
    hk.zeros(expected.shape)
    np.testing.assert_array_equal(z, expected)


def test_inputs_are_not_copied():
    x = np.zeros((3, 4), np.float32)
    tensor = hk.asarray(x)
    x[1, 2] = 5
    assert tensor.numpy()[1, 2] == 5
    seen = np.asarray(tensor)
    seen[0, 0] = 7
    assert x[0, 0] == 7 and sys.getrefcount(x) > 2
    del x, seen
    gc.collect()
    assert tensor.numpy()[1, 2] == 5


@pytest.mark.parametrize("view", [
    lambda x: x[::-1], lambda x: x[:, ::-2], lambda x: x[1:3, 2:],
    lambda x: x.T, lambda x: np.broadcast_to(x[:1], x.shape), lambda x: x[:0],
    lambda x: x[..., None], lambda x: np.asfortranarray(x), lambda x: x[2, 3]])
def test_views(ints, view):
    x = view(ints(6, 8))
    np.testing.assert_array_equal(hk.activate(x), np.maximum(x, 0))


@pytest.mark.parametrize("view", [lambda x: x[:, ::-1], lambda x: x[:, :, ::2],
                                  lambda x: x[..., ::-1], lambda x: x[..., ::2][..., :2],
                                  lambda x: np.broadcast_to(x[..., :1], x.shape)])
def test_views_of_images(ints, view):
    x = view(ints(1, 6, 8, 4))
    w = ints(2, 3, 3, x.shape[-1])
    np.testing.assert_array_equal(hk.conv2d(x, w), hk.conv2d(x.copy(), w))


def test_empty_batch():
    y = hk.conv2d(np.ones((0, 4, 4, 2), np.float32), np.ones((3, 1, 1, 2), np.float32))
    assert y.shape == (0, 4, 4, 3)
    assert hk.activate(np.ones((0, 3), np.float16)).dtype == np.float16
    assert hk.topk(np.ones((2, 3), np.float32), 0)[0].shape == (2, 0)


def test_read_only(ints):
    x = ints(4)
    x.flags.writeable = False
    np.testing.assert_array_equal(hk.activate(x), np.maximum(x, 0))
    with pytest.raises(ValueError, match="activate: out is read-only"):
        hk.activate(ints(4), out=x)
    with pytest.raises(ValueError, match="read-only"):
        hk.sgd_step(x, None, ints(4), learning_rate=1)


@pytest.mark.parametrize("make", [Dlpack, lambda x: Dlpack(x, old=True), hk.asarray, memoryview])
def test_other_kinds_of_arrays(ints, make):
    x = ints(3, 4)
    y = hk.activate(make(x))
    assert isinstance(y, hk.Tensor if make is hk.asarray else np.ndarray)
    np.testing.assert_array_equal(np.asarray(y), np.maximum(x, 0))


def test_python_arrays():
    y = hk.sort(array.array("i", [3, 1, 2]))
    assert y.dtype == np.int32 and y.tolist() == [1, 2, 3]
    assert hk.sort(bytearray(b"cab")).tolist() == list(b"abc")


def test_the_first_array_decides(ints):
    x, w = ints(1, 2, 2, 1), ints(1, 1, 1, 1)
    assert isinstance(hk.conv2d(hk.asarray(x), w), hk.Tensor)
    assert isinstance(hk.conv2d(x, hk.asarray(w)), np.ndarray)


@pytest.mark.parametrize("value, error", [
    ([1.0], TypeError), (3, TypeError), ("text", TypeError), (object(), TypeError),
    (np.ones(2, complex), TypeError), (np.ones(2, bool), TypeError), (np.array(["a"]), TypeError),
    (np.ones(2, ">f4"), TypeError), (np.array([object()]), TypeError),
    (np.zeros(2, "M8[s]"), TypeError), (np.zeros(2, [("a", "f4")]), TypeError),
    (np.ones(2, ml_dtypes.float8_e4m3fn), TypeError), (np.float32, TypeError)])
def test_what_is_no_array(value, error):
    with pytest.raises(error, match="activate: input"):
        hk.activate(value)


def test_unaligned_and_odd_strides():
    record = np.zeros(4, [("a", "u1"), ("b", "f4")])
    with pytest.raises(ValueError, match="5 bytes apart.*multiple of 4.*copy"):
        hk.activate(record["b"])
    odd = np.frombuffer(bytearray(17), np.float32, 4, 1)
    with pytest.raises(ValueError, match="activate: input: .*multiple of 4"):
        hk.activate(odd)


def test_messages_have_both_values():
    x, w = np.ones((1, 4, 4, 8), np.float32), np.ones((2, 3, 3, 4), np.float32)
    with pytest.raises(ValueError, match="4.*8"):
        hk.conv2d(x, w)
    with pytest.raises(ValueError, match=r"padding is 'some', it must be \"same\""):
        hk.conv2d(x, w, padding="some")
    with pytest.raises(TypeError, match="stride is 1.5, it must be an int or two"):
        hk.conv2d(x, w, stride=1.5)
    with pytest.raises(TypeError, match=r"stride is \(1, 2, 3\)"):
        hk.conv2d(x, w, stride=(1, 2, 3))
    with pytest.raises(ValueError, match="more than 64 bits"):
        hk.conv2d(x, w, stride=1 << 70)
    with pytest.raises(ValueError, match="nchx"):
        hk.conv2d(x, w, layout="nchx")
    with pytest.raises(ValueError, match=r"input has shape \[4, 8\]"):
        hk.conv2d(x[0, 0], w)
    with pytest.raises(ValueError, match="accumulate"):
        hk.conv2d_backward_bias(x, accumulate=True)
    with pytest.raises(TypeError):
        hk.conv2d(x)
    with pytest.raises(TypeError):
        hk.conv2d(x, w, strides=2)
    with pytest.raises(TypeError, match="maps is 3"):
        hk.tensor_product(x[0, 0], w[0], 3)


def test_memory_error():
    with pytest.raises(MemoryError):
        hk.empty((1 << 44,))
    before = hk.memory_statistics().limit
    hk.set_memory_limit(1 << 20)
    try:
        with pytest.raises(MemoryError):
            hk.activate(np.zeros(1 << 20, np.float32))
    finally:
        hk.set_memory_limit(before)
    assert hk.activate(np.zeros(1 << 20, np.float32)).size == 1 << 20


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Lying:
    """Says what it likes of 64 floats."""

    def __init__(self, **fields):
        self.memory = (ctypes.c_float * 64)()
        sizes = fields.pop("shape", (2, 3))
        shape = (ctypes.c_int64 * len(sizes))(*sizes)
        strides = fields.pop("strides", None)
        self.tensor = DLTensor(ctypes.addressof(self.memory), 1, 0, len(sizes), 2, 32, 1, shape,
                               strides and (ctypes.c_int64 * 2)(*strides), 0, None, None)
        for name, value in fields.items():
            setattr(self.tensor, name, value)

    def __dlpack_device__(self):
        return (self.tensor.device_type, 0)

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


@pytest.mark.parametrize("fields", [
    {"ndim": -1}, {"shape": (-1, 2)}, {"shape": (1 << 40, 1 << 40)}, {"strides": (1 << 62, 1 << 62)},
    {"data": None}, {"device_type": 4}, {"device_type": 10}, {"device_type": 99}, {"byte_offset": 2},
    {"shape": None}, {"shape": (1 << 62, 0), "ndim": 1}])
def test_dlpack_that_lies(fields):
    shape = fields.get("shape", ())
    lying = Lying(**{k: v for k, v in fields.items() if v is not None or k == "data"})
    if shape is None:
        lying.tensor.shape = None
    with pytest.raises((ValueError, hk.DeviceError, MemoryError), match="activate: input"):
        hk.activate(lying)


@pytest.mark.parametrize("fields", [{"code": 5}, {"bits": 24}, {"lanes": 4}, {"code": 77}])
def test_dlpack_of_other_elements(fields):
    with pytest.raises(TypeError, match="activate: input has elements of code"):
        hk.activate(Lying(**fields))


@pytest.mark.parametrize("dtype", ["bool", "complex64", ">f4"])
def test_numpy_of_other_elements(dtype):
    with pytest.raises(TypeError, match=f"activate: input has elements of dtype '{dtype}'"):
        hk.activate(np.zeros(3, dtype))


def test_messages_have_the_types_of_numpy():
    x, w = np.zeros((1, 2, 2, 4), np.float16), np.zeros((8, 1, 1, 4), np.float32)
    with pytest.raises(ValueError, match="conv2d: weight is float32, input is float16"):
        hk.conv2d(x, w)
    with pytest.raises(ValueError, match="not one of float32, float16, bfloat16, .*, uint64"):
        hk.empty(3, "float33")


@pytest.mark.parametrize("capsule", [None, 3, np.ones(2)])
def test_dlpack_that_gives_no_capsule(capsule):
    class Bad:
        def __dlpack__(self, **options):
            return capsule

    with pytest.raises(TypeError, match="capsule"):
        hk.activate(Bad())


def test_dlpack_whose_memory_goes_with_its_object():
    """A tensor and a filter keep the object too, which owns what its capsule points to."""
    for _ in range(20):
        tensor, weight = hk.asarray(Lying()), hk.prepare_filter(Lying(shape=(2, 1, 1, 3)))
        gc.collect()
        hk.activate(tensor)
        del tensor, weight


def test_dlpack_that_raises():
    class Bad:
        def __dlpack__(self, **options):
            raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        hk.activate(Bad())


def test_tensor_goes_out_by_dlpack(ints):
    x = ints(3, 4)
    tensor = hk.activate(hk.asarray(x))
    np.testing.assert_array_equal(np.from_dlpack(tensor), np.maximum(x, 0))
    assert tensor.__dlpack_device__() == (1, 0)
    assert (tensor.shape, tensor.strides, tensor.dtype) == ((3, 4), (4, 1), "float32")
    for options in ({}, {"max_version": (1, 0)}):
        tensor.__dlpack__(**options)  # a capsule that nobody takes
    with pytest.raises(BufferError):
        tensor.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))


def test_device_that_is_not_there():
    with pytest.raises(hk.DeviceError, match="opencl:9"):
        hk.zeros(3, device="opencl:9")
    with pytest.raises(ValueError, match="gpu"):
        hk.zeros(3, device="gpu")


@pytest.mark.parametrize("device", ["opencl:0", "cuda:0"])
def test_device(ints, device):
    if device not in hk.devices():
        pytest.skip(f"no {device}")
    x, w = ints(1, 4, 4, 4), ints(2, 3, 3, 4)
    there = [hk.asarray(array, device=device) for array in (x, w)]
    y = hk.conv2d(*there)
    assert isinstance(y, hk.Tensor) and y.device == device
    np.testing.assert_array_equal(y.numpy(), hk.conv2d(x, w))
    assert hk.explain(hk.conv2d, *there).kernel.device == device[:-2]
    with pytest.raises(ValueError, match=f"conv2d: .*{device}.*cpu|conv2d: .*cpu.*{device}"):
        hk.conv2d(there[0], w)
    with pytest.raises(TypeError, match=rf"on {device}.*numpy\(\)"):
        np.asarray(y)
    assert hk.memory_statistics(device).blocks > 0
    if device == "cuda:0":
        other = hk.conv2d(*map(Dlpack, there))
        assert isinstance(other, hk.Tensor) and other.device == device
        np.testing.assert_array_equal(other.numpy(), y.numpy())


def test_tensor_of_bfloat16(ints):
    x = ints(3, 4, dtype=ml_dtypes.bfloat16)
    y = np.asarray(hk.activate(hk.asarray(x)))
    assert y.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    assert np.asarray(hk.asarray(x), dtype=np.float32).dtype == np.float32
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(hk.asarray(x))


def test_calls_from_many_threads(ints):
    x, w = ints(2, 16, 16, 8), ints(8, 3, 3, 8)
    expected = hk.conv2d(x, w)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(hk.conv2d(x, w), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_lock_is_released(ints):
    """While a long kernel runs, another thread of Python goes on."""
    x = np.random.default_rng(0).random((64, 20000), np.float32)
    steps = []
    done = threading.Event()

    def count():
        while not done.is_set():
            steps.append(1)

    counter = threading.Thread(target=count)
    counter.start()
    before = len(steps)
    hk.sort(x)
    during = len(steps) - before
    done.set()
    counter.join()
    assert during > 100


def test_memory_stays_flat(ints):
    x, w = ints(1, 16, 16, 8), ints(8, 3, 3, 8)
    maps = hk.submanifold_map(np.stack([np.arange(50)] * 4, 1).astype(np.int32))

    def step():
        hk.conv2d(hk.asarray(x), w)
        hk.conv2d(x, hk.prepare_filter(w))
        hk.tensor_product(np.ones((50, 4), np.float32), np.ones((27, 4, 4), np.float32), maps)
        with pytest.raises(ValueError):
            hk.conv2d(x, w, stride=0)

    step()
    gc.collect()
    blocks, references = hk.memory_statistics().blocks, sys.getrefcount(x)
    for _ in range(20):
        step()
    gc.collect()
    assert hk.memory_statistics().blocks == blocks
    assert sys.getrefcount(x) == references
