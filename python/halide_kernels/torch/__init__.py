"""PyTorch: operators with gradients, for eager mode, torch.compile and autocast.

    import halide_kernels.torch as hkt

    y = hkt.conv2d(x, weight, bias, padding="same", groups=32)
    layer = hkt.Conv2d(64, 64, 3, groups=64)
    print(*hkt.replace(model, x), sep="\\n")     # exchanges what is faster here
"""

from .functional import avg_pool2d, conv2d, group_norm, max_pool2d, sparse_conv, topk
from .modules import Conv2d, Replacement, SparseConv3d, replace
from .operators import Maps

__all__ = ["Conv2d", "Maps", "Replacement", "SparseConv3d", "avg_pool2d", "conv2d", "group_norm",
           "max_pool2d", "replace", "sparse_conv", "topk"]
