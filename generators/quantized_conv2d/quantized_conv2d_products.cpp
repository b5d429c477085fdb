#include "generators/conv2d/channels_last.h"
#include "generators/conv2d/product_sum.h"
#include "generators/quantized_conv2d/ends.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr stored_zero(const QuantizedConv2dOperands &op) { return cast<uint8_t>(op.input_zero_point); }

// Past the last channel the filter is zero: of the input the last vector is read again. Outside the
// image it is the zero point, which 1x1 filters, that have no outside, need not fill in.
Func padded_bytes(const QuantizedConv2dOperands &op, int vector) {
    const Expr stored = op.input(in_last_vector(c, op.channels, vector), g,
                                 clamp(x, 0, op.width - 1), clamp(y, 0, op.height - 1), n);
    Func padded("padded");
    padded(c, g, x, y, n) =
        op.pointwise ? stored
                     : select(within(x, op.width) && within(y, op.height), stored, stored_zero(op));
    return padded;
}

}  // namespace

QuantizedConv2dProducts quantized_conv2d_products(const QuantizedConv2dOperands &operands,
                                                  const ProductForm &form) {
    QuantizedConv2dOperands op = operands;
    op.input_signed = op.input_flip > 0;
    op.input_zero_point = op.input_zero_point - op.input_flip;
    const auto [tile, vector] = ProductSlice(Int(8));
    QuantizedConv2dProducts stages;
    Conv2dSliced &products = stages.products;
    Expr taps = op.channels;
    if (form.windows) {
        taps = read_windows(op, op.input, op.weight, stored_zero(op), products);
        stages.padded = op.input;
    } else {
        stages.padded = padded_bytes(op, vector);
    }
    begin(op, stages, ZeroPoints::in_sums_without_terms);
    products.start = stages.start;
    products.filter = Func("filter");
    products.filter(c, s, r, k, g) =
        select(c / vector * vector < op.channels,
               op.weight(in_last_vector(c, op.channels, vector), s, r, min(k, op.filters - 1), g),
               cast<int8_t>(0));
    products.tap = Func("tap");
    const Pixel pixel = pixel_at(op);
    products.tap(c, s, r, g, x, y, n) =
        stages.padded(c, g, input_x(op, s, pixel.x), input_y(op, r, pixel.y), pixel.n);
    const RDom &d = products.r;
    sum_products(
        op, form, tile, 0,
        [&](const Expr &channel) {
            return cast<int32_t>(products.filter(channel, d.y, d.z, k, g)) *
                   number(op, products.tap(channel, d.y, d.z, g, x, y, n));
        },
        products);
    stages.sum = form.parts.defined() ? products.joined : products.sum;
    op.channels = taps;  // of the window's sum, which has no zeros past the last one
    finish(op, stages, ZeroPoints::in_sums, pixel, true);
    return stages;
}

}  // namespace hk::generators
