"""Operators of torch.library: what they compute, their shapes, their gradients.

Names are ``torch.ops.halide_kernels.*``. Images are nchw by their shape, and channels_last where
their memory is, as PyTorch's own.
"""

import weakref

import torch

import halide_kernels as hk

from .. import _core
from .registration import call, fake, gradient, operator, refuse_second_gradients


def pads(padding):
    """((top, bottom), (left, right)) of a list of four."""
    return (padding[0], padding[1]), (padding[2], padding[3])


def is_channels_last(x):
    """Whether results of the image are: what the functions of halide_kernels decide by too."""
    stride = x.stride()
    return stride[1] == 1 and (x.shape[1] == 1 or x.shape[3] == 1 or stride[3] != 1)


def image_like(x, shape):
    """An image of no elements yet, lying as x does."""
    if is_channels_last(x):
        n, c, h, w = shape
        return x.new_empty((n, h, w, c)).permute(0, 3, 1, 2)
    return x.new_empty(shape)


CONV = "int[2] stride, int[4] padding, int[2] dilation, int groups"


def allows_tf32(tensor):
    """What the user allows PyTorch's own convolutions."""
    return tensor.is_cuda and torch.backends.cudnn.allow_tf32


@operator(f"conv2d(Tensor input, Tensor weight, Tensor? bias, {CONV}) -> Tensor", autocast=True)
def conv2d(input, weight, bias, stride, padding, dilation, groups):
    return _core._conv2d_of_torch(input, weight, bias, stride, padding, dilation, groups,
                                  allows_tf32(input))


def output_size(size, kernel, stride, before, after, dilation=1):
    return (size + before + after - dilation * (kernel - 1) - 1) // stride + 1


@fake("conv2d")
def _(input, weight, bias, stride, padding, dilation, groups):
    height = output_size(input.shape[2], weight.shape[2], stride[0], *padding[:2], dilation[0])
    width = output_size(input.shape[3], weight.shape[3], stride[1], *padding[2:], dilation[1])
    return image_like(input, (input.shape[0], weight.shape[0], height, width))


@operator(f"conv2d_backward(Tensor grad, Tensor input, Tensor weight, {CONV}, bool[3] wanted) -> "
          "(Tensor, Tensor, Tensor)")
def conv2d_backward(grad, input, weight, stride, padding, dilation, groups, wanted):
    parts = hk.conv2d_backward(grad, input, weight, stride=stride, padding=pads(padding),
                               dilation=dilation, groups=groups, layout="nchw",
                               allow_tf32=allows_tf32(grad), wanted=wanted)
    # An operator gives tensors; of those that are not wanted empty ones.
    return tuple(grad.new_empty(0) if part is None else part for part in parts)


@fake("conv2d_backward")
def _(grad, input, weight, stride, padding, dilation, groups, wanted):
    shapes = (input.shape, weight.shape, weight.shape[:1])
    return tuple(grad.new_empty(0) if not want
                 else image_like(grad, shape) if len(shape) == 4 else grad.new_empty(shape)
                 for want, shape in zip(wanted, shapes))


def save_conv2d(ctx, inputs, output):
    ctx.options = inputs[3:]
    ctx.save_for_backward(*inputs[:2])


def conv2d_gradients(ctx, grad):
    input, weight = ctx.saved_tensors
    wanted = list(ctx.needs_input_grad[:3])
    parts = call("conv2d_backward", grad, input, weight, *ctx.options, wanted)
    return (*(part if want else None for part, want in zip(parts, wanted)), None, None, None, None)


gradient("conv2d", conv2d_gradients, save_conv2d)


POOL = "str pooling, int[2] kernel, int[2] stride, int[2] padding"


@operator(f"pool2d(Tensor input, {POOL}) -> Tensor")
def pool2d(input, pooling, kernel, stride, padding):
    return hk.pool2d(input, kernel, pooling=pooling, stride=stride, padding=padding, layout="nchw")


@fake("pool2d")
def _(input, pooling, kernel, stride, padding):
    sizes = [output_size(n, k, s, p, p)
             for n, k, s, p in zip(input.shape[2:], kernel, stride, padding)]
    return image_like(input, (*input.shape[:2], *sizes))


@operator(f"pool2d_backward(Tensor grad, Tensor input, Tensor output, {POOL}) -> Tensor")
def pool2d_backward(grad, input, output, pooling, kernel, stride, padding):
    return hk.pool2d_backward(grad, input, output, kernel, pooling=pooling, stride=stride,
                              padding=padding, layout="nchw")


@fake("pool2d_backward")
def _(grad, input, output, pooling, kernel, stride, padding):
    return image_like(grad, input.shape)


def save_pool2d(ctx, inputs, output):
    input, *ctx.options = inputs
    ctx.save_for_backward(input, output)


def pool2d_gradient(ctx, grad):
    part = call("pool2d_backward", grad, *ctx.saved_tensors, *ctx.options)
    return part, None, None, None, None


gradient("pool2d", pool2d_gradient, save_pool2d)


@operator("topk(Tensor input, int k, int dim, bool largest) -> (Tensor, Tensor)")
def topk(input, k, dim, largest):
    return hk.topk(input, k, dim, largest=largest)


@fake("topk")
def _(input, k, dim, largest):
    shape = list(input.shape)
    shape[dim] = k
    return input.new_empty(shape), input.new_empty(shape, dtype=torch.int64)


