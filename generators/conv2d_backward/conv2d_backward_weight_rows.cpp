#include "generators/conv2d_backward/conv2d_backward_weight_rows.h"

#include "generators/accumulated.h"
#include "generators/optional.h"
#include "generators/quotient.h"

using namespace Halide;

namespace hk::generators {

namespace {

// `length` in up to `wanted` parts.
struct Division {
    Division(const Expr &length, const Expr &wanted)
        : parts(clamp(wanted, 1, length)), of_part(ceil_div(length, parts)) {}

    Expr parts, of_part;
};

// By one comparison, which Halide draws no bounds from: what is computed for a thread would be of
// other places than it takes.
Expr is_within(const Expr &place, const Expr &size) {
    return cast<uint32_t>(place) < cast<uint32_t>(size);
}

}  // namespace

Conv2dBackwardWeightRows conv2d_backward_weight_rows(const Conv2dBackwardWeightOperands &op,
                                                     const DepthwiseRows &size) {
    Conv2dBackwardWeightRows stages;
    const Var &lane = stages.lane, &column = stages.column, &line = stages.line, &row = stages.row,
              &part = stages.part;
    const int v = size.vector;
    const Expr pixels = op.batch * op.out_h * op.out_w;
    const Expr wanted = max(size.blocks / ceil_div(op.groups, size.groups),
                            ceil_div(pixels, size.rows * DepthwiseRows::kRowPixels));
    const Division of_y(ceil_div(op.out_h, size.rows), wanted);
    const Division of_n(op.batch, wanted / of_y.parts);
    const Division of_x(ceil_div(op.out_w, size.columns), wanted / (of_y.parts * of_n.parts));

    const Expr part_nx = whole_quotient(part, of_y.parts), part_y = part - part_nx * of_y.parts,
               part_x = whole_quotient(part_nx, of_n.parts), part_n = part_nx - part_x * of_n.parts;
    const auto x_of = [&](const Expr &tile) {
        return (part_x * of_x.of_part + tile) * size.columns;
    };
    const auto y_of = [&](const Expr &block) {
        return (part_y * of_y.of_part + block) * size.rows;
    };
    const Expr image = part_n * of_n.of_part + n;
    const auto element = [&](const Func &of, const Expr &column, const Expr &width, const Expr &row,
                             const Expr &height) {
        const Expr vectors = op.groups / v;
        const Expr group = size.vectors
                               ? promised_within(min(g, vectors - 1), vectors) * v + lane
                               : promised_within(min(g * v + lane, op.groups - 1), op.groups);
        return if_present(
            is_within(column, width) && is_within(row, height) && is_within(image, op.batch),
            in_f32(of)(0, group, promised_within(column, width), promised_within(row, height),
                       promised_within(image, op.batch)),
            0.f);
    };
    stages.window = Func("window");
    stages.window(column, line, lane, g, x, y, n, part) =
        element(op.input, x_of(x) * size.stride_x - op.padding_left + column, op.width,
                y_of(y) * size.stride_y - op.padding_top + line, op.height);
    stages.tap = Func("tap");
    stages.tap(column, r, lane, g, x, y, n, row, part) =
        stages.window(column, row * size.stride_y + r, lane, g, x, y, n, part);
    stages.gradient = Func("gradient");
    stages.gradient(column, lane, g, x, y, n, row, part) =
        element(op.output_gradient, x_of(x) + column, op.out_w, y_of(y) + row, op.out_h);

    stages.r = RDom(0, size.columns, 0, of_x.of_part, 0, of_n.of_part, 0, of_y.of_part, "r");
    RDom &d = stages.r;
    d.where(is_within(y_of(d.w) + row, op.out_h));
    d.where(is_within(x_of(d.y) + d.x, op.out_w));
    stages.sum = Func("sum");
    stages.sum(lane, g, s, r, row, part) = 0.f;
    stages.sum(lane, g, s, r, row, part) +=
        stages.gradient(d.x, lane, g, d.y, d.w, d.z, row, part) *
        stages.tap(d.x * size.stride_x + s, r, lane, g, d.y, d.w, d.z, row, part);

    stages.shared_sum = Func("shared_sum");
    stages.shared_sum(lane, g, s, r, row, part) = stages.sum(lane, g, s, r, row, part);
    stages.partial = Func("partial");
    stages.partial(lane, g, s, r, part) =
        tree_sum(size.rows, [&](int row) { return stages.shared_sum(lane, g, s, r, row, part); });
    const Expr parts = of_x.parts * of_y.parts * of_n.parts;
    stages.of = RDom(0, ceil_div(parts, DepthwiseRows::kShares), "of");
    const Expr of_share = stages.of.x * DepthwiseRows::kShares + stages.of_shares;
    stages.of.where(of_share < parts);
    stages.of.where(g < op.groups);
    stages.share = Func("share");
    stages.share(g, s, r, stages.of_shares) = 0.f;
    stages.share(g, s, r, stages.of_shares) +=
        stages.partial(g % v, g / v, s, r, promised_within(of_share, parts));
    const Expr total =
        tree_sum(DepthwiseRows::kShares, [&](int i) { return stages.share(g, s, r, i); });
    stages.output = Func("result");
    stages.output(c, s, r, k, g) =
        accumulated(op.type, total, op.previous(c, s, r, k, g), op.accumulate);
    return stages;
}

}  // namespace hk::generators
