#include "generators/conv2d_backward/conv2d_backward_weight_peeled.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Columns of the output whose windows' columns are all inside: first to end - 1.
struct Interior {
    explicit Interior(const Conv2dBackwardWeightOperands &op)
        : first(min(ceil_div(max(op.padding_left, 0), op.stride_x), op.out_w)) {
        const Expr last = op.width - 1 + op.padding_left - (op.kernel_w - 1) * op.dilation_x;
        end = clamp(last / op.stride_x + 1, first, op.out_w);
    }

    Expr first, end;
};

// How the rows of all images are divided.
struct RowTiles {
    RowTiles(const Conv2dBackwardWeightOperands &op, const PeeledTiles &size)
        : of_image(ceil_div(op.out_h, max(size.pixels / op.out_w, 1))),
          rows(ceil_div(op.out_h, of_image)),
          number(of_image * op.batch) {
        const Expr all =
            cast<float>(op.out_w) * op.out_h * op.batch * op.groups * op.kernel_w * op.kernel_h;
        parts = clamp(cast<int>(all / static_cast<float>(size.products)), 1, min(number, 16));
        of_part = ceil_div(number, parts);
    }

    Expr of_image, rows, number, parts, of_part;
};

}  // namespace

Conv2dBackwardWeightPeeled conv2d_backward_weight_peeled(const Conv2dBackwardWeightOperands &op,
                                                         const PeeledTiles &size) {
    Conv2dBackwardWeightPeeled stages;
    const Var &tile = stages.tile, &part = stages.part;
    const Interior inner(op);
    const RowTiles tiles(op, size);
    const Func gradient = in_f32(op.output_gradient), input = in_f32(op.input);
    // Tiles past the last one, of the last part, are of an image past the last one.
    const Expr of_all = part * tiles.of_part + tile;
    const Expr image = of_all / tiles.of_image,
               top = (of_all - image * tiles.of_image) * tiles.rows;
    const auto at_most = [](const Expr &index, const Expr &size) {
        return promised_within(min(index, size - 1), size);
    };
    stages.gradient = Func("gradient");
    stages.gradient(g, x, y, tile, part) =
        gradient(0, promised_within(g, op.groups), at_most(likely(x), op.out_w),
                 at_most(top + y, op.out_h), at_most(image, op.batch));
    const auto product = [&](RDom &pixel, bool peeled) {
        const Expr column = pixel.x, row = top + pixel.y;
        const Expr x = column * op.stride_x + s * op.dilation_x - op.padding_left;
        const Expr y = row * op.stride_y + r * op.dilation_y - op.padding_top;
        pixel.where(image < op.batch);
        pixel.where(row < op.out_h);
        pixel.where(y >= 0 && y < op.height);
        if (peeled) pixel.where(x >= 0 && x < op.width);
        const Expr group = promised_within(g, op.groups), n = promised_within(image, op.batch);
        const Expr at_column = promised_within(column, op.out_w),
                   at_row = promised_within(row, op.out_h);
        return (peeled ? gradient(0, group, at_column, at_row, n)
                       : stages.gradient(g, column, pixel.y, tile, part)) *
               input(0, group, promised_within(x, op.width), promised_within(y, op.height), n);
    };
    stages.left = RDom(0, inner.first, 0, tiles.rows, "left");
    stages.right = RDom(inner.end, op.out_w - inner.end, 0, tiles.rows, "right");
    stages.interior = RDom(inner.first, inner.end - inner.first, 0, tiles.rows, "interior");
    stages.tile_sum = Func("tile_sum");
    stages.tile_sum(g, s, r, tile, part) = 0.f;
    for (RDom *pixel : {&stages.left, &stages.right, &stages.interior}) {
        const Expr term = product(*pixel, pixel != &stages.interior);
        stages.tile_sum(g, s, r, tile, part) += term;
    }

    stages.of = RDom(0, tiles.of_part, "of");
    stages.partial = Func("partial");
    stages.partial(g, s, r, part) = 0.f;
    stages.partial(g, s, r, part) += stages.tile_sum(g, s, r, stages.of.x, part);
    stages.parts = RDom(0, tiles.parts, "parts");
    stages.sum = Func("sum");
    stages.sum(g, s, r) = 0.f;
    stages.sum(g, s, r) += stages.partial(g, s, r, stages.parts);
    stages.output = Func("result");
    stages.output(c, s, r, k, g) =
        accumulated(op.type, stages.sum(g, s, r), op.previous(c, s, r, k, g), op.accumulate);
    return stages;
}

}  // namespace hk::generators
