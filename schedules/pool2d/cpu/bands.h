#pragma once
// What the schedules of pooling by rows and of its gradient share.

#include "schedules/pool2d/pool2d.h"

namespace hk::schedules::cpu {

// A task has several bands of one image's rows, whose place is divided out once. `inner` are the
// loops inside a band, innermost first; that over n, and of nchw that over c, takes one step: else
// Halide takes all images or planes for the bounds of one.
inline void tasks_of_bands(Halide::Func &out, const Pool2dContext &context,
                           std::vector<Halide::VarOrRVar> inner, const Halide::Expr &bands,
                           const Halide::Var &yo, const Halide::Var &band,
                           const Halide::Var &task) {
    using namespace hk::generators;
    const Halide::Var cs("cs"), ns("ns");
    inner.push_back(yo);
    if (!context.nhwc) {
        out.split(c, cs, c, 1);
        inner.push_back(cs);
    }
    inner.insert(inner.end(), {g, ns});
    out.split(n, ns, n, 1).reorder(inner).fuse(g, ns, ns);
    if (!context.nhwc) out.fuse(cs, ns, ns);
    out.fuse(yo, ns, band)
        .split(band, task, band, Halide::max(bands, 1), Halide::TailStrategy::GuardWithIf)
        .parallel(task);
}

// Vectors of columns of nchw; bands of `rows` rows.
inline void by_bands(Halide::Func &out, const Pool2dContext &context, int lanes, int rows,
                     const Halide::Expr &bands, const Halide::Var &xo, const Halide::Var &band,
                     const Halide::Var &task) {
    using namespace hk::generators;
    constexpr auto guard = Halide::TailStrategy::GuardWithIf;
    const Halide::Var yo("yo");
    out.compute_root().split(x, xo, x, lanes, guard).split(y, yo, y, rows, guard);
    tasks_of_bands(out, context, {x, xo, c, n, y}, bands, yo, band, task);
    out.vectorize(x);
    if (context.stride_x.as<Halide::Internal::IntImm>() == nullptr) {
        out.specialize(context.stride_x == 1);
        out.specialize(context.stride_x == 2);
    }
}

}  // namespace hk::schedules::cpu
