#include "generators/conv2d/channels_last.h"

#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Of what is not below zero, without the steps that Halide takes for what may be.
Expr whole(const Expr &value, const Expr &by) {
    return cast<int32_t>(cast<uint32_t>(value) / cast<uint32_t>(by));
}

// Elements of the copy of windows.
struct WindowRows {
    Expr channels;         // of a pixel
    Expr taps, step;       // of a window's row; from one to the next
    Expr elements, lines;  // of a copied row; rows of an image

    WindowRows(const Conv2dGeometry &op, const ProductSlice &slice) {
        const int vector = slice.vector, half = vector / 2;
        channels = select(op.channels <= half && op.stride_x % 2 == 0, half,
                          in_vectors(op.channels, vector));
        taps = op.kernel_w * channels;
        step = op.stride_x * channels / vector * vector;
        // The last window's slices are inside.
        elements = (op.columns.value - 1) * step + in_vectors(taps, slice.channels);
        lines = (op.rows.value - 1) * op.stride_y + (op.kernel_h - 1) * op.dilation_y + 1;
    }
};

// (pixel * channels + channel, g, row, n)
Func copy_of_windows(const Func &input, const Conv2dGeometry &op, const WindowRows &rows,
                     const Expr &outside) {
    const int half = ProductSlice(input.type()).vector / 2;
    const Expr pixel = whole(c / half, rows.channels / half), channel = c - pixel * rows.channels;
    const Expr at_x = pixel - op.padding_left, at_y = y - op.padding_top;
    const Expr value = input(clamp(channel, 0, op.channels - 1), g, clamp(at_x, 0, op.width - 1),
                             clamp(at_y, 0, op.height - 1), n);
    const Expr inside = within(at_x, op.width) && within(at_y, op.height);
    Func to("windows");
    to(c, g, y, n) =
        select(channel < op.channels, select(inside, value, outside), cast(input.type(), 0));
    return to;
}

// (tap * channels + channel, 0, r, k, g)
Func filter_of_windows(const Func &filter, const Conv2dGeometry &op, const WindowRows &rows) {
    const Expr tap = whole(c, rows.channels), channel = c - tap * rows.channels;
    Func to("transposed");
    to(c, s, r, k, g) =
        select(channel < op.channels && tap < op.kernel_w,
               filter(clamp(channel, 0, op.channels - 1), clamp(tap, 0, op.kernel_w - 1), r, k, g),
               cast(filter.type(), 0));
    return to;
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

Expr read_windows(Conv2dGeometry &op, Func &input, Func &weight, const Expr &outside,
                  Conv2dSliced &stages) {
    const ProductSlice slice(input.type());
    const WindowRows rows(op, slice);
    stages.windows = copy_of_windows(input, op, rows, outside);
    stages.window_elements = rows.elements;
    stages.window_lines = rows.lines;
    stages.images = op.batch;
    stages.transposed = filter_of_windows(weight, op, rows);
    stages.filters = op.filters;
    stages.groups = op.groups;
    input = Func("window_rows");
    input(c, g, x, y, n) =
        stages.windows(c + unsafe_promise_clamped(x, 0, op.columns.value - 1) * rows.step, g,
                       unsafe_promise_clamped(y, 0, rows.lines - 1), n);
    weight = stages.transposed;
    op.channels = stages.vectors_of_channels = in_vectors(rows.taps, slice.vector);
    op.kernel_w = op.stride_x = op.dilation_x = 1;
    op.padding_left = op.padding_top = 0;
    return rows.taps;
}

Func filter_of_vectors(const Func &filter, const Expr &channels) {
    Func to("transposed");
    const Expr value = filter(min(c, channels - 1), s, r, k, g);
    to(c, s, r, k, g) = select(c < channels, value, cast(value.type(), 0));
    return to;
}

}  // namespace hk::generators
