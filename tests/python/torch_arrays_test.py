"""Tensors of PyTorch in plain calls of halide_kernels."""

import pytest

torch = pytest.importorskip("torch")

import halide_kernels as hk  # noqa: E402

# By DLPack's C functions; others come by __dlpack__(), whose errors are PyTorch's.
EXCHANGED = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")


@pytest.mark.skipif(not EXCHANGED, reason="an old PyTorch")
def test_plain_functions_refuse_gradients():
    with pytest.raises(ValueError, match="input requires a gradient.*halide_kernels.torch"):
        hk.activate(torch.ones(2, requires_grad=True))
    assert isinstance(hk.activate(torch.ones(2)), torch.Tensor)
    with torch.no_grad():
        assert not hk.activate(torch.ones(2, requires_grad=True)).requires_grad


@pytest.mark.parametrize("make", [
    lambda x: x.to("meta"), lambda x: x.to_sparse(), lambda x: x.to_mkldnn(),
    lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
    lambda x: torch.nested.nested_tensor([x, x]), lambda x: x.to(torch.complex64),
    lambda x: x.to(torch.float8_e4m3fn), lambda x: x > 0])
@pytest.mark.filterwarnings("ignore")
def test_tensors_that_are_no_arrays(make):
    x = make(torch.ones(2, 3))
    for function in (hk.activate, hk.asarray):
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            function(x)


def test_memory_that_is_gone():
    x = torch.ones(1000)
    x.untyped_storage().resize_(0)
    error, text = (ValueError, "data is null") if EXCHANGED else (RuntimeError, "out of bounds")
    with pytest.raises(error, match=text):
        hk.activate(x)


def test_out_of_torch():
    out = torch.zeros(1, 2, 2, 3)
    x, w = torch.ones(1, 2, 2, 4), torch.ones(3, 1, 1, 4)
    assert hk.conv2d(x, w, out=out) is out
    assert torch.equal(out, torch.full((1, 2, 2, 3), 4.0))
