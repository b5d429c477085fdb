#pragma once
// A weight's gradient of few channels, of images in nhwc: what a row of a window meets as the
// channels of one tap. Pixels of these overlap, which an input may that is read alone.

#include <optional>

#include "conv2d_backward/check.h"

namespace hk::detail {

// The problem of it; none: it does not pay (convolution/fold_taps.h).
std::optional<Conv2dProblem> of_joined_windows(const Conv2dProblem &problem);

class JoinedWindows {
public:
    // Of a problem that it pays for. The input is copied where it has padding or pixels are apart,
    // and so is a gradient whose taps are, which `accumulate` reads.
    JoinedWindows(const Conv2dProblem &problem, const Conv2dBackwardTensors &tensors,
                  bool accumulate);

    Conv2dBackwardTensors tensors() const;
    const Conv2dOptions &options() const { return options_; }

    // A gradient that was a copy is written to the call's.
    void write_back() const;

private:
    Tensor output_, input_, gradient_, none_;
    Tensor view_, copy_;  // of a gradient that was copied
    Conv2dOptions options_;
};

}  // namespace hk::detail
