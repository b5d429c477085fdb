#include "generators/conv2d/channels_last.h"

#include "generators/conv2d/line_pixel.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

// (tap * channels + channel, 0, r, k, g)
Func filter_of_windows(const Func &filter, const Conv2dGeometry &op, const Expr &of_pixel) {
    const Expr tap = whole_quotient(c, of_pixel), channel = c - tap * of_pixel;
    Func to("transposed");
    to(c, s, r, k, g) =
        select(channel < op.channels && tap < op.kernel_w,
               filter(clamp(channel, 0, op.channels - 1), clamp(tap, 0, op.kernel_w - 1), r, k, g),
               cast(filter.type(), 0));
    return to;
}

}  // namespace

void copy_channels_last(const Func &image, const ImageSize &size, bool filled, Func &tile,
                        Func &to) {
    // A tile may reach past the last pixel.
    const Expr pixel = min(x, size.width * size.height * size.batch - 1);
    const Expr row = whole_quotient(pixel, size.width), of = whole_quotient(row, size.height);
    const Expr column = unsafe_promise_clamped(pixel - row * size.width, 0, size.width - 1);
    const Expr line = unsafe_promise_clamped(row - of * size.height, 0, size.height - 1);
    const Expr channel = min(c, size.channels - 1);
    const Expr value = image(channel, g, column * size.step_x, line * size.step_y,
                             unsafe_promise_clamped(of, 0, size.batch - 1));
    tile = Func("turned");
    tile(c, x, g) = filled ? select(c < size.channels, value, cast(value.type(), 0)) : value;
    to = Func("channels_last");
    to(c, x, g) = tile(c, x, g);
}

CopiedWindows copy_windows(Conv2dGeometry &op, Func &input, const Expr &outside, bool filled) {
    const ProductSlice slice(input.type());
    const int vector = slice.vector, half = vector / 2;
    CopiedWindows copy;
    copy.channels =
        select(op.channels <= half && op.stride_x % 2 == 0, half, in_vectors(op.channels, vector));
    copy.taps = op.kernel_w * copy.channels;
    copy.groups = op.groups;
    copy.images = op.batch;
    const Expr step = op.stride_x * copy.channels / vector * vector;
    // The last window's slices are inside.
    copy.elements = (op.columns.value - 1) * step + in_vectors(copy.taps, slice.channels);
    copy.lines = (op.rows.value - 1) * op.stride_y + (op.kernel_h - 1) * op.dilation_y + 1;
    const Expr pixel = whole_quotient(c / half, copy.channels / half);
    const Expr channel = c - pixel * copy.channels;
    const Expr at_x = pixel - op.padding_left, at_y = y - op.padding_top;
    const Expr value = input(clamp(channel, 0, op.channels - 1), g, clamp(at_x, 0, op.width - 1),
                             clamp(at_y, 0, op.height - 1), n);
    const Expr inside = within(at_x, op.width) && within(at_y, op.height);
    copy.to = Func("windows");
    const Expr padded = select(inside, value, outside);
    copy.to(c, g, y, n) =
        filled ? select(channel < op.channels, padded, cast(input.type(), 0)) : padded;
    input = Func("window_rows");
    input(c, g, x, y, n) = copy.to(c + unsafe_promise_clamped(x, 0, op.columns.value - 1) * step, g,
                                   unsafe_promise_clamped(y, 0, copy.lines - 1), n);
    op.channels = in_vectors(copy.taps, vector);
    op.kernel_w = op.stride_x = op.dilation_x = 1;
    op.padding_left = op.padding_top = 0;
    return copy;
}

Expr read_windows(Conv2dGeometry &op, Func &input, Func &weight, const Expr &outside,
                  Conv2dSliced &stages) {
    const Conv2dGeometry geometry = op;
    stages.windows = copy_windows(op, input, outside, true);
    stages.transposed = filter_of_windows(weight, geometry, stages.windows.channels);
    stages.filters = op.filters;
    stages.groups = op.groups;
    stages.vectors_of_channels = op.channels;
    weight = stages.transposed;
    return stages.windows.taps;
}

void read_channels_last(Conv2dGeometry &op, Func &input, Func &weight, Conv2dSliced &stages) {
    copy_channels_last(input, take_met_pixels(op, op.columns.value, op.rows.value), true,
                       stages.turned, stages.channels_last);
    const Expr width = op.pointwise ? pixels_of_images(op) : op.width;
    const Expr height = op.pointwise ? Expr(1) : op.height;
    stages.input_pixels = op.width * op.height * op.batch;
    op.width = width;
    op.height = height;
    const Func &lines = stages.channels_last;
    input = Func("input_in_lines");
    input(c, g, x, y, n) = lines(c, x + width * (y + height * n), g);
    copy_filter(op, weight, stages);
}

void copy_filter(Conv2dGeometry &op, Func &weight, Conv2dSliced &stages) {
    stages.transposed = filter_of_vectors(weight, op.channels);
    weight = stages.transposed;
    op.channels = in_vectors(op.channels, ProductSlice(stages.transposed.type()).vector);
    stages.vectors_of_channels = op.channels;
    stages.filters = op.filters;
    stages.groups = op.groups;
}

Func filter_of_vectors(const Func &filter, const Expr &channels) {
    Func to("transposed");
    const Expr value = filter(min(c, channels - 1), s, r, k, g);
    to(c, s, r, k, g) = select(c < channels, value, cast(value.type(), 0));
    return to;
}

}  // namespace hk::generators
