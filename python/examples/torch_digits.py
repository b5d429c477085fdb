"""PyTorch: a network of our convolutions learns to read digits.

    python torch_digits.py DIGITS.csv OUTPUT.png [EPOCHS]
"""

import sys

import matplotlib
import numpy as np
import torch

import halide_kernels.torch as hkt

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

if len(sys.argv) < 3:
    sys.exit(__doc__)
table = np.loadtxt(sys.argv[1], delimiter=",", dtype=np.float32)
images = torch.from_numpy(table[:, :64] / 16).reshape(-1, 1, 8, 8)
images = images.to(memory_format=torch.channels_last)  # faster, as in PyTorch itself
labels = torch.from_numpy(table[:, 64].astype(np.int64))
test = torch.arange(len(labels)) % 5 == 0
torch.manual_seed(1)

# %% The network, and ten lines that train it.
model = torch.nn.Sequential(hkt.Conv2d(1, 32, 3, padding="same"), torch.nn.ReLU(),
                            hkt.Conv2d(32, 32, 3, padding="same", groups=32),
                            hkt.Conv2d(32, 64, 1), torch.nn.ReLU(),
                            torch.nn.Flatten(), torch.nn.Linear(64 * 64, 10))
model = model.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
losses = []
for epoch in range(int(sys.argv[3]) if len(sys.argv) > 3 else 10):
    for batch in torch.randperm(int((~test).sum())).split(64):
        loss = torch.nn.functional.cross_entropy(model(images[~test][batch]), labels[~test][batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

# %% How many of the others it reads.
with torch.no_grad():
    right = (model(images[test]).argmax(1) == labels[test]).float().mean().item()
print(f"{len(losses)} steps, loss {losses[-1]:.3f}, {right:.1%} of {int(test.sum())} digits right")
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.semilogy(losses)
axes.set(xlabel="step", ylabel="cross-entropy", title=f"{right:.1%} right")
figure.savefig(sys.argv[2])
