"""halide_kernels.torch: against PyTorch, in eager mode, compiled and under autocast."""

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import halide_kernels as hk  # noqa: E402
import halide_kernels.torch as hkt  # noqa: E402
from halide_kernels.torch import registration  # noqa: E402

FORMATS = pytest.mark.parametrize("memory_format",
                                  [torch.contiguous_format, torch.channels_last])
CONVS = [{}, {"stride": 2, "padding": 1}, {"padding": "same", "groups": 4},
         {"dilation": (1, 2), "padding": (2, 1), "groups": 2}]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(3)


@pytest.fixture(params=["asks", "can't ask"])
def ways(request, monkeypatch):
    """Calls of a PyTorch that tells who looks on, and of one that doesn't."""
    assert registration.CAN_ASK
    monkeypatch.setattr(registration, "CAN_ASK", request.param == "asks")


# Where tensors come by __dlpack__() they lose strides of dimensions of one element.
KEEPS_STRIDES = pytest.mark.skipif(not registration.TAKES_ALL, reason="an old PyTorch")
WAYS = pytest.mark.usefixtures("ways")


def tensors(groups, memory_format, dtype=torch.float32):
    x = torch.randn(2, 8, 9, 7, dtype=dtype).to(memory_format=memory_format)
    w = torch.randn(12, 8 // groups, 3, 3, dtype=dtype).to(memory_format=memory_format)
    return x, w, torch.randn(12, dtype=dtype)


@FORMATS
@pytest.mark.parametrize("options", CONVS)
@WAYS
def test_conv2d(memory_format, options):
    found, expected = [], []
    for function, results in ((hkt.conv2d, found), (F.conv2d, expected)):
        torch.manual_seed(3)
        leaves = tensors(options.get("groups", 1), memory_format)
        leaves = [leaf.requires_grad_() for leaf in leaves]
        y = function(*leaves, **options)
        results += [y, *torch.autograd.grad((y * torch.sin(y.detach())).sum(), leaves)]
    for ours, theirs in zip(found, expected):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    assert found[0].is_contiguous(memory_format=memory_format)
    with torch.no_grad():
        plain = hkt.conv2d(*leaves, **options)
    assert torch.equal(plain, found[0]) and plain.stride() == found[0].stride()


@KEEPS_STRIDES
def test_one_channel_or_column():
    for shape in ((2, 1, 5, 4), (2, 3, 5, 1), (2, 3, 1, 1), (2, 1, 1, 1)):
        for memory_format in (torch.contiguous_format, torch.channels_last):
            x = torch.randn(shape).to(memory_format=memory_format).requires_grad_()
            w = torch.randn(4, shape[1], 1, 1)
            y = hkt.conv2d(x, w)
            torch.testing.assert_close(y, F.conv2d(x, w), rtol=1e-4, atol=1e-4)
            meta = torch.ops.halide_kernels.conv2d(x.to("meta"), w.to("meta"), None, [1, 1],
                                                   [0] * 4, [1, 1], 1)
            assert meta.shape == y.shape and meta.stride() == y.stride()


def test_the_modules_of_torch_mean_the_same():
    x = torch.randn(3, 8, 6, 5)
    ours = hkt.Conv2d(8, 8, 3, groups=8, padding=1)
    assert isinstance(ours, torch.nn.Conv2d)
    torch.testing.assert_close(ours(x), torch.nn.Conv2d.forward(ours, x), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours(x[0]), torch.nn.Conv2d.forward(ours, x[0]), rtol=1e-4,
                               atol=1e-4)
    with pytest.raises(ValueError, match="reflect"):
        hkt.Conv2d(1, 1, 3, padding_mode="reflect")


@FORMATS
@WAYS
def test_pools(memory_format):
    x = torch.randn(2, 3, 8, 7).to(memory_format=memory_format)
    for ours, theirs in (
        (lambda x: hkt.max_pool2d(x, 3, 2, 1), lambda x: F.max_pool2d(x, 3, 2, 1)),
        (lambda x: hkt.avg_pool2d(x, 2), lambda x: F.avg_pool2d(x, 2, count_include_pad=False)),
    ):
        results = []
        for function in (ours, theirs):
            leaf = x.clone().requires_grad_()
            y = function(leaf)
            results.append((y, torch.autograd.grad((y * y.detach()).sum(), leaf)[0]))
        for a, b in zip(*results):
            torch.testing.assert_close(a, b)


@FORMATS
@WAYS
def test_group_norm(memory_format):
    results = []
    for function in (hkt.group_norm, F.group_norm):
        torch.manual_seed(3)
        x = torch.randn(2, 6, 4, 5).to(memory_format=memory_format).requires_grad_()
        w, b = torch.randn(6).requires_grad_(), torch.randn(6).requires_grad_()
        y = function(x, 3, w, b)
        results.append((y, *torch.autograd.grad((y * torch.cos(y.detach())).sum(), (x, w, b))))
    for a, b in zip(*results):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@WAYS
def test_topk():
    x = torch.randn(4, 9, dtype=torch.float64, requires_grad=True)
    values, indices = hkt.topk(x, 3, 1)
    expected = torch.topk(x, 3, 1)
    assert torch.equal(values, expected.values) and torch.equal(indices, expected.indices)
    assert torch.equal(*(torch.autograd.grad((v * v).sum(), x)[0]
                         for v in (values, expected.values)))
    with torch.no_grad():
        assert torch.equal(hkt.topk(x, 3, 1)[0], values)


def voxels():
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3)[::2]
    return np.concatenate([np.zeros((len(grid), 1)), grid], 1).astype(np.int32)


