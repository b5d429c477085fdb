#pragma once
// Other libraries' gradients of a convolution, for comparison.

#include "peers/conv2d_peer.h"

namespace hk::bench {

enum class Gradient { input, weight };  // whose gradient

// Host memory, packed, in the problem's own layout and type.
struct GradientData {
    Conv2dProblem problem;
    Gradient gradient;
    const void *output_gradient;
    const void *other;  // the weight for the input's gradient, the input for the weight's
};

// oneDNN, its weights, or their gradient, in the form that it asks for. Variants: activations in
// the problem's layout, and, as another peer that counts too, in layouts that oneDNN may be faster
// in: its own choice, nhwc. Reorders are not timed.
Peers onednn_gradient(const GradientData &data, int threads);

}  // namespace hk::bench
