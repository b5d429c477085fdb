#include "generators/conv2d_backward_weight/sliced.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Range all = {Expr(), Expr()};

// In f32, zero past the last channel, or filter, and group.
Func with_ends(const Func &image, const Expr &channels, const Expr &groups) {
    Func value("value");
    value(c, g, x, y, n) = cast<float>(image(c, g, x, y, n));
    return BoundaryConditions::constant_exterior(value, 0.f,
                                                 Region{{0, channels}, {0, groups}, all, all, all});
}

}  // namespace

Conv2dBackwardWeightSliced conv2d_backward_weight_sliced(const Conv2dBackwardWeightOperands &op,
                                                         int columns, int parts) {
    Conv2dBackwardWeightSliced stages;
    const Var &row = stages.row, &part = stages.part;
    const Expr of_image = row % op.out_h, image = clamp(row / op.out_h, 0, op.batch - 1);

    const Func output_gradient =
        BoundaryConditions::constant_exterior(with_ends(op.output_gradient, op.filters, op.groups),
                                              0.f, Region{all, all, {0, op.out_w}, all, all});
    stages.gradient = Func("gradient");
    stages.gradient(k, g, x, row) = output_gradient(k, g, x, of_image, image);

    const Func padded =
        with_zeros_around(with_ends(op.input, op.channels, op.groups), op.width, op.height, false);
    const Expr met = padded(c, g, x * op.stride_x + s * op.dilation_x - op.padding_left,
                            of_image * op.stride_y + r * op.dilation_y - op.padding_top, image);
    stages.tap = Func("tap");
    stages.tap(c, s, r, g, x, row) = select(x < op.out_w, met, 0.f);

    const RowsInParts rows(op.batch, op.out_h, parts);
    stages.r = RDom(0, columns, 0, (op.out_w + columns - 1) / columns, 0, rows.length, "r");
    RDom &d = stages.r;
    d.where(rows.holds(part, d.z));
    const Expr column = d.y * columns + d.x, of_all = part * rows.length + d.z;
    stages.sum = Func("sum");
    stages.sum(c, s, r, k, g, part) = 0.f;
    stages.sum(c, s, r, k, g, part) +=
        stages.gradient(k, g, column, of_all) * stages.tap(c, s, r, g, column, of_all);

    Func total = stages.sum;
    if (parts > 1) {
        stages.partial = Func("partial");
        stages.partial(c, s, r, k, g, part) = stages.sum(c, s, r, k, g, part);
        total = stages.partial;
    }
    stages.output = Func("result");
    stages.output(c, s, r, k, g) =
        accumulated(op.type, tree_sum(parts, [&](int p) { return total(c, s, r, k, g, p); }),
                    op.previous(c, s, r, k, g), op.accumulate);
    return stages;
}

}  // namespace hk::generators
