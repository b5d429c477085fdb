"""JAX: a convolution learns to take noise out of a photograph.

    python jax_denoise.py PHOTO OUTPUT.png [STEPS]
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

import halide_kernels.jax as hkj

if len(sys.argv) < 3:
    sys.exit(__doc__)
photo = np.asarray(Image.open(sys.argv[1]).convert("RGB").resize((128, 128)), np.float32) / 255
rng = np.random.default_rng(0)
photo -= photo.mean()  # else brightness alone says how far a step may go
noisy = photo + rng.normal(0, 0.15, photo.shape).astype(np.float32)

# %% One filter of 7 x 7 for each channel, from the identity.
weight = jnp.zeros((3, 7, 7, 1)).at[:, 3, 3].set(1.0)


def denoised(weight, image):
    return hkj.conv2d(image[None], weight, padding="same", groups=3)[0]


@jax.jit
def step(weight, momentum):
    loss, gradient = jax.value_and_grad(
        lambda w: ((denoised(w, noisy) - photo) ** 2).mean())(weight)
    momentum = 0.9 * momentum + gradient
    return weight - 0.3 * momentum, momentum, loss


losses, momentum = [], jnp.zeros_like(weight)
for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 100):
    weight, momentum, loss = step(weight, momentum)
    losses.append(float(loss))

# %% Before and after.
result = np.concatenate([noisy, denoised(weight, noisy), photo], 1)
Image.fromarray((np.clip(result - photo.min(), 0, 1) * 255).astype(np.uint8)).save(sys.argv[2])
print(f"mean squared error {losses[0]:.4f}, after {len(losses)} steps {losses[-1]:.4f}")