def save_topk(ctx, inputs, output):
    input, _, ctx.dim, _ = inputs
    ctx.shape = input.shape
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1])


def topk_gradient(ctx, grad, _):
    indices, = ctx.saved_tensors
    return grad.new_zeros(ctx.shape).scatter(ctx.dim, indices, grad), None, None, None


gradient("topk", topk_gradient, save_topk)


@operator("group_norm(Tensor input, int groups, Tensor? weight, Tensor? bias, float epsilon) -> "
          "(Tensor, Tensor, Tensor)")
def group_norm(input, groups, weight, bias, epsilon):
    return hk.group_norm(input, groups, weight, bias, epsilon=epsilon, layout="nchw",
                         statistics=True)


@fake("group_norm")
def _(input, groups, weight, bias, epsilon):
    statistics = [input.new_empty((input.shape[0], groups), dtype=torch.float32) for _ in range(2)]
    return image_like(input, input.shape), *statistics


@operator("group_norm_backward(Tensor grad, Tensor input, Tensor mean, Tensor rstd, int groups, "
          "Tensor? weight, bool[3] wanted) -> (Tensor, Tensor, Tensor)")
def group_norm_backward(grad, input, mean, rstd, groups, weight, wanted):
    parts = hk.group_norm_backward(grad, input, mean, rstd, groups, weight, layout="nchw",
                                   wanted=wanted)
    return tuple(grad.new_empty(0) if part is None else part for part in parts)


@fake("group_norm_backward")
def _(grad, input, mean, rstd, groups, weight, wanted):
    channels = grad.new_empty(input.shape[1])
    return tuple(like if want else grad.new_empty(0) for want, like in
                 zip(wanted, (image_like(grad, input.shape), channels, channels.clone())))


def save_group_norm(ctx, inputs, output):
    input, ctx.groups, weight, bias, _ = inputs
    ctx.has_bias = bias is not None
    ctx.mark_non_differentiable(output[1], output[2])
    ctx.save_for_backward(input, weight, output[1], output[2])


def group_norm_gradients(ctx, grad, *_):
    input, weight, mean, rstd = ctx.saved_tensors
    needs = ctx.needs_input_grad
    wanted = [needs[0], weight is not None and needs[2], ctx.has_bias and needs[3]]
    parts = call("group_norm_backward", grad, input, mean, rstd, ctx.groups, weight, wanted)
    parts = [part if want else None for part, want in zip(parts, wanted)]
    return parts[0], None, parts[1], parts[2], None


gradient("group_norm", group_norm_gradients, save_group_norm)


# Maps are no tensors: operators name them by a number, for as long as somebody has them.
_maps = weakref.WeakValueDictionary()


class Maps:
    """Maps of a sparse convolution, for operators: a KernelMap or TensorProductMaps."""

    def __init__(self, maps):
        self.maps = maps
        self.input_rows, self.output_rows = maps.input_rows, maps.output_rows
        self.number = id(self)
        _maps[self.number] = self

    def __repr__(self):
        return f"Maps({self.maps!r})"


PRODUCT = "int maps, int rows, int groups"


@operator(f"tensor_product(Tensor input, Tensor weight, {PRODUCT}) -> Tensor", autocast=True)
def tensor_product(input, weight, maps, rows, groups):
    return hk.tensor_product(input, weight, _maps[maps].maps, groups=groups)


@fake("tensor_product")
def _(input, weight, maps, rows, groups):
    return input.new_empty((rows, weight.shape[2]))


@operator(f"tensor_product_backward_data(Tensor grad, Tensor weight, {PRODUCT}) -> Tensor")
def tensor_product_backward_data(grad, weight, maps, rows, groups):
    return hk.tensor_product_backward_data(grad, weight, _maps[maps].maps, groups=groups)


@fake("tensor_product_backward_data")
def _(grad, weight, maps, rows, groups):
    return grad.new_empty((rows, weight.shape[1] * groups))


@operator("tensor_product_backward_weight(Tensor input, Tensor grad, int maps, int offsets, "
          "int groups) -> Tensor")
def tensor_product_backward_weight(input, grad, maps, offsets, groups):
    return hk.tensor_product_backward_weight(input, grad, _maps[maps].maps, groups=groups)


@fake("tensor_product_backward_weight")
def _(input, grad, maps, offsets, groups):
    return input.new_empty((offsets, input.shape[1] // groups, grad.shape[1]))


def save_tensor_product(ctx, inputs, output):
    input, weight, maps, _, ctx.groups = inputs
    ctx.maps = _maps[maps]  # alive until the backward pass
    ctx.save_for_backward(input, weight)


def tensor_product_gradients(ctx, grad):
    input, weight = ctx.saved_tensors
    maps, groups = ctx.maps, ctx.groups
    data = parts = None
    if ctx.needs_input_grad[0]:
        data = call("tensor_product_backward_data", grad, weight, maps.number, maps.input_rows,
                    groups)
    if ctx.needs_input_grad[1]:
        parts = call("tensor_product_backward_weight", input, grad, maps.number, weight.shape[0],
                     groups)
    return data, parts, None, None, None


gradient("tensor_product", tensor_product_gradients, save_tensor_product)


refuse_second_gradients()
