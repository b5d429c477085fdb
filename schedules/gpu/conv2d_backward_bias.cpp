#include "schedules/conv2d_backward_bias.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// Three kernels: a thread a lane and part, which reads what its neighbours' neighbours read; then
// lanes are added up, then parts. What lies between is 4 bytes a filter, part and lane.
void backward_bias_unstaged(Conv2dBackwardBias &stages, const Conv2dBackwardBiasContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var block("block"), thread("thread"), element("element");
    const RDom &d = stages.r;
    const auto spread = [&](Stage stage, const std::vector<Var> &dims) {
        stage.fuse(dims[0], dims[1], element);
        for (size_t i = 2; i < dims.size(); i++) stage.fuse(element, dims[i], element);
        stage.split(element, block, thread, 64, guard)
            .gpu_blocks(block)
            .gpu_threads(thread)
            .never_partition_all();
    };
    stages.partial.compute_root();
    stages.folded.compute_root();
    const Var &lane = stages.lane, &part = stages.part;
    const std::vector<Var> all = {lane, k, g, part};
    spread(stages.partial, all);
    stages.partial.update().reorder({d.x, d.y, lane, k, g, part});
    spread(stages.partial.update(), all);
    spread(stages.folded, {k, g, part});
    spread(stages.output, {k, g});
}

}  // namespace hk::schedules::gpu
