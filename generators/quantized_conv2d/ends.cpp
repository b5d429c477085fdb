#include "generators/quantized_conv2d/ends.h"

#include "generators/activation.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Range everything = {Expr(), Expr()};

// The rows of a sum of bytes that is multiplied by `zero_point`.
Expr summed_rows(const QuantizedConv2dOperands &op, const Expr &zero_point,
                 ZeroPoints zero_points) {
    return zero_points == ZeroPoints::in_sums ? op.kernel_h
                                              : select(zero_point == 0, 0, op.kernel_h);
}

Expr corrected(const Expr &zero_point, const Expr &moved, ZeroPoints zero_points) {
    return zero_points == ZeroPoints::in_sums ? select(zero_point == 0, 0, moved) : moved;
}

// Between 2^23 and 2^24 floats are the integers: the sum with 3 * 2^22 is rounded half to even, and
// its bits less those of 3 * 2^22 are the integer. (round() is five instructions a vector on
// AVX-512, not one.)
constexpr float kIntegers = 12582912.f;

Expr rounded_bits(const Expr &v) { return reinterpret<int32_t>(strict_float(v + kIntegers)); }

// The integer of such bits, which are at least those of -zero_point, with the zero point.
Expr stored_integer(const QuantizedConv2dOperands &op, const Expr &bits) {
    return cast<uint32_t>(bits - (reinterpret<int32_t>(Expr(kIntegers)) - op.output_zero_point));
}

// A number within the activation's bounds as a stored byte. As integers such floats are in order,
// and those out of range are below or above: the bounds may come after, as integers, which more of
// a core's units compare than floats; and narrowing saturates where the upper one is the type's.
// Strict down to the product: every schedule and device makes the same bytes.
Expr requantized(const QuantizedConv2dOperands &op, const Expr &value) {
    const Expr integer = stored_integer(op, max(rounded_bits(value), rounded_bits(op.low)));
    const Expr most = select(quantized_conv2d_bounded_by_type(op), cast<uint32_t>(255),
                             stored_integer(op, rounded_bits(op.high)));
    return cast<uint8_t>(min(integer, most)) ^ cast<uint8_t>(op.output_flip);
}

// The same as the integer's lowest byte, to which 3 * 2^22 adds nothing, for kernels whose threads
// store four of them as a word: there it is not narrowing that saturates. Flips are 128 or 0.
Expr requantized_in_word(const QuantizedConv2dOperands &op, const Expr &value) {
    const Expr bits = min(max(rounded_bits(value), rounded_bits(op.low)), rounded_bits(op.high));
    return cast<uint8_t>(bits + (op.output_zero_point + op.output_flip));
}

}  // namespace

Expr quantized_conv2d_bounded_by_type(const QuantizedConv2dOperands &op) {
    return op.high + cast<float>(op.output_zero_point) == 255.f;
}

Expr input_x(const QuantizedConv2dOperands &op, const Expr &s, const Expr &x) {
    return x * op.stride_x + s * op.dilation_x - op.padding_left;
}

Expr input_y(const QuantizedConv2dOperands &op, const Expr &r, const Expr &y) {
    return y * op.stride_y + r * op.dilation_y - op.padding_top;
}

Expr number(const QuantizedConv2dOperands &op, const Expr &stored) {
    const Expr positive = cast<int32_t>(stored);
    if (!op.input_signed.defined()) return positive;
    return select(op.input_signed, cast<int32_t>(reinterpret<int8_t>(stored)), positive);
}

Expr stored_zero(const QuantizedConv2dOperands &op) { return cast<uint8_t>(op.input_zero_point); }

Func padded_bytes(const QuantizedConv2dOperands &op,
                  const std::function<Expr(const Expr &x, const Expr &y)> &byte) {
    const Expr inside = byte(clamp(x, 0, op.width - 1), clamp(y, 0, op.height - 1));
    Func padded("padded");
    padded(c, g, x, y, n) =
        op.pointwise ? inside
                     : select(within(x, op.width) && within(y, op.height), inside, stored_zero(op));
    return padded;
}

