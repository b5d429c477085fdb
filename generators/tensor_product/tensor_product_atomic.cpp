#include "generators/tensor_product/tensor_product_atomic.h"

#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

TensorProductAtomic tensor_product_atomic(const TensorProductAtomicOperands &op,
                                          const TensorProductAtomicSizes &sizes) {
    TensorProductAtomic stages;
    stages.vectors = sizes.vectors;
    const auto &[m, c, g, i, t, o] =
        std::tie(stages.m, stages.c, stages.g, stages.i, stages.t, stages.o);
    const Expr n = unsafe_promise_clamped(op.offset(t), 0, op.offsets - 1);
    stages.matrix = Func("matrix");
    stages.matrix(m, c, g, t) =
        channel_or_zero(c, op.input_channels, op.type, [&](const Expr &channel) {
            return op.weight(min(m, op.output_channels - 1), g, channel, n);
        });
    const Expr row = unsafe_promise_clamped(op.source(i, t), 0, op.input_rows - 1);
    const int vector = row_vector(op.type);
    const auto stored = [&](const Expr &channel) { return op.input(channel, g, row); };
    stages.gathered = Func("gathered");
    stages.gathered(c, i, g, t) = sizes.vectors
                                      ? stored(unsafe_promise_clamped(c, 0, op.input_channels - 1))
                                      : channel_or_zero(c, op.input_channels, op.type, stored);

    stages.rc = RDom(0, sizes.depth, 0, (op.input_channels + sizes.depth - 1) / sizes.depth, "rc");
    const Expr channel = stages.rc.y * sizes.depth + stages.rc.x;
    if (sizes.vectors)
        stages.rc.where(stages.rc.y * sizes.depth + stages.rc.x / vector * vector <
                        op.input_channels);
    stages.product = Func("product");
    stages.product(m, i, g, t) = cast(op.type, 0);
    stages.product(m, i, g, t) +=
        stages.matrix(m, channel, g, t) * stages.gathered(channel, i, g, t);

    stages.pairs = RDom(0, sizes.pairs, 0, op.tiles, "pairs");
    const RDom &pairs = stages.pairs;
    stages.pairs.where(op.target(pairs.x, pairs.y) < op.output_rows);
    stages.output = Func("result");
    stages.output(m, g, o) = if_present(op.accumulate, op.previous(m, g, o), cast(op.type, 0));
    stages.output(m, g,
                  unsafe_promise_clamped(op.target(pairs.x, pairs.y), 0, op.output_rows - 1)) +=
        stages.product(m, pairs.x, g, pairs.y);
    return stages;
}

}  // namespace hk::generators
