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

// What an element of a filter is of. A vector of elements has one tap.
struct Element {
    Expr channel, s = 0, r = 0;

    Element(const Conv2dBackwardWeightOperands &op, const PixelLine &line, const Expr &e)
        : channel(e) {
        if (!line.vectors.value.defined()) return;
        const int vector = pixel_vector(op.type);
        const bool windows = !line.taps.value.defined();
        const Expr tap = quotient(e / vector, line.vectors);
        const Expr row = windows ? tap : quotient(tap, line.taps);
        channel = promised_within((e / vector - tap * line.vectors.value) * vector + e % vector,
                                  op.channels);
        r = promised_within(row, op.kernel_h);
        if (!windows) s = promised_within(tap - row * line.taps.value, op.kernel_w);
    }
};

// The line's pixel x, so many slices further.
Expr pixel_of(const Conv2dBackwardWeightProducts &stages) {
    return x + kProductPixels * stages.slice;
}

// What an element of a filter meets for a pixel of the line.
Func met(const Conv2dBackwardWeightOperands &op, const PixelLine &line,
         const Conv2dBackwardWeightProducts &stages, const Expr &elements, const Expr &pixels) {
    const Var &e = stages.e, &slice = stages.slice;
    const Expr zero = cast(op.type, 0), pixel = pixel_of(stages);
    const Expr at = there(e, elements, op.type), on_line = within(pixel, pixels);
    Func tap("tap");
    if (!line.columns.value.defined()) {
        tap(e, g, x, slice) =
            select(on_line, op.input(at, g, clamp(pixel, 0, pixels - 1), 0, 0), zero);
        return tap;
    }
    const Element of(op, line, at);
    const Expr row = quotient(pixel, line.columns), image = quotient(row, line.rows);
    const Expr column = pixel - row * line.columns.value,
               row_of_image = row - image * line.rows.value;
    const Expr at_x = column * op.stride_x + of.s * op.dilation_x - op.padding_left,
               at_y = row_of_image * op.stride_y + of.r * op.dilation_y - op.padding_top;
    const Expr n = min(promised_within(image, line.batch + 1), line.batch - 1);
    if (op.inside) {
        tap(e, g, x, slice) = select(on_line, op.input(of.channel, g, at_x, at_y, n), zero);
        return tap;
    }
    tap(e, g, x, slice) = select(
        on_line && within(at_x, op.width) && within(at_y, op.height),
        op.input(of.channel, g, clamp(at_x, 0, op.width - 1), clamp(at_y, 0, op.height - 1), n),
        zero);
    return tap;
}

// Replaces an image by its copy, of so many pixels in a row. Sums of channels past the last one, of
// the last again, are not read.
CopiedLine copy_line(Func &image, const ImageSize &size) {
    CopiedLine line;
    copy_channels_last(image, size, false, line.tile, line.to);
    image = Func("image_in_lines");
    image(c, g, x, y, n) = line.to(c, x + size.width * (y + size.height * n), g);
    line.channels = in_vectors(size.channels, pixel_vector(line.to.type()));
    line.pixels = size.width * size.height * size.batch;
    return line;
}

// Adds up the parts' sums. `element`: of c, s and r.
void add_up(Conv2dBackwardWeightProducts &stages, const Conv2dBackwardWeightOperands &op,
            const Expr &element) {
    const Var &share = stages.share;
    const auto of_part = [&](const Expr &part) {
        return stages.partial(element, min(k, op.filters - 1), promised_within(g, op.groups),
                              promised_within(part, stages.parts));
    };
    stages.has_few = stages.parts <= kShares;
    stages.few_of = RDom(0, stages.parts, "few_of");
    stages.few = Func("few");
    stages.few(c, s, r, k, g) = 0.f;
    stages.few(c, s, r, k, g) += of_part(stages.few_of);

    stages.of = RDom(0, ceil_div(stages.parts, kShares), "of");
    RDom &of = stages.of;
    of.where(of * kShares + share < stages.parts);
    stages.running = Func("running");
    stages.running(c, s, r, k, g, share) = 0.f;
    stages.running(c, s, r, k, g, share) += of_part(of * kShares + share);
    stages.shares = Func("shares");
    stages.shares(c, s, r, k, g, share) = stages.running(c, s, r, k, g, share);
    const Expr tree = tree_sum(kShares, [&](int i) { return stages.shares(c, s, r, k, g, i); });
    const auto written = [&](const Expr &sum) {
        return accumulated(op.type, sum, op.previous(c, s, r, k, g), op.accumulate);
    };
    stages.result_of_few = Func("result_of_few");
    stages.result_of_few(c, s, r, k, g) = written(stages.few(c, s, r, k, g));
    stages.output = Func("result");
    stages.output(c, s, r, k, g) = written(tree);
}