void begin(const QuantizedConv2dOperands &op, QuantizedConv2dEnds &stages, ZeroPoints zero_points) {
    const Region filters = {{0, op.filters}, everything};
    const Expr rows = summed_rows(op, op.input_zero_point, zero_points);
    stages.filter_sum = Func("filter_sum");
    stages.filter_sum(k, g) = 0;
    RDom &d = stages.filter_r;
    if (op.packed.defined()) {
        d = RDom(0, kWord, 0, (op.channels + 3) / kWord, 0, op.kernel_w, 0, rows, "filter_r");
        const Expr block = min(k / kFilterBlock, (op.filters - 1) / kFilterBlock);
        stages.filter_sum(k, g) +=
            cast<int32_t>(op.packed(kWord * (k % kFilterBlock) + d[0], d[1], d[2], d[3], block, g));
    } else {
        d = RDom(0, op.channels, 0, op.kernel_w, 0, rows, "filter_r");
        // Past the last filter it is that one's again, of which nothing is stored.
        const Func weight = BoundaryConditions::repeat_edge(
            op.weight, Region{everything, everything, everything, {0, op.filters}, everything});
        stages.filter_sum(k, g) += cast<int32_t>(weight(d.x, d.y, d.z, k, g));
    }

    stages.start = Func("start");
    if (op.integer()) {
        const Expr zx = op.input_zero_point;
        // Of devices a tile's filters past the last one start from the last one's sum: it is made
        // of the filters that there are.
        const Expr filter =
            zero_points == ZeroPoints::in_sums_without_terms ? min(k, op.filters - 1) : Expr(k);
        const Expr moved = zx * (op.terms * op.weight_zero_point - stages.filter_sum(filter, g));
        Func bias = BoundaryConditions::constant_exterior(op.sum_bias, 0, filters);
        const bool in_factors = zero_points == ZeroPoints::in_factors;
        stages.start(k, g) =
            bias(k, g) + (in_factors ? Expr(0) : corrected(zx, moved, zero_points));
    } else {
        stages.start(k, g) = 0.f;
    }
    Func scale = BoundaryConditions::constant_exterior(op.scale, 0.f, filters);
    Func bias = BoundaryConditions::constant_exterior(op.real_bias, 0.f, filters);
    stages.multiplier = Func("multiplier");
    stages.multiplier(k, g) =
        (op.integer() ? op.input_scale * scale(k, g) : scale(k, g)) / op.output_scale;
    stages.offset = Func("offset");
    stages.offset(k, g) = bias(k, g) / op.output_scale;
    stages.sum = Func("sum");
}

void finish(const QuantizedConv2dOperands &op, QuantizedConv2dEnds &stages, ZeroPoints zero_points,
            const Pixel &pixel, bool on_device) {
    Expr sum = stages.sum(k, g, x, y, n);
    const Expr rows = summed_rows(op, op.weight_zero_point, zero_points);
    stages.window_r = RDom(0, op.channels, 0, op.kernel_w, 0, rows, "window_r");
    const RDom &d = stages.window_r;
    stages.window_sum = Func("window_sum");
    stages.window_sum(g, x, y, n) = 0;
    if (op.integer() && zero_points != ZeroPoints::in_factors) {
        const Expr term = number(op, stages.padded(d.x, g, input_x(op, d.y, pixel.x),
                                                   input_y(op, d.z, pixel.y), pixel.n));
        stages.window_sum(g, x, y, n) += op.has_tap ? select(op.has_tap(d.x, d.z), term, 0) : term;
        const Expr moved = op.weight_zero_point * stages.window_sum(g, x, y, n);
        sum -= corrected(op.weight_zero_point, moved, zero_points);
    }
    const Expr value = cast<float>(sum) * stages.multiplier(k, g) + stages.offset(k, g);
    stages.activated = Func("activated");
    stages.output = Func("result");
    const Expr result = linear_activation(value, op.slope, op.low, op.high, on_device);
    if (op.output_type == UInt(8)) {
        const Expr sloped = leaky(value, op.slope, on_device);
        stages.activated(k, g, x, y, n) =
            on_device ? requantized_in_word(op, sloped) : requantized(op, sloped);
    } else if (op.integer()) {
        stages.activated(k, g, x, y, n) =
            select(op.integer_output, reinterpret<float>(sum), result);
    } else {
        stages.activated(k, g, x, y, n) = result;
    }
    stages.output(k, g, x, y, n) = stages.activated(k, g, x, y, n);
}

}  // namespace hk::generators