@WAYS
def test_sparse_conv():
    """A submanifold convolution is the dense one, where voxels are."""
    cloud = voxels()
    maps = hkt.Maps(hk.submanifold_map(cloud))
    layer = hkt.SparseConv3d(4, 5)
    x = torch.randn(len(cloud), 4, requires_grad=True)
    y = layer(x, maps)
    b, i, j, k = torch.from_numpy(cloud).long().T
    dense = torch.zeros(1, 4, 4, 4, 4).index_put((b, i, j, k), x).permute(0, 4, 1, 2, 3)
    weight = layer.weight.reshape(3, 3, 3, 4, 5).permute(4, 3, 0, 1, 2)
    expected = F.conv3d(dense, weight, layer.bias, padding=1)[b, :, i, j, k]
    torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
    grads = [torch.autograd.grad((v * torch.sin(v.detach())).sum(), [x, layer.weight])
             for v in (y, expected)]
    for ours, theirs in zip(*grads):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def samples():
    x, w, b = tensors(2, torch.contiguous_format)
    for leaf in (x, w, b):
        leaf.requires_grad_()
    last = x.detach().to(memory_format=torch.channels_last).requires_grad_()
    four, two = [1, 1, 1, 1], [1, 1]
    maps = hkt.Maps(hk.submanifold_map(voxels()))
    rows = torch.randn(maps.input_rows, 4, requires_grad=True)
    product = torch.randn(27, 4, 5, requires_grad=True)
    norm = torch.randn(8, requires_grad=True)
    return maps, [
        ("conv2d", (x, w, b, two, four, two, 2)), ("conv2d", (last, w, None, two, four, two, 2)),
        ("pool2d", (x, "max", [2, 2], [2, 2], [0, 0])),
        ("pool2d", (last, "average", [2, 2], [2, 2], [0, 0])),
        ("topk", (x, 2, -1, True)), ("group_norm", (x, 4, norm, norm, 1e-5)),
        ("tensor_product", (rows, product, maps.number, maps.output_rows, 1))]


def test_opcheck():
    maps, all_samples = samples()
    for name, arguments in all_samples:
        torch.library.opcheck(getattr(torch.ops.halide_kernels, name).default, arguments)


@WAYS
def test_compile():
    layer = torch.nn.Sequential(hkt.Conv2d(4, 8, 3, padding="same", groups=4), torch.nn.ReLU())

    def step(x):
        return hkt.topk(hkt.max_pool2d(layer(x), 2).flatten(1), 5)[0].sum()

    x = torch.randn(2, 4, 8, 8)
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    results = []
    for function in (step, compiled):
        layer.zero_grad()
        loss = function(x)
        loss.backward()
        results.append((loss.detach(), layer[0].weight.grad.clone()))
    for a, b in zip(*results):
        torch.testing.assert_close(a, b)