// The parts' sums of the stages' gradient and tap.
void sum_parts(Conv2dBackwardWeightProducts &stages, const PixelLine &line) {
    const Var &e = stages.e, &part = stages.part, &slice = stages.slice;
    stages.parts = line.parts;
    stages.slices = line.slices;
    stages.r = RDom(0, kProductPixels, 0, line.steps, "r");
    const RDom &d = stages.r;
    const Expr pixel = (part * line.steps + d.y) * (kProductPixels * line.slices) + d.x;
    stages.sum = Func("sum");
    stages.sum(e, k, g, part, slice) = 0.f;
    stages.sum(e, k, g, part, slice) += cast<float>(stages.gradient(k, g, pixel, slice)) *
                                        cast<float>(stages.tap(e, g, pixel, slice));
    stages.of_slice = Func("of_slice");
    stages.of_slice(e, k, g, part, slice) = stages.sum(e, k, g, part, slice);
    stages.partial = Func("partial");
    stages.partial(e, k, g, part) =
        line.slices == 1
            ? stages.sum(e, k, g, part, 0)
            : tree_sum(line.slices, [&](int i) { return stages.of_slice(e, k, g, part, i); });
}

// A pixel of the line, of a row that is whole vectors. Of planes each is one row.
struct PixelOfRow {
    Expr column, row, image, on_line;

    PixelOfRow(const Expr &pixel, const PixelLine &line, const Expr &batch, int vector,
               bool planes = false) {
        const Expr first = pixel / vector * vector;
        const Expr width = line.columns.value, height = line.rows.value, pixels = width * height;
        const Expr of_line = quotient(first, line.columns), of = quotient(of_line, line.rows);
        const Expr place = planes ? promised_within(first - of * pixels, pixels)
                                  : promised_within(first - of_line * width, width);
        column = place / vector * vector + pixel % vector;
        row = planes ? Expr(0) : promised_within(of_line - of * height, height);
        image = promised_within(of, batch);
        on_line = within(first, pixels * batch);
    }
};

// Zeros past the last filter and pixel.
Func gradient_of_rows(const Conv2dBackwardWeightOperands &op, const PixelOfRow &at,
                      const Var &slice) {
    Func gradient("gradient");
    gradient(k, g, x, slice) =
        select(at.on_line && k < op.filters,
               op.output_gradient(min(k, op.filters - 1), g, at.column, at.row, at.image),
               cast(op.type, 0));
    return gradient;
}

// The same of channels, of 1x1 filters.
Func tap_of_rows(const Conv2dBackwardWeightOperands &op, const PixelOfRow &at, const Var &e,
                 const Var &slice) {
    Func tap("tap");
    tap(e, g, x, slice) = select(at.on_line && e < op.channels,
                                 op.input(min(e, op.channels - 1), g, at.column * op.stride_x,
                                          at.row * op.stride_y, at.image),
                                 cast(op.type, 0));
    return tap;
}

Func gradient_of_line(const Conv2dBackwardWeightOperands &op,
                      const Conv2dBackwardWeightProducts &stages) {
    const Expr pixels = op.out_w, pixel = pixel_of(stages);
    Func gradient("gradient");
    gradient(k, g, x, stages.slice) = select(
        within(pixel, pixels),
        op.output_gradient(there(k, op.filters, op.type), g, clamp(pixel, 0, pixels - 1), 0, 0),
        cast(op.type, 0));
    return gradient;
}

