#include "schedules/conv2d/conv2d.h"

using namespace hk::generators;

namespace hk::schedules {

PackedSum packed_sum(const Conv2dContext &context) {
    if (context.schedule == "columns") return cpu::columns_sum(context);
    return context.schedule == "grouped" ? cpu::grouped_sum(context) : cpu::broadcast_sum(context);
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
