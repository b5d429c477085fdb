#include "schedules/conv2d/conv2d.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every output by itself, nothing stored in between.
template<typename Stages>
void root(Stages &, const Conv2dContext &context) {
    Knobs(context.knobs).end();
}

}  // namespace

PackedSum packed_sum(const Conv2dContext &context) {
    return context.schedule == "cpu_grouped" ? cpu::grouped_sum(context) : cpu::packed_sum(context);
}

const Conv2dTable<Conv2d> &packed_schedules() {
    static const Conv2dTable<Conv2d> table = {{"root", root<Conv2d>},
                                              {"cpu", cpu::packed},
                                              {"cpu_blocks", cpu::packed_blocks},
                                              {"cpu_grouped", cpu::grouped}};
    return table;
}

const Conv2dTable<Conv2dSliced> &sliced_schedules() {
    static const Conv2dTable<Conv2dSliced> table = {
        {"root", root<Conv2dSliced>}, {"gpu", gpu::sliced}, {"gpu_unstaged", gpu::unstaged}};
    return table;
}

const Conv2dTable<Conv2dDot> &dot_schedules() {
    static const Conv2dTable<Conv2dDot> table = {{"root", root<Conv2dDot>}, {"cpu", cpu::dot}};
    return table;
}

const Conv2dTable<Conv2dDepthwise> &depthwise_schedules() {
    static const Conv2dTable<Conv2dDepthwise> table = {{"root", root<Conv2dDepthwise>},
                                                       {"cpu", cpu::depthwise},
                                                       {"cpu_in_place", cpu::depthwise_in_place},
                                                       {"gpu", gpu::depthwise}};
    return table;
}

}  // namespace hk::schedules
