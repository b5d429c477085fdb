import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def ints(rng):
    """Small whole numbers, whose sums are exact in float32."""
    return lambda *shape, dtype=np.float32: rng.integers(-4, 5, shape).astype(dtype)
