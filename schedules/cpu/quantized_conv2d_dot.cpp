#include "schedules/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

int quantized_dot_lanes(const QuantizedConv2dContext &context) {
    return context.target.natural_vector_size<float>();
}

namespace cpu {

void quantized_dot(QuantizedConv2dDot &, const QuantizedConv2dContext &) {}

void quantized_depthwise(QuantizedConv2dDepthwise &, const QuantizedConv2dContext &) {}

}  // namespace cpu

}  // namespace hk::schedules
