#include "schedules/tensor_product/tensor_product_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// A task is a slice, whole blocks of rows with sums of its own, by 64 channels of the input. A
// chunk's sums are registers: 4 channels of the input by 4 vectors of the output, 16 of 32, take 4
// loads of the gradient and 4 of the input for 16 multiplications, pair by pair; where the output
// has fewer channels, 8 by 2 or by 1. They are added to the slice's sums of their offset, once for
// all pairs of a chunk, some hundred. Rows are read where they lie, where vectors of the gradient
// are whole; else, and of 16-bit floats, a chunk's rows are copied in f32 first.
//
// build/bin/bench --family tensor_product_backward_weight prints GFLOP/s; copied chunks where
// vectors are whole are a tenth slower (--row wide4 --filter 64-64). Lost: 6 channels by 4 vectors,
// slower at 32 to 64 channels, where a tenth of the sixes is padding, and no faster at 64 and 128;
// maps unsorted, offset by offset, half the speed at 64 to 64: rows come from memory 27 times.
void tensor_product_backward_weight(TensorProductBackwardWeight &stages,
                                    const WeightGradientContext &context) {
    const WeightGradientTile sizes = weight_gradient_sizes(context);
    const int lanes = sizes.channels / context.vectors;

    const Var block("block");
    Func output = stages.output;
    output.compute_root()
        .split(m, mo, mi, sizes.channels, TailStrategy::GuardWithIf)
        .split(c, co, ci, sizes.depth, TailStrategy::GuardWithIf)
        .bound(g, 0, 1)
        .reorder(mi, ci, mo, co, g, n)
        .fuse(co, n, block)
        .parallel(block)
        .vectorize(mi, lanes, TailStrategy::GuardWithIf);
    output.specialize(context.output_adjacent);

    stages.sum.compute_at(output, mo)
        .store_in(MemoryType::Stack)
        .bound_extent(mi, sizes.channels)
        .bound_extent(ci, sizes.depth)
        .bound_extent(mo, 1)
        .bound_extent(co, 1)
        .bound_extent(n, 1)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(ci)
        .update()
        .reorder(mi, ci, stages.slice)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(ci);

    stages.part.compute_root()
        .bound_extent(mi, sizes.channels)
        .bound_extent(ci, sizes.depth)
        .vectorize(mi, lanes)
        .parallel(s);
    const Var wide("wide"), task("task");
    stages.part.update()
        .split(co, wide, co, (64 + sizes.depth - 1) / sizes.depth, TailStrategy::GuardWithIf)
        .reorder(mi, ci, mo, co, stages.chunk, wide, s)
        .fuse(wide, s, task)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(ci)
        .parallel(task);

    stages.product.compute_at(stages.part, mo)
        .store_in(MemoryType::Register)
        .bound_extent(mi, sizes.channels)
        .bound_extent(ci, sizes.depth)
        .bound_extent(mo, 1)
        .bound_extent(co, 1)
        .bound_extent(q, 1)
        .bound_extent(s, 1)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(ci)
        .update()
        .reorder(mi, ci, stages.pair)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(ci);

    for (const auto &[stage, stays, channel, whole] :
         {std::tuple{stages.input, sizes.stage_input, c, sizes.depth},
          std::tuple{stages.output_gradient, sizes.stage_gradient, m, sizes.channels}}) {
        if (!stays) continue;
        Func(stage)
            .compute_at(stages.part, stages.chunk)
            .bound_extent(i, sizes.pairs)
            .bound_extent(q, 1)
            .bound_extent(s, 1)
            .align_bounds(channel, whole)
            .vectorize(channel, lanes, TailStrategy::RoundUp);
    }
}

}  // namespace hk::schedules::cpu
