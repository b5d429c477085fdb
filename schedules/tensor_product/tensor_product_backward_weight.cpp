#include "schedules/tensor_product/tensor_product_backward_weight.h"

using namespace hk::generators;

namespace hk::schedules {

// The baselines: every stage by itself.
void weight_gradient_offsets_root(TensorProductBackwardWeightOffsets &stages,
                                  const WeightGradientContext &) {
    for (Halide::Func stage :
         {stages.input, stages.output_gradient, stages.sum, stages.part, stages.total})
        stage.compute_root();
}

void weight_gradient_root(TensorProductBackwardWeight &stages, const WeightGradientContext &) {
    for (Halide::Func stage :
         {stages.input, stages.output_gradient, stages.product, stages.part, stages.sum})
        stage.compute_root();
}

// A chunk's sums are registers: depth * vectors, 16 of 32, or of 16 what the gradient's vectors and
// an element of the input leave.
WeightGradientTile weight_gradient_sizes(const WeightGradientContext &context) {
    const Halide::Type type = context.type == Halide::Float(64) ? context.type : Halide::Float(32);
    const int lanes = context.target.natural_vector_size(type);
    const bool many = lanes * type.bytes() == 64;
    const int registers = many ? 16 : context.vectors == 4 ? 8 : 12;
    const bool narrow = context.type.bits() == 16;
    WeightGradientTile sizes{{.channels = context.vectors * lanes,
                              .depth = std::min(registers / context.vectors, 8),
                              .pairs = 256,
                              .exact = context.exact},
                             narrow,
                             narrow || !context.exact};
    Knobs knobs(context.knobs);
    knobs.take("depth", sizes.depth, steps(1, 16));
    knobs.take("pairs", sizes.pairs, powers(4, 4096));
    knobs.take("stage_input", sizes.stage_input, {0, 1});
    knobs.take("stage_gradient", sizes.stage_gradient, {0, 1});
    knobs.end();
    Knobs::estimate("vector registers", sizes.depth * context.vectors + context.vectors + 1,
                    many ? 32 : 16);
    return sizes;
}

}  // namespace hk::schedules