// What is read of the output's gradient of images in rows, vectors of so many pixels of planes that
// are lines or, of 0, a copy. `op` then takes all pixels for one line.
void read_gradient(Conv2dBackwardWeightOperands &op, const PixelLine &line, int vector,
                   Conv2dBackwardWeightProducts &stages) {
    stages.row_vector = vector;
    if (vector > 0) {
        const PixelOfRow at(pixel_of(stages), line, op.batch, vector, true);
        stages.gradient = gradient_of_rows(op, at, stages.slice);
        op.out_w = op.out_w * op.out_h * op.batch;
        return;
    }
    const CopiedLine copy =
        copy_line(op.output_gradient, {op.filters, op.out_w, op.out_h, op.batch});
    op.filters = copy.channels;
    op.out_w = copy.pixels;
    stages.gradient = gradient_of_line(op, stages);
    stages.copied_gradient = copy;
}

// Sums of the parts, of which the gradient is there, and all but what adds them up.
void sum_taps(const Conv2dBackwardWeightOperands &op, const PixelLine &line,
              Conv2dBackwardWeightProducts &stages) {
    stages.filters = op.filters;
    const Expr elements = op.channels * op.kernel_w * op.kernel_h;
    stages.elements = op.inside ? in_vectors(elements, kProductElements) : elements;
    stages.tap = met(op, line, stages, elements, op.out_w);
    sum_parts(stages, line);
}

// The same of all taps.
void sum_and_add_up(const Conv2dBackwardWeightOperands &op, const PixelLine &line,
                    Conv2dBackwardWeightProducts &stages) {
    sum_taps(op, line, stages);
    const Expr tap =
        promised_within(s, op.kernel_w) + op.kernel_w * promised_within(r, op.kernel_h);
    add_up(stages, op, there(c, op.channels, op.type) + op.channels * tap);
}

}  // namespace

Conv2dBackwardWeightProducts conv2d_backward_weight_products(const Conv2dBackwardWeightOperands &op,
                                                             const PixelLine &line) {
    Conv2dBackwardWeightProducts stages;
    stages.gradient = gradient_of_line(op, stages);
    sum_and_add_up(op, line, stages);
    return stages;
}

Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_rows(
    const Conv2dBackwardWeightOperands &op, const PixelLine &line, int vector) {
    Conv2dBackwardWeightProducts stages;
    stages.filters = op.filters;
    stages.elements = op.channels;
    stages.row_vector = vector;
    stages.any_channels = stages.in_rows = true;
    const PixelOfRow at(pixel_of(stages), line, op.batch, vector);
    stages.gradient = gradient_of_rows(op, at, stages.slice);
    stages.tap = tap_of_rows(op, at, stages.e, stages.slice);
    sum_parts(stages, line);
    add_up(stages, op, min(c, op.channels - 1));
    return stages;
}

Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_copies(
    Conv2dBackwardWeightOperands op, PixelLine line, bool pointwise, int vector) {
    Conv2dBackwardWeightProducts stages;
    read_gradient(op, line, vector, stages);
    stages.copied_input =
        copy_line(op.input, take_met_pixels(op, line.columns.value, line.rows.value));
    op.channels = stages.copied_input.channels;
    if (pointwise) line.columns = line.rows = {};
    stages.any_channels = true;
    sum_and_add_up(op, line, stages);
    return stages;
}

Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_windows(
    Conv2dBackwardWeightOperands op, PixelLine line, bool nhwc, int vector) {
    Conv2dBackwardWeightProducts stages;
    if (nhwc)
        stages.gradient = gradient_of_line(op, stages);
    else
        read_gradient(op, line, vector, stages);
    const Conv2dBackwardWeightOperands all = op;
    op.columns = line.columns;
    op.rows = line.rows;
    op.batch = line.batch;
    stages.windows = copy_windows(op, op.input, cast(op.type, 0), false);
    op.inside = true;
    line.vectors.value = op.channels / pixel_vector(op.type);
    stages.any_channels = true;
    sum_taps(op, line, stages);
    add_up(stages, all,
           min(c, all.channels - 1) + stages.windows.channels * promised_within(s, all.kernel_w) +
               op.channels * promised_within(r, all.kernel_h));
    return stages;
}

}  // namespace hk::generators
