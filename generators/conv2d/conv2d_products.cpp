#include <array>

#include "generators/conv2d/channels_last.h"
#include "generators/conv2d/conv2d.h"
#include "generators/conv2d/finish.h"
#include "generators/conv2d/halo.h"
#include "generators/conv2d/line_pixel.h"
#include "generators/conv2d/product_sum.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

// What a sum's residual is at. Sums past the last pixel or filter read the last one's: they are not
// stored.
std::array<Expr, 5> place_of_sum(const Conv2dOperands &op, const ProductForm &form,
                                 const Conv2dSliced &stages) {
    const bool of_all_images = stages.line || form.apart;
    Pixel pixel{min(x, (of_all_images ? pixels_of_images(op) : op.out_w) - 1), y, n};
    const int v = form.stored_pixels;
    if (form.apart && v > 1)
        pixel = place_in_vector(op, min(x / v, pixels_of_images(op) / v - 1), x % v, v);
    else if (form.apart)
        pixel = place_of_pixel(op, pixel.x);
    else if (stages.in_rows)
        pixel = {min(x, op.out_w - 1), min(y, op.out_h - 1), n};
    const bool by_vectors = !stages.in_rows && form.finishes_in_loops;
    const Expr filter = by_vectors ? in_last_vector(k, op.filters, ProductSlice(op.type).vector)
                                   : min(k, op.filters - 1);
    return {filter, g, pixel.x, pixel.y, pixel.n};
}

// The residual of vectors of a thread's pixels, which it loads at once.
void add_vectors(Conv2dOperands &op, int lanes, Conv2dSliced &stages) {
    const Pixel place =
        place_in_vector(op, min(x, pixels_of_images(op) / lanes - 1), stages.lane, lanes);
    stages.addend = Func("addend");
    stages.addend(stages.lane, k, g, x) =
        cast<float>(op.residual(min(k, op.filters - 1), g, place.x, place.y, place.n));
    stages.added = RDom(0, select(op.has_residual, 1, 0), "added");
    const Expr value = stages.addend(x % lanes, k, g, x / lanes + stages.added.x);
    stages.sum(k, g, x, y, n) = strict_float(stages.sum(k, g, x, y, n) + value);
    op.has_residual = Expr();
}

// Smooth activations are a loop of all of a thread's sums, which a call has or not, and so, where
// they finish in loops, is each of the others; else those are branches of each sum.
void finish_sums(Conv2dOperands &op, const ProductForm &form, Conv2dSliced &stages) {
    const bool in_parts = form.parts.defined(), activates = op.slope.defined();
    const std::array<Expr, 5> at = place_of_sum(op, form, stages);
    Func &sum = in_parts ? stages.joined : stages.sum;
    if (form.stored_pixels > kStoredPair)
        add_vectors(op, form.stored_pixels, stages);
    else if (form.finishes_in_loops && !in_parts)
        add_residual(op, at, sum, stages.added);
    if (!activates) return;
    op.activates = op.smooth == 0 && (op.slope != 1.f || has_bounds(op));
    activate_smoothly(op, at, sum, stages.smooth);
    if (form.finishes_in_loops && !in_parts)
        activate_linearly(op, sum, stages.sloped, stages.bounded);
}

// The output, its pixels at places of their own.
void output_at_places(const Conv2dOperands &op, const ProductForm &form, Conv2dSliced &stages) {
    stages.pixels = pixels_by_vectors(op, form.stored_pixels);
    const auto [of_line, pixel] = stored_pixel(op, stages.pixels, form.stored_pixels);
    const std::array<Expr, 5> at = {k, g, pixel.x, pixel.y, pixel.n};
    stages.output(form.order.image_arguments(k)) = undef(op.type);
    stages.output(form.order.in_order(at)) =
        cast(op.type, finished_sum(op, stages.sum(k, g, of_line, 0, 0), at));
}

// Of the filter alone, its filters next to each other in whole vectors, past the last zeros.
void copy_across(Conv2dOperands &op, int vector, Conv2dSliced &stages) {
    const Func filter = op.weight;
    const Expr value = filter(c, s, r, min(k, op.filters - 1), g);
    stages.transposed = Func("transposed");
    stages.transposed(c, s, r, k, g) = select(k < op.filters, value, cast(op.type, 0));
    op.weight = stages.transposed;
    stages.vectors_of_filters = in_vectors(op.filters, vector);
    stages.vectors_of_channels = op.channels;
    stages.groups = op.groups;
}

