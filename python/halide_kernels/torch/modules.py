"""Modules that take the place of PyTorch's, with the same parameters, and replace()."""

import dataclasses
import time

import torch

from . import functional


class Conv2d(torch.nn.Conv2d):
    """torch.nn.Conv2d, dense, grouped or depthwise, by these kernels; zeros as padding."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.padding_mode != "zeros":
            raise ValueError(f"Conv2d: padding_mode is {self.padding_mode!r}, it must be 'zeros'")

    def forward(self, input):
        return functional.conv2d(input, self.weight, self.bias, self.stride, self.padding,
                                 self.dilation, self.groups)


class SparseConv3d(torch.nn.Module):
    """Sparse convolution of rows of voxels by the maps that forward() gets.

    kernel_volume: offsets of the map, such as 27 of 3 x 3 x 3.
    """

    def __init__(self, in_channels, out_channels, kernel_volume=27, groups=1, bias=True):
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.groups = groups
        self.weight = torch.nn.Parameter(
            torch.empty(kernel_volume, in_channels // groups, out_channels))
        self.bias = torch.nn.Parameter(torch.zeros(out_channels)) if bias else None
        bound = (kernel_volume * in_channels // groups) ** -0.5
        torch.nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, input, maps):
        return functional.sparse_conv(input, self.weight, maps, self.bias, self.groups)

    def extra_repr(self):
        return (f"{self.in_channels}, {self.out_channels}, kernel_volume={len(self.weight)}, "
                f"groups={self.groups}, bias={self.bias is not None}")


@dataclasses.dataclass
class Replacement:
    """What replace() found of a convolution: seconds a call, forward and backward."""

    name: str
    replaced: bool
    pytorch_seconds: float
    our_seconds: float

    def __str__(self):
        ratio = self.pytorch_seconds / self.our_seconds
        return (f"{self.name}: {'replaced' if self.replaced else 'kept'}, "
                f"{self.pytorch_seconds * 1e3:.3f} ms by PyTorch, {self.our_seconds * 1e3:.3f} ms "
                f"here ({ratio:.2f})")


def _seconds(module, input, training, repeats):
    """The least of a call's time, with its gradients in training."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        if training:
            x = input.detach().requires_grad_()
            output = module(x)
            torch.autograd.grad(output.sum(), [x, *module.parameters()])
        else:
            with torch.no_grad():
                module(input)
        if input.is_cuda:
            torch.cuda.synchronize(input.device)
        best = min(best, time.perf_counter() - start)
    return best


def _ours(module):
    """A Conv2d with the module's own parameters; None for one that it can't take the place of."""
    if type(module) is not torch.nn.Conv2d or module.padding_mode != "zeros":
        return None
    ours = Conv2d.__new__(Conv2d)
    ours.__dict__ = dict(module.__dict__)
    return ours


def replace(model, *example, repeats=5):
    """Exchanges the convolutions of a model that are faster here, in place.

    The model runs once on the example; each convolution is then timed on its input, in PyTorch and
    here: with gradients where the model is training. Returns a Replacement a convolution.
    """
    inputs, hooks = {}, []
    names = {name: module for name, module in model.named_modules() if _ours(module)}
    for name, module in names.items():
        hooks.append(module.register_forward_pre_hook(
            lambda module, arguments, name=name: inputs.setdefault(name, arguments[0].detach())))
    try:
        with torch.no_grad():
            model(*example)
    finally:
        for hook in hooks:
            hook.remove()
    results = []
    for name, module in names.items():
        if name not in inputs:
            continue
        ours = _ours(module)
        times = [_seconds(one, inputs[name], model.training, repeats) for one in (module, ours)]
        faster = times[1] < times[0]
        if faster and name:
            parent, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(parent), leaf, ours)
        results.append(Replacement(name, faster and bool(name), *times))
    return results
