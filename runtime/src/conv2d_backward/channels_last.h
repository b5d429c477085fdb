#pragma once
// Gradients of images in nchw by rows of nhwc, on a CPU: of copies whose channels are last.

#include <vector>

#include "conv2d_backward/check.h"

namespace hk::detail {

// The tensors of a call in nhwc: views where channels are next to each other in memory, as those of
// PyTorch's channels_last are, and of 1x1 filters; else copies.
class ChannelsLast {
public:
    // `tensors`: in nchw. What the gradients hold is copied where they are added to.
    ChannelsLast(const Conv2dBackwardTensors &tensors, bool accumulate);

    Conv2dBackwardTensors tensors() const;

    // Gradients that were copies are written to the call's.
    void write_back() const;

private:
    struct Copied {
        Tensor view, last;  // of the call's memory; what kernels read or write
    };

    Tensor written(const Tensor &gradient, bool accumulate);

    std::vector<Copied> gradients_;
    const Tensor output_, input_, weight_, input_gradient_, weight_gradient_, none_;
};

}  // namespace hk::detail
