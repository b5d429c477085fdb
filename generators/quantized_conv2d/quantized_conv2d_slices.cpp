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

}  // namespace

QuantizedConv2dSlices quantized_conv2d_slices(const QuantizedConv2dOperands &op,
                                              const Expr &out_h) {
    QuantizedConv2dSlices stages;
    stages.out_w = op.out_w, stages.out_h = out_h, stages.filters = op.filters;
    begin(op, stages);
    stages.padded = pad(op);
    const Expr slices = ceil_div(op.channels, kSliceBytes);
    const RDom d({{0, kWord}, {0, kWords}, {0, op.kernel_w}, {0, op.kernel_h}, {0, slices}}, "r");
    stages.byte = d[0], stages.word = d[1], stages.s = d[2], stages.r = d[3], stages.slices = d[4];
    stages.filter_bytes = slices * (kSliceBytes * kFilterBlock) * op.kernel_w * op.kernel_h;
    const Expr word = d[4] * kWords + d[1];
    const Expr factor = op.packed(kWord * (k % kFilterBlock) + d[0], word, d[2], d[3],
                                  min(k / kFilterBlock, (op.filters - 1) / kFilterBlock), g);
    stages.products = Func("products");
    stages.products(k, g, x, y, n) = 0;
    stages.products(k, g, x, y, n) +=
        cast<int32_t>(
            stages.padded(kWord * word + d[0], g, input_x(op, d[2]), input_y(op, d[3]), n)) *
        cast<int32_t>(factor);
    stages.sum(k, g, x, y, n) = stages.start(k, g) + stages.products(k, g, x, y, n);
    finish(op, stages);
    return stages;
}

}  // namespace hk::generators
