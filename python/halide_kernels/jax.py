"""JAX: functions for jit, grad and vmap, on the CPU, by foreign functions of XLA.

    import halide_kernels.jax as hkj

    loss = jax.jit(lambda w: hkj.conv2d(x, w, padding="same").sum())
    jax.grad(loss)(w)

vmap of conv2d over its input adds to the batch; others run one after the other.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from . import _core

if not hasattr(_core, "_jax_targets"):
    raise ImportError("halide_kernels was built without XLA's headers: install jaxlib, then build it")

for _name, _target in _core._jax_targets().items():
    jax.ffi.register_ffi_target(f"halide_kernels.{_name}", _target, platform="cpu")

__all__ = ["conv2d", "tensor_product", "topk"]


def _call(name, result, *arrays, **options):
    return jax.ffi.ffi_call(f"halide_kernels.{name}", result, vmap_method="sequential")(
        *arrays, **options)


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _spatial(shape, layout):
    return shape[2:] if layout == "nchw" else shape[1:3]


def _pads(padding, extents, kernel, stride, dilation):
    """top, bottom, left, right, as halide_kernels.conv2d takes its padding."""
    if padding == "valid":
        return 0, 0, 0, 0
    if padding == "same":
        totals = [max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
                  for n, k, s, d in zip(extents, kernel, stride, dilation)]
        return tuple(half for total in totals for half in (total // 2, total - total // 2))
    if isinstance(padding, str):
        raise ValueError(f"conv2d: padding is {padding!r}, it must be 'same', 'valid' or numbers")
    return tuple(side for axis in _pair(padding) for side in _pair(axis))


def _conv2d_call(name, shape, dtype, arrays, options):
    stride, padding, dilation, groups, layout = options
    return _call(name, jax.ShapeDtypeStruct(shape, dtype), *arrays, stride=np.array(stride),
                 padding=np.array(padding), dilation=np.array(dilation), groups=np.int64(groups),
                 layout=layout)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _conv2d(input, weight, options):
    stride, padding, dilation, _, layout = options
    sizes = [(n + before + after - d * (k - 1) - 1) // s + 1
             for n, k, s, d, before, after in
             zip(_spatial(input.shape, layout), _spatial(weight.shape, layout), stride, dilation,
                 padding[::2], padding[1::2])]
    channels = weight.shape[0]
    shape = (channels, *sizes) if layout == "nchw" else (*sizes, channels)
    call = partial(_conv2d_call, "conv2d", dtype=input.dtype, options=options)

    # A batch of inputs is a larger batch of images.
    @jax.custom_batching.custom_vmap
    def forward(input, weight):
        return call(shape=(input.shape[0], *shape), arrays=(input, weight))

    @forward.def_vmap
    def _(size, batched, input, weight):
        if not batched[0]:
            input = jnp.broadcast_to(input, (size, *input.shape))
        if batched[1]:
            result = jax.lax.map(lambda pair: forward(*pair), (input, weight))
            return result, True
        merged = forward(input.reshape(-1, *input.shape[2:]), weight)
        return merged.reshape(*input.shape[:2], *merged.shape[1:]), True

    return forward(input, weight)


def _conv2d_forward(input, weight, options):
    return _conv2d(input, weight, options), (input, weight)


def _conv2d_backward(options, saved, gradient):
    input, weight = saved
    return (_conv2d_call("conv2d_backward_data", input.shape, input.dtype, (gradient, weight),
                         options),
            _conv2d_call("conv2d_backward_weight", weight.shape, weight.dtype, (gradient, input),
                         options))


_conv2d.defvjp(_conv2d_forward, _conv2d_backward)


def conv2d(input, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1, layout="nhwc"):
    """halide_kernels.conv2d: shapes, layouts, types and paddings are its own."""
    if layout not in ("nhwc", "nchw"):
        raise ValueError(f"conv2d: layout is {layout!r}, it must be 'nhwc' or 'nchw'")
    for name, array in (("input", input), ("weight", weight)):
        if array.ndim != 4:
            raise ValueError(f"conv2d: {name} has shape {array.shape}, it must have 4 dimensions")
    stride, dilation = _pair(stride), _pair(dilation)
    padding = _pads(padding, _spatial(input.shape, layout), _spatial(weight.shape, layout), stride,
                    dilation)
    output = _conv2d(input, weight, (stride, padding, dilation, groups, layout))
    if bias is None:
        return output
    return output + (bias[:, None, None] if layout == "nchw" else bias)


@partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3))
def _topk(input, k, axis, largest):
    shape = (*input.shape[:axis], k, *input.shape[axis + 1:])
    return tuple(_call("topk", (jax.ShapeDtypeStruct(shape, input.dtype),
                                jax.ShapeDtypeStruct(shape, jnp.int32)),
                       input, axis=np.int64(axis), largest=largest))


@_topk.defjvp
def _(k, axis, largest, primals, tangents):
    values, indices = _topk(primals[0], k, axis, largest)
    change = jnp.take_along_axis(tangents[0], indices, axis)
    return (values, indices), (change, np.zeros(indices.shape, jax.dtypes.float0))


def topk(input, k, axis=-1, *, largest=True):
    """halide_kernels.topk: values and indices, these int32."""
    axis = axis + input.ndim if axis < 0 else axis
    if not 0 <= axis < input.ndim:
        raise ValueError(f"topk: axis is {axis}, the input has {input.ndim} dimensions")
    return _topk(input, k, axis, largest)


@partial(jax.custom_vjp, nondiff_argnums=(5, 6))
def _product(input, weight, imap, omap, starts, rows, groups):
    return _call("tensor_product", jax.ShapeDtypeStruct((rows, weight.shape[2]), input.dtype),
                 input, weight, imap, omap, starts, groups=np.int64(groups))


def _product_forward(input, weight, imap, omap, starts, rows, groups):
    return (_product(input, weight, imap, omap, starts, rows, groups),
            (input, weight, imap, omap, starts))


def _product_backward(rows, groups, saved, gradient):
    input, weight, *maps = saved
    results = [
        _call(f"tensor_product_backward_{name}", jax.ShapeDtypeStruct(of.shape, of.dtype), *pair,
              *maps, groups=np.int64(groups))
        for name, of, pair in (("data", input, (gradient, weight)),
                               ("weight", weight, (input, gradient)))]
    return *results, *(np.zeros(one.shape, jax.dtypes.float0) for one in maps)


_product.defvjp(_product_forward, _product_backward)


def tensor_product(input, weight, maps, *, groups=1):
    """halide_kernels.tensor_product by a KernelMap: sparse convolution."""
    if not isinstance(maps, _core.KernelMap):
        raise TypeError(f"tensor_product: maps is {type(maps).__name__}, it must be a KernelMap")
    if input.shape[0] != maps.input_rows:
        raise ValueError(f"tensor_product: input has {input.shape[0]} rows, the map "
                         f"{maps.input_rows}")
    arrays = [np.asarray(one).astype(np.int32) for one in (maps.imap, maps.omap, maps.starts)]
    return _product(input, weight, *map(jnp.asarray, arrays), maps.output_rows, groups)
