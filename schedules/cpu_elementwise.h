#pragma once
// The loops of kernels that work element by element.

#include "schedules/elementwise.h"

namespace hk::schedules::cpu {

// Tasks of 16384 elements: of a run along x, or of several that are shorter. Up to two tasks run on
// the thread that calls, because another one takes some microseconds to wake.
//
// The tail of a run is guarded. Shifted inwards it would compute elements twice, where the output
// may lie in place of an input.
inline void chunks_of_elements(Halide::Stage stage, const std::vector<Halide::Var> &dims,
                               const ElementwiseContext &context) {
    constexpr auto guard = Halide::TailStrategy::GuardWithIf;
    const Halide::Var &x = dims[0], &y = dims[1], &z = dims[2];
    const Halide::Var xo("xo"), yo("yo"), zo("zo"), lane("lane"), task("task");
    int chunk = 16384;
    Knobs knobs(context.knobs);
    knobs.take("chunk", chunk, powers(1024, 1 << 18));
    knobs.end();
    const int lanes = context.target.natural_vector_size<float>();
    const auto of_chunk = [&](const Halide::Expr &size) {
        return Halide::max(chunk / Halide::max(size, 1), 1);
    };
    stage.split(x, x, lane, lanes, guard)
        .split(x, xo, x, chunk / lanes, guard)
        .split(y, yo, y, of_chunk(context.length), guard)
        .split(z, zo, z, of_chunk(context.length * context.runs), guard)
        .reorder(lane, x, y, z, xo, yo, zo)
        .fuse(xo, yo, task)
        .fuse(task, zo, task)
        .vectorize(lane);
    const Halide::Expr is_large = context.elements > 2 * chunk;
    for (const Halide::Expr &one : context.cases)
        stage.specialize(one).specialize(is_large).parallel(task);
    stage.specialize(is_large).parallel(task);
}

}  // namespace hk::schedules::cpu
