#include "generators/tensor_product/tensor_product.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

TensorProduct tensor_product(const TensorProductOperands &op, const TensorProductSizes &sizes) {
    TensorProduct stages;
    const Type type = op.type == Float(64) ? Float(64) : Float(32);
    const Expr zero = cast(type, 0);
    const Expr depth = (op.input_channels + sizes.depth - 1) / sizes.depth * sizes.depth;

    const Expr channel = mo * sizes.channels + mi;
    stages.packed = Func("packed");
    stages.packed(mi, c, mo, n) = select(channel < op.output_channels && c < op.input_channels,
                                         cast(type, op.weight(min(channel, op.output_channels - 1),
                                                              min(c, op.input_channels - 1), n)),
                                         zero);

    // From the block's first group, so that g has bounds that no memory tells.
    const auto tile = [&](const Expr &in_group, const Expr &of_block) {
        const Expr group = clamp(op.first(b) + of_block, 0, op.groups - 1);
        return group * sizes.group + in_group;
    };
    const Expr row = unsafe_promise_clamped(op.source(i, tile(t, g)), 0, op.input_rows - 1);
    stages.gathered = Func("gathered");
    stages.gathered(c, i, t, g, b) =
        select(likely(c < op.input_channels),
               cast(type, op.input(min(likely(c), op.input_channels - 1), row)), zero);

    stages.rc = RDom(0, depth, "rc");
    const Expr of_tile = unsafe_promise_clamped(op.offset(tile(t, g)), 0, op.offsets - 1);
    stages.product = Func("product");
    stages.product(mi, i, t, g, b, mo) = zero;
    stages.product(mi, i, t, g, b, mo) +=
        stages.packed(mi, stages.rc, mo, of_tile) * stages.gathered(stages.rc, i, t, g, b);

    stages.r = RDom(0, sizes.pairs, 0, sizes.group, 0, op.most, "r");
    RDom &r = stages.r;
    r.where(r.z < op.first(b + 1) - op.first(b));
    const Expr target = unsafe_promise_clamped(op.target(r.x, tile(r.y, r.z)), 0, sizes.rows);
    stages.sum = Func("sum");
    stages.sum(mi, o, b, mo) = zero;
    stages.sum(mi, target, b, mo) += stages.product(mi, r.x, r.y, r.z, b, mo);

    const Expr total =
        stages.sum(m % sizes.channels, o % sizes.rows, o / sizes.rows, m / sizes.channels);
    stages.output = Func("result");
    stages.output(m, o) = accumulated(op.type, total, op.previous(m, o), op.accumulate);
    return stages;
}

}  // namespace hk::generators
