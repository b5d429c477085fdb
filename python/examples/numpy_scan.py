"""NumPy: sparse convolutions over a laser scan, coloured by what they find.

    python numpy_scan.py SCAN.ply OUTPUT.png [VOXEL]

VOXEL: centimetres, 100. Each voxel counts its neighbours in a few shapes; a strided map makes the
coarse level, whose transposed map brings its features back.
"""

import sys

import matplotlib
import numpy as np

import halide_kernels as hk

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

if len(sys.argv) < 3:
    sys.exit(__doc__)
voxel = int(sys.argv[3]) if len(sys.argv) > 3 else 100
header, _, body = open(sys.argv[1], "rb").read().partition(b"end_header\n")
points = np.frombuffer(body, "<i2").reshape(-1, 3)
cells = np.unique(points // voxel, axis=0).astype(np.int32)
cloud = np.concatenate([np.zeros((len(cells), 1), np.int32), cells], 1)

# %% Which voxels neighbour which: in 3 x 3 x 3, and in 2 x 2 x 2 with a stride of 2.
around = hk.submanifold_map(cloud)
down = hk.strided_map(cloud)
up = down.transposed(cloud)
print(around, down, sep="\n")

# %% Neighbours in a column, in a plane, in all: three channels of one sparse convolution.
offsets = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3, indexing="ij"), -1).reshape(27, 3)
shapes = np.stack([(offsets[:, :2] == 0).all(1), offsets[:, 2] == 0, np.ones(27)], 1)
weight = (shapes / shapes.sum(0)).astype(np.float32)[:, None, :]
ones = np.ones((len(cloud), 1), np.float32)
fine = hk.tensor_product(ones, weight, around)

# %% The mean of 2 x 2 x 2, and back.
mean = np.broadcast_to(np.eye(3, dtype=np.float32) / 8, (8, 3, 3))
coarse = hk.tensor_product(fine, mean, down)
smooth = hk.tensor_product(coarse, mean * 8, up)

# %% Seen from above, the highest voxel of each column.
order = np.argsort(cells[:, 2], kind="stable")
features = np.concatenate([fine, smooth], 1)
features = (features - features.min(0)) / np.maximum(np.ptp(features, axis=0), 1e-6)
image = np.zeros((*(cells[:, :2].max(0) + 1), 3), np.float32)
image[cells[order, 0], cells[order, 1]] = features[order][:, [0, 1, 3]]
plt.imsave(sys.argv[2], image.transpose(1, 0, 2)[::-1])
print(f"{len(cloud)} voxels of {voxel} cm: {sys.argv[2]}")
