#include "schedules/tensor_product.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every stage by itself.
void root(TensorProduct &stages, const TensorProductContext &) {
    for (Halide::Func stage : {stages.packed, stages.gathered, stages.product, stages.sum})
        stage.compute_root();
}

}  // namespace

// A tile's products are registers: pairs * vectors of 32; of 16 what the weight's vectors and an
// element of the input leave, which 12 products by 4 vectors exceed: they spill.
TensorProductSizes tensor_product_sizes(const TensorProductContext &context) {
    const Halide::Type type = context.type == Halide::Float(64) ? context.type : Halide::Float(32);
    const int lanes = context.target.natural_vector_size(type);
    const bool many = lanes * type.bytes() == 64;
    const int registers = many ? 24 : context.vectors == 4 ? 8 : 12;
    TensorProductSizes sizes{.channels = context.vectors * lanes,
                             .rows = std::min(2048 / context.vectors, 1024),
                             .pairs = std::min(registers / context.vectors, 8),
                             .group = 4,
                             .depth = 4};
    Knobs knobs(context.knobs);
    knobs.take("rows", sizes.rows);
    knobs.take("pairs", sizes.pairs);
    knobs.take("group", sizes.group);
    knobs.take("depth", sizes.depth);
    return sizes;
}

const Table<TensorProduct, TensorProductContext> &tensor_product_schedules() {
    static const Table<TensorProduct, TensorProductContext> table = {{"root", root},
                                                                     {"cpu", cpu::tensor_product}};
    return table;
}

}  // namespace hk::schedules
