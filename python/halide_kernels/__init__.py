"""Deep-learning kernels compiled ahead of time from Halide, for arrays of Python.

Functions take anything with ``__dlpack__`` or the buffer protocol (NumPy, PyTorch, JAX, CuPy)
without a copy, and give the kind of their first array. Arrays of PyTorch that want gradients go to
``halide_kernels.torch``, those of JAX that are traced to ``halide_kernels.jax``.
"""

from . import _core
from ._core import *  # noqa: F403

__version__: str = _core.__version__  # type: ignore[attr-defined]
