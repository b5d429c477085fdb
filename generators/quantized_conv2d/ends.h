#pragma once
// What all algorithms of a quantised convolution begin and end with.

#include <functional>

#include "generators/conv2d/line_pixel.h"
#include "generators/quantized_conv2d/quantized_conv2d.h"

namespace hk::generators {

// How zero points enter a sum of integers: in its factors; or through the sums of the filter and
// the window, which then are left out where the zero point is zero, or are sums of no terms.
enum class ZeroPoints { in_factors, in_sums, in_sums_without_terms };

// The column and the row of the input that a tap of the output's pixel reads.
Halide::Expr input_x(const QuantizedConv2dOperands &op, const Halide::Expr &s,
                     const Halide::Expr &x = hk::generators::x);
Halide::Expr input_y(const QuantizedConv2dOperands &op, const Halide::Expr &r,
                     const Halide::Expr &y = hk::generators::y);

// A byte of the input as a number.
Halide::Expr number(const QuantizedConv2dOperands &op, const Halide::Expr &stored);

// What is stored outside of the input of bytes.
Halide::Expr stored_zero(const QuantizedConv2dOperands &op);

// Bytes of the input, byte(x, y) of a place inside, with stored_zero() around them, which 1x1
// filters, that have no outside, need not fill in.
Halide::Func padded_bytes(
    const QuantizedConv2dOperands &op,
    const std::function<Halide::Expr(const Halide::Expr &x, const Halide::Expr &y)> &byte);

// What sums start from, and what a sum is multiplied by and moved by: of each filter, zero past the
// last one.
void begin(const QuantizedConv2dOperands &op, QuantizedConv2dEnds &stages,
           ZeroPoints zero_points = ZeroPoints::in_sums);

// What follows the sum. `pixel`: the output's place; `on_device`: in the fewest instructions of a
// thread that has many sums; as of linear_activation(), a slope is a branch.
void finish(const QuantizedConv2dOperands &op, QuantizedConv2dEnds &stages,
            ZeroPoints zero_points = ZeroPoints::in_sums, const Pixel &pixel = {x, y, n},
            bool on_device = false);

}  // namespace hk::generators
