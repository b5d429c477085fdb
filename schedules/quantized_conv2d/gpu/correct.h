#pragma once
#include "schedules/quantized_conv2d/quantized_conv2d.h"

namespace hk::schedules::gpu {

// The sums that zero points ask for, of no terms where the zero point is 0: a kernel each.
void correct(generators::QuantizedConv2dEnds &stages, const QuantizedConv2dContext &context);

}  // namespace hk::schedules::gpu
