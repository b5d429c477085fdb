#include "schedules/tensor_product/tensor_product.h"

using namespace hk::generators;

namespace hk::schedules {

// The baseline: every stage by itself.
void tensor_product_root(TensorProduct &stages, const TensorProductContext &) {
    for (Halide::Func stage : {stages.packed, stages.gathered, stages.product, stages.sum})
        stage.compute_root();
}

// A tile's products are registers: pairs * vectors of 32; of 16 what the weight's vectors and an
// element of the input leave, which 12 products by 4 vectors exceed: they spill.
TensorProductTile tensor_product_sizes(const TensorProductContext &context) {
    const Halide::Type type = context.type == Halide::Float(64) ? context.type : Halide::Float(32);
    const int lanes = context.target.natural_vector_size(type);
    const bool many = lanes * type.bytes() == 64;
    const int registers = many ? 24 : context.vectors == 4 ? 8 : 12;
    TensorProductTile sizes{{.channels = context.vectors * lanes,
                             .rows = std::min(2048 / context.vectors, 1024),
                             .pairs = std::min(registers / context.vectors, 8),
                             .group = 4,
                             .depth = 4},
                            0,
                            context.type.bits() == 16};
    Knobs knobs(context.knobs);
    knobs.take("rows", sizes.rows, powers(4, 8192));
    knobs.take("pairs", sizes.pairs, steps(1, 16));
    knobs.take("group", sizes.group, powers(1, 32));
    knobs.take("depth", sizes.depth, powers(1, 16));
    sizes.unroll = sizes.depth;
    knobs.take("unroll", sizes.unroll, powers(1, 16));
    knobs.take("stage", sizes.stage, {0, 1});
    knobs.end();
    Knobs::require(sizes.depth % sizes.unroll == 0, "unroll divides depth");
    Knobs::estimate("vector registers", sizes.pairs * context.vectors + context.vectors + 1,
                    many ? 32 : 16);
    return sizes;
}

}  // namespace hk::schedules
