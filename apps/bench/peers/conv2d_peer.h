#pragma once
// Other libraries' convolutions, for comparison. A library that is not installed, or does not
// support the problem, has no peers.

#include "hk/conv2d.h"
#include "peers/peer.h"

namespace hk::bench {

// A convolution without bias, residual or activation, with its data in host memory, packed, in the
// problem's own layout and type.
struct Conv2dData {
    Conv2dProblem problem;
    const void *input;
    const void *weight;
};

// oneDNN, its weights reordered to the form that it asks for before anything is timed. Variants:
// activations in the problem's layout, and, as another peer, in the blocked layout that oneDNN
// likes best, whose reorders are not timed: not the same task, for comparison only.
Peers onednn_conv2d(const Conv2dData &data, int threads);

// ONNX Runtime: a model of one Conv node whose weight is an initializer, which it packs when it
// loads. ONNX is NCHW; for nhwc problems the peer gets transposed data, which is not timed.
Peers onnxruntime_conv2d(const Conv2dData &data, int threads);

// ncnn, f32: a network of one layer that packs its weight when it loads, and takes Winograd where
// it likes: its results may be off by 1.5e-5 of the largest value. ncnn is NCHW; for nhwc problems
// the peer gets transposed data, which is not timed.
Peers ncnn_conv2d(const Conv2dData &data, int threads);

}  // namespace hk::bench
