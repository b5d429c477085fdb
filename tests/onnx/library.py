"""The library, as the program onnx_calls runs it, and how arrays lie in its layouts."""

import json
import subprocess

import numpy as np
from ml_dtypes import bfloat16

TYPES = {
    np.dtype(type_): name
    for type_, name in [
        (np.float32, "f32"), (np.float16, "f16"), (bfloat16, "bf16"), (np.float64, "f64"),
        (np.int8, "s8"), (np.uint8, "u8"), (np.int16, "s16"), (np.uint16, "u16"),
        (np.int32, "s32"), (np.uint32, "u32"), (np.int64, "s64"), (np.uint64, "u64"),
    ]
}


class LibraryError(Exception):
    """What the library throws."""


def poisoned(shape, dtype):
    """An array of bits that no result has."""
    return np.frombuffer(b"\xa5" * (int(np.prod(shape)) * np.dtype(dtype).itemsize),
                         dtype).reshape(shape)


class Library:
    """Runs calls in the program, one after the other, on a device and in a layout."""

    def __init__(self, program, device):
        self.device = device
        self.layout = "nchw"
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        return self.process.wait()

    def call(self, operation, arrays, outputs, **options):
        """The outputs, in the order of their names: arrays of the call that it writes to."""
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()
                  if array is not None}
        request = {
            "operation": operation,
            "device": self.device,
            "arrays": [{"name": name, "type": TYPES[array.dtype], "shape": array.shape}
                       for name, array in arrays.items()],
            "outputs": outputs,
            "options": options,
        }
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        for array in arrays.values():
            self.process.stdin.write(array.tobytes())
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"onnx_calls ended with {self.process.wait()} in {operation}")
        answer = json.loads(line)
        if "error" in answer:
            raise LibraryError(answer["error"])
        return [self.read(arrays[name]) for name in outputs]

    def read(self, like):
        data = self.process.stdout.read(like.nbytes)
        return np.frombuffer(data, like.dtype).reshape(like.shape)

    def of_images(self, operation, images, output, others=None, **options):
        """A call whose `images` (weights too) are nchw, made in this object's layout. The result is
        the image called `output`, nchw again."""
        arrays = {name: array if array is None or self.layout == "nchw"
                  else array.transpose(0, 2, 3, 1) for name, array in images.items()}
        result, = self.call(operation, arrays | (others or {}), [output], layout=self.layout,
                            **options)
        return result if self.layout == "nchw" else result.transpose(0, 3, 1, 2)
