"""Types of arguments, as the stubs name them."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, Union, runtime_checkable


@runtime_checkable
class SupportsDlpack(Protocol):
    """An array of NumPy, PyTorch, JAX, CuPy and others."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


# What comes in: DLPack or the buffer protocol (bytes, array.array, memoryview).
Array = Union[SupportsDlpack, bytes, bytearray, memoryview, Any]

# A function's results are of the kind of its first array.
A = TypeVar("A")

# "float32" and NumPy's other names, "f32" and the library's, numpy.float32, torch.float32.
Dtype = Any
