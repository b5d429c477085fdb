#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every output by itself, nothing stored in between.
template<typename Stages>
void root(Stages &, const QuantizedConv2dContext &context) {
    Knobs(context.knobs).end();
}

}  // namespace

const QuantizedConv2dTable<QuantizedConv2d> &quantized_packed_schedules() {
    static const QuantizedConv2dTable<QuantizedConv2d> table = {{"root", root<QuantizedConv2d>},
                                                                {"cpu", cpu::quantized_packed}};
    return table;
}

const QuantizedConv2dTable<QuantizedConv2dSliced> &quantized_sliced_schedules() {
    static const QuantizedConv2dTable<QuantizedConv2dSliced> table = {
        {"root", root<QuantizedConv2dSliced>},
        {"gpu", gpu::quantized_sliced},
        {"gpu_unstaged", gpu::quantized_unstaged},
        {"gpu_depthwise", gpu::quantized_depthwise}};
    return table;
}

const QuantizedConv2dTable<QuantizedConv2dDot> &quantized_dot_schedules() {
    static const QuantizedConv2dTable<QuantizedConv2dDot> table = {
        {"root", root<QuantizedConv2dDot>}, {"cpu", cpu::quantized_dot}};
    return table;
}

const QuantizedConv2dTable<QuantizedConv2dDepthwise> &quantized_depthwise_schedules() {
    static const QuantizedConv2dTable<QuantizedConv2dDepthwise> table = {
        {"root", root<QuantizedConv2dDepthwise>}, {"cpu", cpu::quantized_depthwise}};
    return table;
}

}  // namespace hk::schedules
