#include "schedules/gpu_block.h"
#include "schedules/gpu_elements.h"
#include "schedules/tensor_product/tensor_product_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

using namespace gpu;

namespace {

constexpr int kStages = 3;  // of copies in vectors

// Of the output's channels (as k), of the input (as x) and slices (as y); tile_c is of pairs.
Tiles tiles(const WeightGradientContext &context, bool staged) {
    Tiles t = staged ? Tiles{64, 64, 1, 16, 16, 16, 1} : Tiles{16, 16, 1, 16, 8, 16, 1};
    Knobs knobs(context.knobs);
    t.take(knobs, true, false);
    knobs.end();
    return t;
}

Block block_of(const WeightGradientContext &context, bool staged) {
    return {tiles(context, staged), true, Axes{m, c, s, {g}}};
}

}  // namespace

int weight_gradient_step(const WeightGradientContext &context) {
    return tiles(context, context.schedule != "unstaged").tile_c;
}

namespace gpu {

void add_slices(TensorProductBackwardWeightOffsets &stages) {
    element_a_thread(stages.output, {m, g, c, n});
    stages.total.compute_at(stages.output, m).store_in(MemoryType::Register);
    for (const Var &one : {m, g, c, n}) stages.total.bound_extent(one, 1);
    if (stages.total.dimensions() > 4) {
        const Var &share = stages.share;
        stages.total.unroll(share);
        stages.total.update().reorder(share, stages.slice).unroll(share);
    }
    stages.total.update().never_partition_all();
    stages.part.compute_root();
}

// A matrix product for each slice of an offset: a block computes 64 channels of the output times 64
// of the input, 16 sums a thread in registers, while 16 pairs at a time pass through shared memory:
// 4 * 16 * (68 + 68) = 8704 bytes whatever the problem is. 256 FMAs a thread to 32 loads of four
// floats from them, and to eight loads from global memory, of neighbouring channels by neighbouring
// threads. Rows are 68 floats: threads that store neighbouring channels, or load four of one pair,
// meet in no bank.
//
// Of vectors a thread has 8 x 8 sums of a block of 64 threads, 1024 FMAs to 64 loads, and copies
// are asynchronous, two steps ahead (compiler/async_copies.h): 3 * 8704 bytes.
void tensor_product_backward_weight(TensorProductBackwardWeightOffsets &stages,
                                    const WeightGradientContext &context) {
    const Block block = block_of(context, true);
    const Tiles &t = block.tiles();
    add_slices(stages);
    block.tile(stages.part);
    block.hold(stages.sum, stages.part);
    Stage update = stages.sum.update();
    RVar steps = stages.pair.y;
    if (stages.vectors) {
        steps = RVar("stages_" + std::to_string(kStages));
        update.rename(stages.pair.y, steps);
    }
    block.accumulate(update, {stages.pair.x}, {steps});
    update.unroll(stages.pair.x);
    const LoopLevel step(stages.sum, steps);
    Tiles::estimate_shared((stages.vectors ? kStages : 1) * t.tile_c * (t.tile_k + t.tile_x + 8),
                           stages.input.type().bytes());
    const auto stage = [&](Func &rows, const Var &channel, int channels) {
        rows.align_storage(channel, channels + 4);
        cooperative_copy(rows, step, {{channel, channels}, {i, t.tile_c}, {g, 1}, {s, 1}},
                         block.threads(), stages.vectors ? kWordVector : 1, stages.vectors);
    };
    stage(stages.output_gradient, m, t.tile_k);
    stage(stages.input, c, t.tile_x);
}

// Nothing is staged: the last rung.
void tensor_product_backward_weight_unstaged(TensorProductBackwardWeightOffsets &stages,
                                             const WeightGradientContext &context) {
    const Block block = block_of(context, false);
    add_slices(stages);
    block.accumulate_alone(stages.sum, stages.part, {stages.pair.x, stages.pair.y});
}

}  // namespace gpu

}  // namespace hk::schedules