@pytest.mark.filterwarnings("ignore")
@WAYS
def test_trace():
    """What is recorded is the operator, not its result."""
    w = torch.randn(4, 8, 1, 1)
    traced = torch.jit.trace(lambda x: hkt.conv2d(x, w), torch.randn(1, 8, 4, 4))
    made = torch.fx.experimental.proxy_tensor.make_fx(lambda x: hkt.conv2d(x, w))(
        torch.randn(1, 8, 4, 4))
    x = torch.randn(1, 8, 4, 4)
    for recorded in (traced, made):
        assert torch.equal(recorded(x), hkt.conv2d(x, w))
        assert "halide_kernels" in str(recorded.graph)


@WAYS
def test_autocast():
    results = []
    for function in (hkt.conv2d, F.conv2d):
        torch.manual_seed(3)
        leaves = [leaf.requires_grad_() for leaf in tensors(1, torch.contiguous_format)]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = function(*leaves)
        assert y.dtype == torch.bfloat16
        results.append((y.float(), *torch.autograd.grad(y.float().sin().sum(), leaves)))
    for ours, theirs in zip(*results):
        torch.testing.assert_close(ours, theirs, rtol=0.02, atol=0.2)


@WAYS
def test_double_backward_says_so():
    x, w, b = (leaf.requires_grad_() for leaf in tensors(1, torch.contiguous_format))
    y = hkt.conv2d(x, w, b)
    grad, = torch.autograd.grad((y * y).sum(), w, create_graph=True)
    with pytest.raises(RuntimeError, match="conv2d_backward"):
        grad.sum().backward()


FUNCTIONALS = [
    lambda ours, w: (ours.conv2d(torch.sin(w).reshape(1, 4, 9, 3), w).sin() ** 2).sum(),
    lambda ours, w: ours.max_pool2d(w * w, 2, 1).sin().sum(),
    lambda ours, w: (ours.topk(w.flatten(), 5)[0] ** 2).sum(),
    lambda ours, w: (ours.group_norm(w, 2).sin() * w).sum()]


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # vmap calls once a slice
@pytest.mark.parametrize("function", FUNCTIONALS)
@WAYS
def test_transforms_of_torch_func(function):
    class Theirs:
        conv2d, max_pool2d, group_norm = F.conv2d, F.max_pool2d, F.group_norm
        topk = torch.topk

    many = torch.randn(2, 3, 4, 3, 3)
    results = []
    for functions in (hkt, Theirs):
        def one(w, functions=functions):
            return function(functions, w)

        results.append([torch.func.grad(one)(many[0]), torch.func.jacrev(one)(many[1]),
                        torch.vmap(one)(many), torch.vmap(torch.func.grad(one))(many)])
    for ours, theirs in zip(*results):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


@WAYS
def test_second_gradients_of_torch_func_say_so():
    w = torch.randn(3, 4, 3, 3)
    for function in (FUNCTIONALS[0], FUNCTIONALS[1], FUNCTIONALS[3]):
        gradient = torch.func.grad(lambda w, function=function: function(hkt, w))
        with pytest.raises(RuntimeError, match="differentiated once"):
            torch.func.grad(lambda w, gradient=gradient: gradient(w).sum())(w)


# The operators themselves, which any caller of PyTorch's dispatcher gets.
OPERATORS = [
    lambda ops, w: ops.conv2d(torch.sin(w).reshape(1, 4, 9, 3), w, None, [1, 1], [0] * 4, [1, 1], 1),
    lambda ops, w: ops.pool2d(w * w, "max", [2, 2], [1, 1], [0, 0]),
    lambda ops, w: ops.topk(w.flatten(), 5, 0, True)[0],
    lambda ops, w: ops.group_norm(w, 2, None, None, 1e-5)[0]]


@pytest.mark.parametrize("functions, function",
                         [(hkt, one) for one in FUNCTIONALS]
                         + [(torch.ops.halide_kernels, one) for one in OPERATORS])
@WAYS
def test_derivatives_forwards_are_refused(functions, function):
    w = torch.randn(3, 4, 3, 3)
    with pytest.raises(NotImplementedError, match="halide_kernels::.* has no jvp"):
        torch.func.jvp(lambda w: function(functions, w), (w,), (torch.ones_like(w),))
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        assert function(functions, w).isfinite().all()  # without a tangent
        for recorded in (False, True):
            x = forward.make_dual(w.clone().requires_grad_(recorded), torch.ones_like(w))
            with pytest.raises(NotImplementedError, match="halide_kernels::.* has no jvp"):
                function(functions, x)


