#pragma once
// The weight of a quantised convolution as a row reads it.

#include "convolution/operands.h"
#include "hk/filter.h"

namespace hk::detail {

// As filter_view() of conv2d/filter.h.
BufferView quantized_filter_view(const KernelInfo &kernel, const Conv2dOperands &operands,
                                 const Filter &filter);

}  // namespace hk::detail
