#pragma once
// Taps that meet the image. Those of a large filter, or dilation, on a small image may meet nothing
// but padding, in all windows.

#include <array>
#include <cstdint>
#include <optional>

#include "convolution/operands.h"

namespace hk::detail {

// The taps between the first and the last that meet a pixel, of rows and of columns, and what is
// left of the padding around the image.
struct MetTaps {
    std::array<int64_t, 2> first, count;
    Padding padding;
};

// None where all do, and of prepared depthwise filters, of which all taps are kept.
std::optional<MetTaps> met_taps(const Conv2dProblem &problem);

Conv2dProblem with_met_taps(Conv2dProblem problem);

// A weight, or its gradient, of these taps, in nhwc; undefined where it is.
Tensor met_taps_of(const Tensor &weight, const MetTaps &met);

// Leaves the others out: the same terms are summed but for products with zeros. A gradient of the
// weight has to be zero there.
void cut_taps(Conv2dOperands &operands);

}  // namespace hk::detail