// What a tap meets of an image with zeros around it.
Func padded_input(const Conv2dOperands &op, int vector) {
    Expr inside = c / vector * vector < op.channels;
    if (!op.pointwise) inside = inside && within(x, op.width) && within(y, op.height);
    Func padded("padded");
    padded(c, g, x, y, n) =
        select(inside,
               op.input(in_last_vector(c, op.channels, vector), g, clamp(x, 0, op.width - 1),
                        clamp(y, 0, op.height - 1), n),
               cast(op.type, 0));
    return padded;
}

// The same of windows' rows. The next pixels' channels, which the last vector may have, are left
// out.
Func read_padded_windows(Conv2dOperands &op, Conv2dSliced &stages) {
    const Expr zero = cast(op.type, 0);
    const Expr taps = read_windows(op, op.input, op.weight, zero, stages);
    Func padded("padded");
    padded(c, g, x, y, n) = select(c < taps, op.input(c, g, x, y, n), zero);
    return padded;
}

// Where the first tap of all is, from a window's first one: taps may be counted back.
Expr first_tap(const Expr &kernel, const Expr &dilation) {
    return is_const_one(dilation) ? Expr(0) : min((kernel - 1) * dilation, 0);
}

// What windows of a tile meet, from the first one's place on the line with zeros around images.
void read_halo(const Conv2dOperands &op, const HaloTile &halo, int vector, Conv2dSliced &stages) {
    const Var &tile = stages.tile;
    const HaloLine line(op);
    const Pixel at = line.pixel(line.place(tile * halo.outputs) + x);
    const Expr column = at.x + first_tap(op.kernel_w, op.dilation_x) - op.padding_left,
               row = at.y + first_tap(op.kernel_h, op.dilation_y) - op.padding_top;
    const Expr inside = c / vector * vector < op.channels && within(column, op.width) &&
                        within(row, op.height) && at.n < op.batch;
    stages.tap = Func("tap");
    stages.tap(c, x, tile, g) = select(
        inside,
        op.input(in_last_vector(c, op.channels, vector), g, clamp(column, 0, op.width - 1),
                 clamp(row, 0, op.height - 1), unsafe_promise_clamped(at.n, 0, op.batch - 1)),
        cast(op.type, 0));
}

// Of the sum's pixel x: no place is further from a tile's first than its halo.
Expr tap_of_halo(const Conv2dOperands &op, const HaloTile &halo, const Conv2dSliced &stages,
                 const Expr &channel) {
    const RDom &d = stages.r;
    const HaloLine line(op);
    const Expr tile = x / halo.outputs, window = line.place(x) - line.place(tile * halo.outputs);
    const Expr row = d.z * op.dilation_y - first_tap(op.kernel_h, op.dilation_y),
               column = d.y * op.dilation_x - first_tap(op.kernel_w, op.dilation_x);
    // Not line.row: of one product with the window's row no part is the same for all taps.
    const Expr place = window + (row * (op.columns.value + hk::detail::kHaloMargin) + column);
    return stages.tap(channel, unsafe_promise_clamped(place, 0, halo.pixels - 1), tile, g);
}

// What a sum's term reads: of the line's pixel x, or of the output's.
void read_taps(const Conv2dOperands &op, const Pixel &pixel, Conv2dSliced &stages) {
    stages.tap = Func("tap");
    const Expr value =
        stages.padded(c, g, pixel.x * op.stride_x + s * op.dilation_x - op.padding_left,
                      pixel.y * op.stride_y + r * op.dilation_y - op.padding_top, pixel.n);
    if (stages.lanes == 0)
        stages.tap(c, s, r, g, x, y, n) = value;
    else
        stages.tap(c, s, r, g, stages.quarter, stages.lane, stages.set) = value;
}

Expr tap_of_sum(const Conv2dOperands &op, const ProductForm &form, const Conv2dSliced &stages,
                const Expr &channel) {
    const RDom &d = stages.r;
    const int lanes = stages.lanes;
    if (form.halo.pixels > 0) return tap_of_halo(op, form.halo, stages, channel);
    return lanes == 0 ? stages.tap(channel, d.y, d.z, g, x, y, n)
                      : stages.tap(channel, d.y, d.z, g, x / lanes % 4, x % lanes, x / (4 * lanes));
}

