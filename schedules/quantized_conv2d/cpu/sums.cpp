#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

bool sums_halves(const QuantizedConv2dContext &context) {
    return context.integer &&
           !context.target.features_any_of({Target::AVXVNNI, Target::AVX512_Zen4,
                                            Target::AVX512_Zen5, Target::AVX512_SapphireRapids});
}

namespace cpu {

Func &summed(QuantizedConv2d &stages) {
    return stages.halves.defined() ? stages.halves : stages.sum;
}

void vectorize_sums(const QuantizedConv2d &stages, Stage stage, const Var &filters, int lanes) {
    if (stages.halves.defined()) stage.vectorize(stages.half);
    stage.vectorize(filters, lanes, TailStrategy::RoundUp);
}

Stage add_words(QuantizedConv2d &stages, const QuantizedConv2dContext &context,
                std::vector<VarOrRVar> loops, const Var &filters, int lanes) {
    Stage add = summed(stages).update();
    const VarOrRVar word = loops.front();
    if (stages.halves.defined()) {
        summed(stages).bound_extent(stages.half, 2);
        loops.insert(loops.begin() + 1, stages.half);
    }
    if (context.integer)
        add.atomic().reorder(loops).vectorize(word);
    else
        add.reorder(loops).unroll(word);
    vectorize_sums(stages, add, filters, lanes);
    return add;
}

void add_halves(QuantizedConv2d &stages, const LoopLevel &at, const Var &filters, int lanes) {
    if (!stages.halves.defined()) return;
    const RVar &half = stages.half_r.x;
    stages.sum.compute_at(at).vectorize(filters, lanes, TailStrategy::RoundUp);
    stages.sum.update()
        .atomic()
        .reorder(half, filters)
        .vectorize(half)
        .vectorize(filters, lanes, TailStrategy::RoundUp);
}

}  // namespace cpu

}  // namespace hk::schedules
