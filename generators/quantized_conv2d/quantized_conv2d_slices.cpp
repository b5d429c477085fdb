#include "generators/quantized_conv2d/quantized_conv2d_slices.h"

#include "generators/optional.h"
#include "generators/quantized_conv2d/ends.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

constexpr int kWords = kSliceBytes / kWord;

// In whole slices of channels, with the zero point around the image. Past the last channel it is
// zero that is stored.
Func pad(const QuantizedConv2dOperands &op) {
    const Range all = {Expr(), Expr()}, columns = {0, op.width}, rows = {0, op.height};
    const Expr has = c < op.channels;
    Func value("value");
    value(c, g, x, y, n) =
        select(has,
               loaded_if(likely(has),
                         op.input(unsafe_promise_clamped(c, 0, op.channels - 1), g, x, y, n)) ^
                   cast<uint8_t>(op.input_flip),
               cast<uint8_t>(0));
    const Expr outside = cast<uint8_t>(op.input_zero_point);
    Func inside;
    if (op.pointwise) {
        inside = BoundaryConditions::repeat_edge(value, Region{all, all, columns, rows, all});
    } else {
        inside = BoundaryConditions::constant_exterior(value, outside,
                                                       Region{all, all, columns, all, all});
        inside = BoundaryConditions::constant_exterior(inside, outside,
                                                       Region{all, all, all, rows, all});
    }
    Func padded("padded");
    padded(c, g, x, y, n) = inside(c, g, x, y, n);
    return padded;
}

// Their loops, and what the image's words are multiplied by.
struct Slices {
    const RDom r;
    const Expr word, byte;  // of the pixel; of the image's channels

    Slices(const QuantizedConv2dOperands &op, const Expr &count)
        : r({{0, kWord}, {0, kWords}, {0, op.kernel_w}, {0, op.kernel_h}, {0, count}}, "r"),
          word(r[4] * kWords + r[1]),
          byte(kWord * word + r[0]) {}

    Expr factor(const QuantizedConv2dOperands &op) const {
        return cast<int32_t>(op.packed(kWord * (k % kFilterBlock) + r[0], word, r[2], r[3],
                                       min(k / kFilterBlock, (op.filters - 1) / kFilterBlock), g));
    }
};

// In tiles of columns, of which a row's last begins before the end of the one before it.
Func products_of_line(const QuantizedConv2dOperands &op, const Slices &slices, int columns,
                      QuantizedConv2dSlices &stages) {
    const Var &tile = stages.tile;
    const auto before = [&](const Expr &of) {
        return max(likely(0), (of + 1) * columns - op.width);
    };
    stages.products(k, g, x, tile, y, n) = 0;
    stages.products(k, g, x, tile, y, n) +=
        cast<int32_t>(op.input(slices.byte, g, tile * columns - before(tile) + x, y, n)) *
        slices.factor(op);
    const Expr of = x / columns;
    Func rows("rows");
    rows(k, g, x, y, n) = stages.products(
        k, g, unsafe_promise_clamped(x % columns + before(of), 0, columns - 1), of, y, n);
    return rows;
}

Func products_of_image(const QuantizedConv2dOperands &op, const Slices &slices,
                       QuantizedConv2dSlices &stages) {
    stages.products(k, g, x, y, n) = 0;
    stages.products(k, g, x, y, n) +=
        cast<int32_t>(
            stages.padded(slices.byte, g, input_x(op, slices.r[2]), input_y(op, slices.r[3]), n)) *
        slices.factor(op);
    return stages.products;
}

}  // namespace

QuantizedConv2dSlices quantized_conv2d_slices(const QuantizedConv2dOperands &op, const Expr &out_h,
                                              int columns) {
    QuantizedConv2dSlices stages;
    stages.out_w = op.out_w, stages.out_h = out_h, stages.filters = op.filters;
    begin(op, stages);
    stages.padded = pad(op);
    const Expr count = ceil_div(op.channels, kSliceBytes);
    const Slices slices(op, count);
    const RDom &d = slices.r;
    stages.byte = d[0], stages.word = d[1], stages.s = d[2], stages.r = d[3], stages.slices = d[4];
    stages.filter_bytes = count * (kSliceBytes * kFilterBlock) * op.kernel_w * op.kernel_h;
    stages.products = Func("products");
    const Func products = columns ? products_of_line(op, slices, columns, stages)
                                  : products_of_image(op, slices, stages);
    stages.sum(k, g, x, y, n) = stages.start(k, g) + products(k, g, x, y, n);
    finish(op, stages);
    return stages;
}

}  // namespace hk::generators
