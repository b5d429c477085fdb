#include "schedules/conv2d_backward/conv2d_backward_bias.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace cpu {

// Parts run in parallel: their sums are small, and there may be one group of few filters. Vectors
// of filters (nhwc), whose sums of a block are in cache, or of columns (nchw).
void backward_bias_parallel_parts(Conv2dBackwardBias &stages, const Conv2dSizes &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const int lanes = context.target.natural_vector_size<float>();
    const RDom &d = stages.in_block, &blocks = stages.blocks;
    const Var &neighbour = context.nhwc ? k : stages.lane;
    stages.running.compute_root().parallel(stages.part);
    Stage add = stages.running.update();
    if (context.nhwc)
        add.reorder(k, blocks.x, blocks.y, g, stages.part);
    else
        add.reorder(stages.lane, blocks.x, blocks.y, k, g, stages.part);
    add.parallel(stages.part);
    stages.block_sum.compute_at(stages.running, blocks.x)
        .hoist_storage(stages.running, stages.part)
        .update()
        .reorder(neighbour, d.x, d.y);
    for (Stage stage :
         {Stage(stages.running), add, Stage(stages.block_sum), Stage(stages.block_sum.update())})
        stage.vectorize(neighbour, lanes, guard);
    if (!context.nhwc) stages.folded.compute_at(stages.output, k);
}

}  // namespace cpu

}  // namespace hk::schedules
