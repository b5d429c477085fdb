#include "generators/conv2d_backward/conv2d_backward_weight_sliced.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Range all = {Expr(), Expr()};

}  // namespace

Conv2dBackwardWeightSliced conv2d_backward_weight_sliced(const Conv2dBackwardWeightOperands &op,
                                                         int columns, int parts) {
    Conv2dBackwardWeightSliced stages;
    const Var &row = stages.row, &part = stages.part;
    const Expr of_image = row % op.out_h, image = clamp(row / op.out_h, 0, op.batch - 1);

    const Func output_gradient = BoundaryConditions::constant_exterior(
        with_zeros_past_ends(in_f32(op.output_gradient), op.filters, op.groups), 0.f,
        Region{all, all, {0, op.out_w}, all, all});
    stages.gradient = Func("gradient");
    stages.gradient(k, g, x, row) = output_gradient(k, g, x, of_image, image);

    const Func padded = with_zeros_around(
        with_zeros_past_ends(in_f32(op.input), op.channels, op.groups), op.width, op.height, false);
    const Expr met = padded(c, g, x * op.stride_x + s * op.dilation_x - op.padding_left,
                            of_image * op.stride_y + r * op.dilation_y - op.padding_top, image);
    stages.tap = Func("tap");
    stages.tap(c, s, r, g, x, row) = select(x < op.out_w, met, 0.f);

    // Written so that bounds are exact: of a remainder by an argument Halide takes all values, also
    // where the part is a single one.
    const Expr rows = op.batch * op.out_h, slices = ceil_div(op.out_w, columns);
    const Expr down = min(rows, parts), across = parts / down;
    const Expr part_x = part / down, part_y = part - part_x * down;
    const Expr length_x = ceil_div(slices, across), length_y = ceil_div(rows, down);
    stages.r = RDom(0, columns, 0, length_x, 0, length_y, "r");
    RDom &d = stages.r;
    const Expr slice = part_x * length_x + d.y, of_all = part_y * length_y + d.z;
    d.where(slice < slices);
    d.where(of_all < rows);
    d.where(part_x < across);
    const Expr column = slice * columns + d.x;
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