def test_shapes_that_torch_takes_too():
    x = torch.randn(4, 6, 5)
    for ours, theirs in ((hkt.max_pool2d, F.max_pool2d), (hkt.avg_pool2d, F.avg_pool2d)):
        torch.testing.assert_close(ours(x, 2), theirs(x, 2))
    for shape in ((3, 8), (2, 8, 5), (2, 8, 3, 2, 2)):
        x, w = torch.randn(shape, requires_grad=True), torch.randn(8, requires_grad=True)
        results = []
        for function in (hkt.group_norm, F.group_norm):
            y = function(x, 2, w)
            results.append((y, *torch.autograd.grad(y.sin().sum(), (x, w))))
        for ours, theirs in zip(*results):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"padding is \(1, 2, 3\)"):
        hkt.conv2d(torch.randn(1, 4, 5, 5), torch.randn(2, 4, 3, 3), padding=(1, 2, 3))
    with pytest.raises(TypeError, match="elements of dtype 'torch.bool'"):
        hk.topk(torch.ones(3, dtype=torch.bool), 1)


@WAYS
def test_tensors_without_memory():
    with torch.device("meta"):
        model = torch.nn.Sequential(hkt.Conv2d(4, 8, 3, stride=2), torch.nn.ReLU())
        y = model(torch.randn(2, 4, 9, 9))
    assert y.is_meta and y.shape == (2, 8, 4, 4) and y.requires_grad
    with torch.no_grad():
        assert hkt.group_norm(y, 2).shape == y.shape
    with pytest.raises(RuntimeError):
        hkt.conv2d(torch.sparse_coo_tensor((1, 4, 9, 9)), torch.randn(8, 4, 3, 3))


def test_modules_say_what_they_are():
    layer = hkt.SparseConv3d(4, 6, bias=False)
    assert repr(layer) == "SparseConv3d(4, 6, kernel_volume=27, groups=1, bias=False)"
    maps = hkt.Maps(hk.submanifold_map(np.zeros((1, 4), np.int32)))
    assert repr(maps) == "Maps(KernelMap(input_rows=1, output_rows=1, offsets=27, pairs=1))"
    with pytest.raises(TypeError, match=r"KernelMap, it must be halide_kernels.torch.Maps\("):
        layer(torch.randn(1, 4), maps.maps)


def test_a_version_of_pytorch_that_lacks_what_is_not_public():
    code = """
import torch
del torch._C._len_torch_dispatch_stack, torch._C._functorch.peek_interpreter_stack
del torch._C._is_fwd_grad_enabled
import halide_kernels.torch as hkt
x, w = torch.randn(1, 4, 5, 5), torch.randn(3, 4, 3, 3, requires_grad=True)
torch.testing.assert_close(*(torch.autograd.grad(f.conv2d(x, w).sin().sum(), w)[0]
                             for f in (hkt, torch.nn.functional)), rtol=1e-4, atol=1e-4)
print(hkt.registration.CAN_ASK)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_replace():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(16, 16, 3, groups=16, padding=1), torch.nn.ReLU(),
        torch.nn.Sequential(torch.nn.Conv2d(16, 4, 1), torch.nn.Conv2d(4, 4, 3, padding_mode="reflect",
                                                                        padding=1)))
    x = torch.randn(2, 16, 24, 24)
    before = model(x)
    parameters = set(map(id, model.parameters()))
    found = hkt.replace(model, x, repeats=2)
    assert [one.name for one in found] == ["0", "2.0"]
    for one in found:
        assert isinstance(model.get_submodule(one.name), hkt.Conv2d) == one.replaced
        assert one.replaced == (one.our_seconds < one.pytorch_seconds)
        assert one.name in str(one)
    assert set(map(id, model.parameters())) == parameters
    torch.testing.assert_close(model(x), before, rtol=1e-4, atol=1e-4)


@WAYS
def test_views_that_pytorch_negates():
    x = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert x.is_neg()
    with pytest.raises(ValueError, match=r"resolve_neg\(\)"):
        hk.topk(x, 1)
    assert hkt.topk(x, 1)[0].item() == 4
    leaf = torch.ones(2, requires_grad=True)
    hkt.topk(leaf * x, 1)[0].sum().backward()
    assert leaf.grad.tolist() == [0, 4]
