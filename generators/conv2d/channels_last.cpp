#include "generators/conv2d/channels_last.h"

#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Of what is not below zero, without the steps that Halide takes for what may be.
Expr whole(const Expr &value, const Expr &by) {
    return cast<int32_t>(cast<uint32_t>(value) / cast<uint32_t>(by));
}

}  // namespace

void copy_channels_last(const Func &image, const ImageSize &size, Func &tile, Func &to) {
    // A tile may reach past the last pixel.
    const Expr pixel = min(x, size.width * size.height * size.batch - 1);
    const Expr row = whole(pixel, size.width), of = whole(row, size.height);
    const Expr column = unsafe_promise_clamped(pixel - row * size.width, 0, size.width - 1);
    const Expr line = unsafe_promise_clamped(row - of * size.height, 0, size.height - 1);
    const Expr channel = min(c, size.channels - 1);
    const Expr value =
        image(channel, g, column, line, unsafe_promise_clamped(of, 0, size.batch - 1));
    tile = Func("turned");
    tile(c, x, g) = select(c < size.channels, value, cast(value.type(), 0));
    to = Func("channels_last");
    to(c, x, g) = tile(c, x, g);
}

WindowRows copy_windows(const Conv2dOperands &op) {
    const ProductSlice slice(op.type);
    const int vector = slice.vector, half = vector / 2;
    WindowRows rows;
    rows.channels = select(op.channels <= half && op.stride_x % 2 == 0, half,
                           in_vectors(op.channels, vector));
    rows.taps = op.kernel_w * rows.channels;
    rows.step = op.stride_x * rows.channels / vector * vector;
    // The last window's slices are inside.
    rows.elements =
        (op.columns.value - 1) * rows.step + in_vectors(rows.taps, slice.channels);
    rows.lines = (op.rows.value - 1) * op.stride_y + (op.kernel_h - 1) * op.dilation_y + 1;
    const Expr pixel = whole(c / half, rows.channels / half), channel = c - pixel * rows.channels;
    const Expr at_x = pixel - op.padding_left, at_y = y - op.padding_top;
    const Expr there = channel < op.channels && within(at_x, op.width) && within(at_y, op.height);
    rows.to = Func("windows");
    rows.to(c, g, y, n) =
        select(there,
               op.input(clamp(channel, 0, op.channels - 1), g, clamp(at_x, 0, op.width - 1),
                        clamp(at_y, 0, op.height - 1), n),
               cast(op.type, 0));
    return rows;
}

Func filter_of_windows(const Func &filter, const Conv2dOperands &op, const WindowRows &rows) {
    const Expr tap = whole(c, rows.channels), channel = c - tap * rows.channels;
    Func to("transposed");
    to(c, s, r, k, g) = select(channel < op.channels && tap < op.kernel_w,
                               filter(clamp(channel, 0, op.channels - 1),
                                      clamp(tap, 0, op.kernel_w - 1), r, k, g),
                               cast(op.type, 0));
    return to;
}

Func filter_of_vectors(const Func &filter, const Expr &channels) {
    Func to("transposed");
    const Expr value = filter(min(c, channels - 1), s, r, k, g);
    to(c, s, r, k, g) = select(c < channels, value, cast(value.type(), 0));
    return to;
}

}  // namespace hk::generators
