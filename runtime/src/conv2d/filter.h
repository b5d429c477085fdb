#pragma once
// The weight of a convolution as a row reads it.

#include "convolution/operands.h"
#include "hk/filter.h"

namespace hk::detail {

// The weight's view for a kernel: the one in the operands, or of a copy that the filter keeps or,
// where it is not prepared, that lives as long as the view.
BufferView filter_view(const KernelInfo &kernel, const Conv2dOperands &operands,
                       const Filter &filter);

}  // namespace hk::detail