// The same of vectors of pixels, which are of one row.
void read_rows(const Conv2dOperands &op, int vector, Conv2dSliced &stages) {
    const Expr first = x / vector * vector;
    const Pixel pixel = pixel_of_line(op, first);
    const Expr column = unsafe_promise_clamped(pixel.x, 0, op.columns.value - 1) / vector * vector +
                        x % vector,
               row = unsafe_promise_clamped(pixel.y, 0, op.rows.value - 1);
    stages.tap = Func("tap");
    stages.tap(c, s, r, g, x, y, n) =
        select(c < op.channels && first < pixels_of_images(op),
               op.input(min(c, op.channels - 1), g, column, row, pixel.n), cast(op.type, 0));
}

// What a sum's terms read, and the copies that are made of the operands for it.
void read_input(Conv2dOperands &op, const ProductForm &form, int vector, Conv2dSliced &stages) {
    if (form.rows > 0) {
        read_rows(op, form.rows, stages);
        if (form.lanes > 0)
            copy_across(op, vector, stages);
        else
            copy_filter(op, op.weight, stages);
        return;
    }
    Pixel pixel{x, y, n};
    if (form.lanes > 0)
        pixel =
            pixel_of_line(op, clamp((stages.set * 4 + stages.quarter) * form.lanes + stages.lane, 0,
                                    pixels_of_images(op) - 1));
    else if (!stages.in_rows || !op.pointwise)
        pixel = pixel_at(op);
    if (form.windows) {
        stages.padded = read_padded_windows(op, stages);
    } else if (form.lanes > 0) {
        stages.padded = padded_input(op, 1);
        copy_across(op, vector, stages);
    } else {
        if (stages.in_rows) read_channels_last(op, op.input, op.weight, stages);
        if (form.halo.pixels > 0) {
            read_halo(op, form.halo, vector, stages);
            return;
        }
        stages.padded = padded_input(op, vector);
    }
    read_taps(op, pixel, stages);
}

// Past the last channel both factors are zeros. What is read there is the last vector. Where they
// are next to each other there are so many `filters`, else it is undefined.
Func staged_filter(const Conv2dOperands &op, const Func &weight, const Expr &filters, int vector) {
    const Expr zero = cast(op.type, 0);
    Func filter("filter");
    filter(c, s, r, k, g) =
        filters.defined()
            ? select(c < op.channels && within(k / vector * vector, filters - vector + 1),
                     weight(min(c, op.channels - 1), s, r, in_last_vector(k, filters, vector), g),
                     zero)
            : select(
                  c / vector * vector < op.channels,
                  weight(in_last_vector(c, op.channels, vector), s, r, min(k, op.filters - 1), g),
                  zero);
    return filter;
}

}  // namespace

// A thread stores pairs then. Of f16 that spills with 128 registers, but for parts, which are f32.
bool ProductForm::stages_across(const Type &type) const {
    return filters_inner && (type == BFloat(16) || (type == Float(16) && parts.defined()));
}

Conv2dSliced conv2d_product_sums(Conv2dOperands &op, const ProductForm &form) {
    const auto [tile, vector] = ProductSlice(op.type);
    Conv2dSliced stages;
    stages.in_rows = !form.order.nhwc();
    stages.lanes = form.rows > 0 ? 0 : form.lanes;
    stages.row_vector = form.rows;
    stages.stored_pixels = form.stored_pixels;
    stages.halo = form.halo.pixels;
    read_input(op, form, vector, stages);
    Func weight = op.weight;
    const bool across = form.stages_across(op.type);
    if (form.filters_inner && !across) {
        stages.transposed = Func("transposed");
        stages.transposed(c, s, r, k, g) = weight(c, s, r, k, g);
        weight = stages.transposed;
    }
    const Expr filters = across ? op.filters : stages.vectors_of_filters;
    stages.filter = staged_filter(op, weight, filters, vector);
    stages.start = sum_start(op);
    const RDom &d = stages.r;
    sum_products(
        op, form, tile, 0.f,
        [&](const Expr &channel) {
            return cast<float>(stages.filter(channel, d.y, d.z, k, g)) *
                   cast<float>(tap_of_sum(op, form, stages, channel));
        },
        stages);
    return stages;
}

Conv2dSliced conv2d_products(const Conv2dOperands &operands, const ProductForm &form) {
    Conv2dOperands op = operands;
    Conv2dSliced stages = conv2d_product_sums(op, form);
    if (op.slope.defined()) stages.line = op.columns.value.defined();
    finish_sums(op, form, stages);
    stages.activated = Func("activated");
    stages.output = Func("result");
    if (form.apart)
        output_at_places(op, form, stages);
    else
        finish(op, form.parts.defined() ? stages.joined : stages.sum, stages.activated,
               stages.output);
    return stages;
}

}  // namespace hk::generators
