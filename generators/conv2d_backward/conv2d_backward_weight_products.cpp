#include "generators/conv2d_backward/conv2d_backward_weight_products.h"

#include "generators/accumulated.h"
#include "generators/conv2d/channels_last.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Sums of channels past the last one are not written.
Expr there(const Var &channel, const Expr &count, const Type &type) {
    return in_last_vector(channel, count, pixel_vector(type));
}

// What a tap meets for a pixel of the line.
Func met(const Conv2dBackwardWeightOperands &op, const PixelLine &line, const Expr &pixels) {
    const Expr zero = cast(op.type, 0);
    const Expr channel = there(c, op.channels, op.type), on_line = within(x, pixels);
    Func tap("tap");
    if (!line.columns.value.defined()) {
        tap(c, s, r, g, x) =
            select(on_line, op.input(channel, g, clamp(x, 0, pixels - 1), 0, 0), zero);
        return tap;
    }
    const Expr row = quotient(x, line.columns), image = quotient(row, line.rows);
    const Expr column = x - row * line.columns.value, row_of_image = row - image * line.rows.value;
    const Expr at_x = column * op.stride_x + s * op.dilation_x - op.padding_left,
               at_y = row_of_image * op.stride_y + r * op.dilation_y - op.padding_top;
    tap(c, s, r, g, x) =
        select(on_line && within(at_x, op.width) && within(at_y, op.height),
               op.input(channel, g, clamp(at_x, 0, op.width - 1), clamp(at_y, 0, op.height - 1),
                        min(unsafe_promise_clamped(image, 0, line.batch), line.batch - 1)),
               zero);
    return tap;
}

// Replaces an image by its copy, of so many pixels in a row.
CopiedLine copy_line(Func &image, const ImageSize &size) {
    CopiedLine line;
    copy_channels_last(image, size, line.tile, line.to);
    image = Func("image_in_lines");
    image(c, g, x, y, n) = line.to(c, x + size.width * (y + size.height * n), g);
    line.channels = in_vectors(size.channels, pixel_vector(line.to.type()));
    line.pixels = size.width * size.height * size.batch;
    return line;
}

}  // namespace

Conv2dBackwardWeightProducts conv2d_backward_weight_products(const Conv2dBackwardWeightOperands &op,
                                                             const PixelLine &line) {
    Conv2dBackwardWeightProducts stages;
    stages.kernel_w = op.kernel_w;
    stages.kernel_h = op.kernel_h;
    stages.parts = line.parts;
    stages.filters = op.filters;
    stages.channels = op.channels;
    const Var &part = stages.part, &share = stages.share;
    const Expr pixels = op.out_w;
    stages.gradient = Func("gradient");
    stages.gradient(k, g, x) =
        select(within(x, pixels),
               op.output_gradient(there(k, op.filters, op.type), g, clamp(x, 0, pixels - 1), 0, 0),
               cast(op.type, 0));
    stages.tap = met(op, line, pixels);

    stages.r = RDom(0, kProductPixels, 0, line.slices, "r");
    const RDom &d = stages.r;
    const Expr pixel = (part * line.slices + d.y) * kProductPixels + d.x;
    stages.sum = Func("sum");
    stages.sum(c, s, r, k, g, part) = 0.f;
    stages.sum(c, s, r, k, g, part) +=
        cast<float>(stages.gradient(k, g, pixel)) * cast<float>(stages.tap(c, s, r, g, pixel));
    stages.partial = Func("partial");
    stages.partial(c, s, r, k, g, part) = stages.sum(c, s, r, k, g, part);

    stages.of = RDom(0, ceil_div(line.parts, kShares), "of");
    RDom &of = stages.of;
    of.where(of * kShares + share < line.parts);
    stages.running = Func("running");
    stages.running(c, s, r, k, g, share) = 0.f;
    // Of an index that blocks are fused of, Halide takes all values.
    const auto within_all = [](const Var &v, const Expr &size) {
        return unsafe_promise_clamped(v, 0, size - 1);
    };
    stages.running(c, s, r, k, g, share) +=
        stages.partial(there(c, op.channels, op.type), within_all(s, op.kernel_w),
                       within_all(r, op.kernel_h), min(k, op.filters - 1), within_all(g, op.groups),
                       unsafe_promise_clamped(of * kShares + share, 0, line.parts - 1));
    stages.shares = Func("shares");
    stages.shares(c, s, r, k, g, share) = stages.running(c, s, r, k, g, share);
    stages.output = Func("result");
    stages.output(c, s, r, k, g) = accumulated(
        op.type, tree_sum(kShares, [&](int i) { return stages.shares(c, s, r, k, g, i); }),
        op.previous(c, s, r, k, g), op.accumulate);
    return stages;
}

Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_rows(
    Conv2dBackwardWeightOperands op, PixelLine line, bool pointwise) {
    const CopiedLine gradient =
        copy_line(op.output_gradient, {op.filters, op.out_w, op.out_h, op.batch});
    const CopiedLine input = copy_line(op.input, {op.channels, op.width, op.height, op.batch});
    op.filters = gradient.channels;
    op.channels = input.channels;
    op.out_w = gradient.pixels;
    if (pointwise) line.columns = line.rows = {};
    Conv2dBackwardWeightProducts stages = conv2d_backward_weight_products(op, line);
    stages.copied_gradient = gradient;
    stages.copied_input = input;
    return stages;
}

}  // namespace hk::generators
