"""NumPy: a photograph, its edges coloured by orientation.

    python numpy_filters.py PHOTO OUTPUT.png

Oriented filters are one convolution; the strongest of each pixel is a top-k along the channels.
"""

import sys

import matplotlib
import numpy as np
from PIL import Image

import halide_kernels as hk

matplotlib.use("Agg")
from matplotlib import colors  # noqa: E402

if len(sys.argv) < 3:
    sys.exit(__doc__)
photo = np.asarray(Image.open(sys.argv[1]).convert("L"), np.float32) / 255

# %% 16 derivatives of a Gaussian, each in another direction: a weight [K, R, S, C].
angles = np.arange(16) * np.pi / 16
y, x = np.mgrid[-4:5, -4:5].astype(np.float32)
along = np.cos(angles)[:, None, None] * x + np.sin(angles)[:, None, None] * y
filters = (along * np.exp(-(x * x + y * y) / 8)).astype(np.float32)
filters /= np.abs(filters).sum((1, 2), keepdims=True)

# %% All of them at once, on an image of one channel.
edges = np.abs(hk.conv2d(photo[None, :, :, None], filters[..., None], padding="same"))
strength, orientation = hk.topk(edges, 1, axis=-1)

# %% Orientation as hue, strength as brightness.
hue = orientation[0, :, :, 0] / len(angles)
bright = np.clip(strength[0, :, :, 0] * 6, 0, 1)
picture = colors.hsv_to_rgb(np.stack([hue, np.ones_like(hue), bright], -1))
Image.fromarray((picture * 255).astype(np.uint8)).save(sys.argv[2])
print(f"{photo.shape[0]} x {photo.shape[1]} pixels, {len(filters)} filters: {sys.argv[2]}")
print(hk.explain(hk.conv2d, photo[None, :, :, None], filters[..., None], padding="same").kernel)
