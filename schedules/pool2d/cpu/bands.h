#pragma once
// What the schedules of pooling by rows and of its gradient share.

#include "schedules/pool2d/pool2d.h"

namespace hk::schedules::cpu {

// Vectors of columns; a task has bands of `rows` rows of one image, whose place is divided out
// once.
inline void by_bands(Halide::Func &out, const Pool2dContext &context, int lanes, int rows,
                     const Halide::Expr &bands, const Halide::Var &xo, const Halide::Var &band,
                     const Halide::Var &task) {
    using namespace hk::generators;
    constexpr auto guard = Halide::TailStrategy::GuardWithIf;
    const Halide::Var yo("yo"), cs("cs"), ns("ns");
    out.compute_root()
        .split(x, xo, x, lanes, guard)
        .split(y, yo, y, rows, guard)
        .split(c, cs, c, 1)  // else Halide takes all planes for the bounds of one
        .split(n, ns, n, 1)
        .reorder(x, xo, c, n, y, yo, cs, g, ns)
        .fuse(g, ns, ns)
        .fuse(cs, ns, ns)
        .fuse(yo, ns, band)
        .split(band, task, band, Halide::max(bands, 1), guard)
        .parallel(task)
        .vectorize(x);
    if (context.stride_x.as<Halide::Internal::IntImm>() == nullptr) {
        out.specialize(context.stride_x == 1);
        out.specialize(context.stride_x == 2);
    }
}

}  // namespace hk::schedules::cpu
