#include "generators/quantized_conv2d/folded_windows.h"

#include "generators/conv2d/channels_last.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

constexpr int kHalf = 8;  // bytes, of a vector

// The image before it is copied, and what a pixel of the copy has.
struct Folds {
    QuantizedConv2dOperands image;
    Expr folds, of_pixel, rows;
    Expr step;  // rows of the image from a line of the copy to the next

    explicit Folds(const QuantizedConv2dOperands &op)
        : image(op),
          folds(op.channels <= kWord),
          of_pixel(select(op.channels <= kHalf && op.stride_x % 2 == 0, kHalf,
                          in_vectors(op.channels, ProductSlice(UInt(8)).vector))),
          rows(select(folds, of_pixel / kWord, 1)),
          step(select(folds && op.stride_y % 2 == 0 && op.dilation_y == 1, 2, 1)) {}
};

// The byte c of a line of the copy, or of a filter's row.
struct Place {
    Expr pixel, row, channel;

    Place(const Folds &of, const Expr &c) {
        pixel = whole_quotient(c / kHalf, of.of_pixel / kHalf);
        const Expr word = c / kWord - pixel * (of.of_pixel / kWord);
        row = select(of.folds, word, 0);
        channel = select(of.folds, 0, kWord * word) + c % kWord;
    }

    // Of the line's row r.
    Expr has_term(const Folds &of, const Expr &r) const {
        return channel < of.image.channels && of.rows * r + row < of.image.kernel_h;
    }
};

Func copied_lines(const Folds &of, const Expr &outside) {
    const QuantizedConv2dOperands &op = of.image;
    const Place at(of, c);
    const Expr at_x = at.pixel - op.padding_left;
    const Expr at_y = y * of.step + at.row * op.dilation_y - op.padding_top;
    const Expr value = op.input(clamp(at.channel, 0, op.channels - 1), g,
                                clamp(at_x, 0, op.width - 1), clamp(at_y, 0, op.height - 1), n);
    Func to("windows");
    to(c, g, y, n) = select(at.channel >= op.channels, cast<uint8_t>(0),
                            within(at_x, op.width) && within(at_y, op.height), value, outside);
    return to;
}

Func copied_filter(const Folds &of) {
    const QuantizedConv2dOperands &op = of.image;
    const Place at(of, c);
    const Expr value =
        op.weight(clamp(at.channel, 0, op.channels - 1), clamp(at.pixel, 0, op.kernel_w - 1),
                  clamp(of.rows * r + at.row, 0, op.kernel_h - 1), k, g);
    Func to("transposed");
    to(c, s, r, k, g) =
        select(at.has_term(of, r) && at.pixel < op.kernel_w, value, cast<int8_t>(0));
    return to;
}

}  // namespace

Expr read_folded_windows(QuantizedConv2dOperands &op, const Expr &outside, Conv2dSliced &stages) {
    const Folds of(op);
    const ProductSlice slice(UInt(8));
    op.kernel_h = (op.kernel_h + of.rows - 1) / of.rows;
    op.stride_y = op.stride_y / of.step;
    op.dilation_y = of.rows * op.dilation_y / of.step;

    CopiedWindows &copy = stages.windows;
    copy.channels = of.of_pixel;
    copy.taps = op.kernel_w * of.of_pixel;
    copy.groups = op.groups;
    copy.images = op.batch;
    const Expr step = op.stride_x * of.of_pixel / slice.vector * slice.vector;
    // The last window's slices are inside.
    copy.elements = (op.columns.value - 1) * step + in_vectors(copy.taps, slice.channels);
    copy.lines = (op.rows.value - 1) * op.stride_y + (op.kernel_h - 1) * op.dilation_y + 1;
    copy.to = copied_lines(of, outside);
    op.input = Func("window_rows");
    op.input(c, g, x, y, n) = copy.to(c + unsafe_promise_clamped(x, 0, op.columns.value - 1) * step,
                                      g, unsafe_promise_clamped(y, 0, copy.lines - 1), n);

    op.channels = in_vectors(copy.taps, slice.vector);
    op.kernel_w = op.stride_x = op.dilation_x = 1;
    op.padding_left = op.padding_top = 0;
    stages.transposed = copied_filter(of);
    stages.filters = op.filters;
    stages.groups = op.groups;
    stages.vectors_of_channels = op.channels;
    op.weight = stages.transposed;
    op.has_tap = [of](const Expr &c, const Expr &r) { return Place(of, c).has_term(of, r); };
    return copy.taps;
}

}  // namespace hk::generators
