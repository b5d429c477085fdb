#include "schedules/conv2d/conv2d.h"

using namespace hk::generators;

namespace hk::schedules {

PackedSum packed_sum(const Conv2dContext &context) {
    if (context.schedule == "columns") return cpu::columns_sum(context);
    return context.schedule == "grouped" ? cpu::grouped_sum(context) : cpu::broadcast_sum(context);
}

Halide::Stage add_in_vectors(Halide::Func sum, const std::optional<Halide::RVar> &of_pair, int lanes,
                             std::vector<Halide::VarOrRVar> loops) {
    Halide::Stage update = sum.update();
    if (of_pair) loops.insert(loops.begin(), *of_pair);
    update.reorder(loops);
    if (of_pair) update.atomic().vectorize(*of_pair);
    update.vectorize(k, lanes, Halide::TailStrategy::RoundUp);
    return update;
}

}  // namespace hk::schedules
