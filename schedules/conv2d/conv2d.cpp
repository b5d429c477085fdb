#include "schedules/conv2d/conv2d.h"

#include <bit>

using namespace hk::generators;

namespace hk::schedules {

PackedSum packed_sum(const Conv2dContext &context) {
    if (context.schedule == "columns") return cpu::columns_sum(context);
    return context.schedule == "grouped" ? cpu::grouped_sum(context) : cpu::broadcast_sum(context);
}

Halide::Stage by_activation(Halide::Stage activated, const Conv2dContext &context) {
    Halide::Stage plain = activated.specialize(context.plain);
    activated.never_partition_all();
    for (const Halide::Expr &kind : {context.linear, context.silu})
        if (kind.defined()) activated.specialize(kind);
    return plain;
}

Halide::Stage add_in_vectors(Halide::Func sum, const std::optional<Halide::RVar> &of_pair,
                             int lanes, std::vector<Halide::VarOrRVar> loops) {
    Halide::Stage update = sum.update();
    const Halide::VarOrRVar vectors = loops.front();
    if (of_pair) loops.insert(loops.begin(), *of_pair);
    update.reorder(loops);
    if (of_pair) update.atomic().vectorize(*of_pair);
    update.vectorize(vectors, lanes, Halide::TailStrategy::RoundUp);
    return update;
}

bool loops_over_rows(const Conv2dContext &context) {
    return context.kernel_w * context.kernel_h == 0 || context.kernel_w * context.kernel_h > 9;
}

void unroll_taps(Halide::Func &sum, const Halide::RDom &taps, const Conv2dContext &context,
                 int together) {
    if (context.kernel_w * context.kernel_h > 0) {
        sum.update().unroll(taps.x);
    } else if (together > 1) {
        const Halide::RVar tap("tap");
        sum.update().split(taps.x, taps.x, tap, together, Halide::TailStrategy::GuardWithIf);
        sum.update().unroll(tap);
    }
    if (!loops_over_rows(context)) sum.update().unroll(taps.y);
}

Halide::Expr rows_of_window(const Conv2dContext &context, int outputs, const Halide::Expr &stride_y,
                            const Halide::Expr &window_h) {
    if (context.kernel_h == 0 || context.stride_y == 0 || context.dilation_y == 0)
        return (outputs - 1) * stride_y + window_h;
    const int count =
        (outputs - 1) * context.stride_y + (context.kernel_h - 1) * context.dilation_y + 1;
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(count)));
}

void pack_pairs(Conv2d &stages, int block, int lanes) {
    const Halide::Var &e = stages.ki, half("half");
    stages.packed.bound_extent(e, 2 * block);
    if (lanes) {
        stages.packed.reorder(e, s, r, c, stages.ko, g).vectorize(e, 2 * lanes);
        stages.pack.words.compute_at(stages.packed, s).vectorize(stages.ki, lanes);
    } else {
        stages.packed.split(e, e, half, 2).reorder(half, s, r, c, e, stages.ko, g).unroll(half);
    }
}

}  // namespace hk::schedules
