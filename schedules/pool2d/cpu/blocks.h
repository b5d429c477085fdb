#pragma once
// What the schedules of pooling and of its gradient share where sums are in blocks.

#include "generators/long_sum.h"
#include "schedules/pool2d/pool2d.h"

namespace hk::schedules::cpu {

// Vectors of channels (nhwc) or columns (nchw), in registers; a task is a row of an image. Columns
// are gathered, a window's or those of its windows: such sums are too rare for more.
inline void in_blocks(Halide::Func &output, generators::BlockedSum &sums,
                      const Pool2dContext &context) {
    using namespace hk::generators;
    constexpr auto guard = Halide::TailStrategy::GuardWithIf;
    Knobs(context.knobs).end();
    const int lanes = context.target.natural_vector_size<float>();
    const Halide::Var inner = context.nhwc ? c : x, outer = context.nhwc ? x : c;
    const Halide::Var vectors("vectors"), task("task");
    output.compute_root()
        .split(inner, vectors, inner, lanes, guard)
        .reorder(inner, vectors, outer, y, g, n)
        .fuse(g, n, n)
        .fuse(y, n, task)
        .parallel(task)
        .vectorize(inner);
    const Halide::RDom &blocks = sums.blocks, &d = sums.in_block;
    sums.running.compute_at(output, vectors)
        .vectorize(inner, lanes, guard)
        .update()
        .reorder(inner, blocks.x, blocks.y, blocks.z)
        .vectorize(inner, lanes, guard)
        .never_partition_all();
    sums.block_sum.compute_at(sums.running, blocks.x)
        .bound_storage(inner, lanes)
        .vectorize(inner, lanes, guard)
        .update()
        .reorder(inner, d.x, d.y, d.z)
        .vectorize(inner, lanes, guard)
        .never_partition_all();
}

}  // namespace hk::schedules::cpu
