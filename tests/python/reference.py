"""What operations compute, in float64 and as plainly as NumPy allows. Images are nhwc."""

import numpy as np


def pads_of(padding, extents, kernel, stride, dilation):
    """((top, bottom), (left, right)) of what conv2d takes as padding."""
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        totals = [max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
                  for n, k, s, d in zip(extents, kernel, stride, dilation)]
        return tuple((total // 2, total - total // 2) for total in totals)
    if isinstance(padding, int):
        padding = (padding, padding)
    return tuple((p, p) if isinstance(p, int) else tuple(p) for p in padding)


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def windows(x, kernel, stride, dilation, pads, fill=0):
    """[N, OH, OW, R, S, C]: what a filter sees of each pixel. A view of a padded copy."""
    x = np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=fill)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=(1, 2))
    view = view[:, ::stride[0], ::stride[1], :, ::dilation[0], ::dilation[1]]
    return view.transpose(0, 1, 2, 4, 5, 3)


def conv2d(x, w, stride=1, padding=0, dilation=1, groups=1):
    x, w = x.astype(np.float64), w.astype(np.float64)
    stride, dilation = pair(stride), pair(dilation)
    pads = pads_of(padding, x.shape[1:3], w.shape[1:3], stride, dilation)
    seen = windows(x, w.shape[1:3], stride, dilation, pads)
    n, oh, ow, r, s, c = seen.shape
    seen = seen.reshape(n, oh, ow, r, s, groups, c // groups)
    filters = w.reshape(groups, -1, r, s, c // groups)
    return np.einsum("nyxrsgc,gkrsc->nyxgk", seen, filters).reshape(n, oh, ow, -1)


def conv2d_gradients(dy, x, w, **options):
    """Of input and weight, by the linearity of conv2d: exact for small integers."""
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for array, gradient in ((x, dx), (w, dw)):
        for place in np.ndindex(array.shape):
            unit = np.zeros(array.shape)
            unit[place] = 1
            out = conv2d(unit if array is x else x, unit if array is w else w, **options)
            gradient[place] = (out * dy).sum()
    return dx, dw


def pool2d(x, kernel, pooling, stride, padding):
    x = x.astype(np.float64)
    kernel, stride = pair(kernel), pair(stride)
    pads = pads_of(padding, x.shape[1:3], kernel, stride, (1, 1))
    seen = windows(x, kernel, stride, (1, 1), pads, np.nan)
    return (np.nanmax if pooling == "max" else np.nanmean)(seen, axis=(3, 4))


def group_norm(x, groups, weight, bias, epsilon):
    x = x.astype(np.float64)
    n, h, w, c = x.shape
    parts = x.reshape(n, h, w, groups, c // groups)
    mean = parts.mean((1, 2, 4), keepdims=True)
    deviation = np.sqrt(((parts - mean) ** 2).mean((1, 2, 4), keepdims=True) + epsilon)
    return ((parts - mean) / deviation).reshape(x.shape) * weight + bias


def tensor_product(x, w, imap, omap, rows):
    """Of padded maps [offsets, P]."""
    y = np.zeros((rows, w.shape[2]))
    for n, p in np.ndindex(imap.shape):
        if imap[n, p] >= 0 and omap[n, p] >= 0:
            y[omap[n, p]] += x[imap[n, p]].astype(np.float64) @ w[n].astype(np.float64)
    return y


def pairs_of_cloud(inputs, outputs, kernel, stride):
    """The set of (offset, input row, output row) of a kernel map of odd size."""
    places = {tuple(row): i for i, row in enumerate(inputs.tolist())}
    half = kernel // 2
    found = set()
    for m, (b, x, y, z) in enumerate(outputs.tolist()):
        offset = 0
        for i in range(-half, half + 1):
            for j in range(-half, half + 1):
                for k in range(-half, half + 1):
                    row = places.get((b, x * stride + i, y * stride + j, z * stride + k))
                    if row is not None:
                        found.add((offset, row, m))
                    offset += 1
    return found
