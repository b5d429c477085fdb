"""Functions as torch.nn.functional has them, and sparse convolution."""

from .operators import Maps, call


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def _four(padding, input, weight, stride, dilation):
    """top, bottom, left, right of what torch.nn.functional.conv2d takes."""
    if isinstance(padding, int):
        return [padding] * 4
    if padding == "valid":
        return [0, 0, 0, 0]
    if padding == "same":
        if stride != [1, 1]:
            raise ValueError(f"conv2d: padding is 'same' and stride is {stride}, it must be 1")
        totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
        return [totals[0] // 2, totals[0] - totals[0] // 2,
                totals[1] // 2, totals[1] - totals[1] // 2]
    if isinstance(padding, str):
        raise ValueError(f"conv2d: padding is {padding!r}, it must be 'same', 'valid' or numbers")
    if len(padding) != 2:
        raise ValueError(f"conv2d: padding is {padding!r}, it must be 'same', 'valid', a number or "
                         "two: y, x")
    y, x = padding
    return [y, y, x, x]


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch.nn.functional.conv2d, of nchw or channels_last; float32, float16, bfloat16."""
    stride, dilation = _pair(stride), _pair(dilation)
    unbatched = input.dim() == 3
    if unbatched:
        input = input.unsqueeze(0)
    four = _four(padding, input, weight, stride, dilation)
    output = call("conv2d", input, weight, bias, stride, four, dilation, groups)
    return output.squeeze(0) if unbatched else output


def _pool(pooling, input, kernel, stride, padding):
    if input.dim() == 3:
        return _pool(pooling, input.unsqueeze(0), kernel, stride, padding).squeeze(0)
    kernel = _pair(kernel)
    stride = kernel if stride is None else _pair(stride)
    return call("pool2d", input, pooling, kernel, stride, _pair(padding))


def max_pool2d(input, kernel_size, stride=None, padding=0):
    """torch.nn.functional.max_pool2d; of equal maxima the first has the gradient."""
    return _pool("max", input, kernel_size, stride, padding)


def avg_pool2d(input, kernel_size, stride=None, padding=0):
    """torch.nn.functional.avg_pool2d with count_include_pad=False."""
    return _pool("average", input, kernel_size, stride, padding)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """torch.nn.functional.group_norm."""
    if input.dim() != 4 and input.dim() >= 2:
        image = input.reshape(*input.shape[:2], input.shape[2:].numel(), 1)
        return group_norm(image, num_groups, weight, bias, eps).reshape(input.shape)
    return call("group_norm", input, num_groups, weight, bias, eps)[0]


def topk(input, k, dim=-1, largest=True):
    """torch.topk: values and indices, best first; of equal ones that with the lower index."""
    return call("topk", input, k, dim, largest)


def sparse_conv(input, weight, maps, bias=None, groups=1):
    """Sparse convolution: rows of voxels [rows, C], weight [offsets, C/groups, M].

    maps: Maps(map) of a KernelMap of the voxels (halide_kernels.submanifold_map, strided_map).
    """
    if not isinstance(maps, Maps):
        raise TypeError(f"sparse_conv: maps is {type(maps).__name__}, it must be "
                        "halide_kernels.torch.Maps(a KernelMap)")
    output = call("tensor_product", input, weight, maps.number, maps.output_rows, groups)
    return output if bias is None else output + bias
