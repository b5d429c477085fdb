#include "generators/quantized_conv2d/quantized_conv2d.h"

#include "generators/quantized_conv2d/ends.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Range everything = {Expr(), Expr()};

// An element of the input as pad() has it; of halves, whose factors have 16 bits, a word of those.
Expr flipped(const QuantizedConv2dOperands &op, const Expr &stored, bool halves = false) {
    if (!op.integer()) return stored;
    const Expr byte = stored ^ cast<uint8_t>(op.input_flip);
    return halves ? cast<int16_t>(byte) : byte;
}

// What is stored outside of the input.
Expr outside(const QuantizedConv2dOperands &op, const Type &type) {
    return cast(type, op.integer() ? op.input_zero_point : Expr(0));
}

// Numbers are zero outside the input, which is where its zero point is stored. Channels past the
// end meet zeros of the weight: there it is zero that is stored, so that no zero point, nor a
// number that is not finite, takes part. Columns and rows are two conditions:
// generators/conv2d/conv2d.cpp.
Func pad(const QuantizedConv2dOperands &op, bool fill_channels, bool halves = false) {
    Func value("value");
    value(c, g, x, y, n) = flipped(op, op.input(c, g, x, y, n), halves);
    const Expr zero = outside(op, value.type());
    const Range columns = {0, op.width}, rows = {0, op.height};
    Func inside;
    if (op.pointwise) {
        inside = BoundaryConditions::repeat_edge(
            value, Region{everything, everything, columns, rows, everything});
    } else {
        inside = BoundaryConditions::constant_exterior(
            value, zero, Region{everything, everything, columns, everything, everything});
        inside = BoundaryConditions::constant_exterior(
            inside, zero, Region{everything, everything, everything, rows, everything});
    }
    if (fill_channels)
        inside = BoundaryConditions::constant_exterior(
            inside, cast(value.type(), 0),
            Region{{0, op.channels}, everything, everything, everything, everything});
    Func padded("padded");
    padded(c, g, x, y, n) = inside(c, g, x, y, n);
    return padded;
}

// The rows that padded reads.
void join_rows(const QuantizedConv2dOperands &op, QuantizedConv2d &stages, bool halves) {
    stages.elements = RDom(0, op.width * op.channels, "elements");
    stages.elements.where(y >= 0 && y < op.height);
    const RVar i = stages.elements.x;
    stages.joined = Func("joined");
    const Expr read = flipped(
        op, op.input(i % op.channels, g, i / op.channels, clamp(y, 0, op.height - 1), n), halves);
    stages.joined(element, g, y, n) = outside(op, read.type());
    stages.joined(i, g, y, n) = read;
    stages.padded = Func("padded");
    stages.padded(c, g, x, y, n) = stages.joined(x * op.channels + c, g, y, n);
}

// One product of the sum.
Expr product(const QuantizedConv2dOperands &op, const Expr &input, const Expr &weight) {
    if (op.integer()) return cast<int32_t>(input) * cast<int32_t>(weight);
    return cast<float>(cast<int32_t>(weight) - op.weight_zero_point) * input;
}

using Place = std::array<Expr, 3>;  // of a word: w, s, r

// Sums of f32 in blocks of words: product(i, place) of each of a word's four.
template<typename Product>
BlockedSum sum_in_blocks(const QuantizedConv2dOperands &op, QuantizedConv2dEnds &stages,
                         const Product &product) {
    const BlockedSum blocked = blocked_sum(
        {k, g, x, y, n}, stages.start(k, g), {(op.channels + 3) / 4, op.kernel_w, op.kernel_h},
        [&](const Place &at) {
            return product(0, at) + product(1, at) + product(2, at) + product(3, at);
        },
        [](const Place &) { return cast<bool>(true); });
    stages.sum(k, g, x, y, n) = blocked.running(k, g, x, y, n)[0];
    return blocked;
}

// Four bytes of a packed filter, or where it is not packed yet a byte or a number of it.
struct PackedFactor {
    const QuantizedConv2dOperands &op;
    const QuantizedConv2d &stages;
    int block;  // as PackedWords has it

    Expr byte(const Expr &i, const Place &at) const {
        // A schedule's last block may reach past the filter's.
        Expr ko = k / kFilterBlock, in_block = k % kFilterBlock;
        if (kFilterBlock % block != 0) ko = min(ko, (op.filters - 1) / kFilterBlock);
        if (block < kFilterBlock) in_block = k / block % (kFilterBlock / block) * block + k % block;
        return op.packed(kWord * in_block + i, at[0], at[1], at[2], ko, g);
    }
    // The product with a number of the input.
    Expr product(const Expr &input, const Expr &i, const Place &at) const {
        if (!op.packed.defined()) {
            const Expr factor = stages.packed(i, k, g, at[0], at[1], at[2]);
            return op.integer() ? generators::product(op, input, factor) : input * factor;
        }
        if (op.integer()) return generators::product(op, input, byte(i, at));
        std::vector<Expr> bytes;
        for (int b = 0; b < kWord; b++) bytes.push_back(reinterpret<uint8_t>(byte(b, at)));
        const Expr word = concat_bits(bytes),
                   weight = reinterpret<int32_t>(word << cast<uint32_t>(24 - 8 * i)) >> 24;
        return generators::product(op, input, weight);
    }
};

// Sums over r, r[0] a byte of a word: product(byte) is one of them.
template<typename Product>
void sum_words(QuantizedConv2d &stages, const RDom &r, bool halves, const Product &product) {
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    if (!halves) {
        stages.sum(k, g, x, y, n) += product(r[0]);
        return;
    }
    const Var &half = stages.half;
    stages.halves = Func("halves");
    stages.halves(half, k, g, x, y, n) = 0;
    stages.halves(half, k, g, x, y, n) += product(2 * half + r[0]);
    stages.half_r = RDom(0, 2, "half_r");
    stages.sum(k, g, x, y, n) += stages.halves(stages.half_r.x, k, g, x, y, n);
}

}  // namespace

QuantizedConv2d quantized_conv2d_packed(const QuantizedConv2dOperands &op,
                                        const PackedWords &form) {
    QuantizedConv2d stages;
    begin(op, stages);
    if (form.joined_rows)
        join_rows(op, stages, form.halves);
    else
        stages.padded = pad(op, form.filled, form.halves);
    const bool whole = form.whole || form.filled || form.joined_rows;
    const auto stored = [&](const Expr &channel) {
        return whole ? channel : unsafe_promise_clamped(channel, 0, op.channels - 1);
    };
    if (!whole) {
        // Zeros after the last channel: on their own, because vectors that end in a condition and a
        // bound on the address are loaded an element at a time. A schedule makes room for them, and
        // computes all channels at once.
        const RDom rest(0, -op.channels & 3, "rest");
        stages.padded(stored(op.channels + rest), g, x, y, n) = cast(stages.padded.type(), 0);
    }
    if (!op.packed.defined()) {
        const Expr weight = op.weight(kWord * w + i, s, r, k, g);
        stages.packed = Func("packed");
        stages.packed(i, k, g, w, s, r) =
            op.integer() ? weight : cast<float>(cast<int32_t>(weight) - op.weight_zero_point);
    }
    const PackedFactor factor{op, stages, form.block};
    const auto term = [&](const Expr &i, const Place &at) {
        const Expr channel = stored(kWord * at[0] + i);
        return factor.product(stages.padded(channel, g, input_x(op, at[1]), input_y(op, at[2]), n),
                              i, at);
    };
    if (form.in_blocks) {
        stages.blocked = sum_in_blocks(op, stages, term);
    } else {
        const int together = form.halves ? kWord / 2 : kWord;
        stages.r =
            RDom(0, together, 0, (op.channels + 3) / kWord, 0, op.kernel_w, 0, op.kernel_h, "r");
        RDom &d = stages.r;
        // A word's last bytes are the next pixel's, and meet zeros of the weight; numbers, that may
        // not be finite, are left out.
        if (form.joined_rows && !op.integer()) d.where(kWord * d[1] + d[0] < op.channels);
        if (form.rows_inside) {
            // Of a zero point that is moved out of the sums afterwards they have all terms.
            const Expr row = input_y(op, d[3]), inside = row >= 0 && row < op.height;
            d.where(op.integer() ? inside || op.input_zero_point != 0 : inside);
        }
        sum_words(stages, d, form.halves, [&](const Expr &i) {
            return term(i, {d[1], d[2], d[3]});
        });
    }
    finish(op, stages);
    return stages;
}

QuantizedConv2dSliced quantized_conv2d_sliced(const QuantizedConv2dOperands &op, int tile,
                                              bool in_blocks) {
    const bool whole_words = op.integer() && tile > 1;
    // Devices take no buffer that was never made, though the kernel drops what it read of it.
    const ZeroPoints zero_points =
        whole_words ? ZeroPoints::in_sums_without_terms : ZeroPoints::in_factors;
    QuantizedConv2dSliced stages;
    begin(op, stages, zero_points);
    // Past the last channel of bytes the weight is zero, and the input the last again. Numbers may
    // not be finite: there both are zeros, for a weight that is not loaded takes fewer instructions
    // than the last again. Sums of filters past the last are not stored.
    const Expr channel = 4 * w + i, near = min(channel, op.channels - 1),
               has = channel < op.channels;
    stages.padded = pad(op, !op.integer());
    stages.window = Func("window");
    stages.window(i, w, g, x, y, n) = stages.padded(op.integer() ? near : channel, g, x, y, n);
    stages.tap = Func("tap");
    stages.tap(i, w, s, r, g, x, y, n) = stages.window(i, w, g, input_x(op, s), input_y(op, r), n);
    const Func filled = BoundaryConditions::constant_exterior(
        op.weight, cast<int8_t>(0),
        Region{{0, op.channels}, everything, everything, {0, op.filters}, everything});
    const Expr stored = op.integer() ? op.weight(near, s, r, min(k, op.filters - 1), g)
                                     : filled(channel, s, r, k, g),
               weight = cast<int32_t>(stored) - op.weight_zero_point;
    stages.filter = Func("filter");
    if (whole_words)
        stages.filter(i, w, s, r, k, g) = select(has, stored, cast<int8_t>(0));
    else if (op.integer())
        stages.filter(i, w, s, r, k, g) = select(has, weight, 0);
    else
        stages.filter(i, w, s, r, k, g) = cast<float>(weight);

    const auto term = [&](const Expr &byte, const Place &at) {
        const Expr factor = stages.filter(byte, at[0], at[1], at[2], k, g);
        Expr input = stages.tap(byte, at[0], at[1], at[2], g, x, y, n);
        if (op.integer())
            input = cast<int32_t>(input) - (whole_words ? Expr(0) : op.input_zero_point);
        return input * cast(input.type(), factor);
    };
    if (in_blocks) {
        stages.blocked = sum_in_blocks(op, stages, term);
    } else {
        const Expr slices = (op.channels + 4 * tile - 1) / (4 * tile);
        stages.r = RDom(0, 4, 0, tile, 0, op.kernel_w, 0, op.kernel_h, 0, slices, "r");
        const RDom &d = stages.r;
        stages.sum(k, g, x, y, n) = stages.start(k, g);
        stages.sum(k, g, x, y, n) += term(d[0], {d[4] * tile + d[1], d[2], d[3]});
    }
    finish(op, stages, zero_points);
    return stages;
}

QuantizedConv2dDot quantized_conv2d_dot(const QuantizedConv2dOperands &op, int lanes, bool halves) {
    QuantizedConv2dDot stages;
    begin(op, stages);
    stages.padded = pad(op, false, halves);
    const int word = !op.integer() ? 1 : halves ? kWord / 2 : kWord;
    stages.r = RDom(0, word, 0, op.channels / (word * lanes), 0, op.kernel_w, 0, op.kernel_h, "r");
    const RDom &d = stages.r;
    const Expr channel = (d.y * lanes + stages.lane) * word + d.x;
    const Expr zero = op.integer() ? Expr(0) : Expr(0.f);
    stages.lanes = Func("lanes");
    stages.lanes(stages.lane, k, g, x, y, n) = zero;
    stages.lanes(stages.lane, k, g, x, y, n) +=
        product(op, stages.padded(channel, g, input_x(op, d.z), input_y(op, d.w), n),
                op.weight(channel, d.z, d.w, k, g));

    const int quarter = lanes / 4;
    const Func &wide = stages.lanes;
    stages.folded = Func("folded");
    stages.folded(stages.lane, k, g, x, y, n) =
        (wide(stages.lane, k, g, x, y, n) + wide(stages.lane + quarter, k, g, x, y, n)) +
        (wide(stages.lane + 2 * quarter, k, g, x, y, n) +
         wide(stages.lane + 3 * quarter, k, g, x, y, n));
    Expr total = stages.start(k, g);
    for (int l = 0; l < quarter; l++) total += stages.folded(l, k, g, x, y, n);
    stages.sum(k, g, x, y, n) = total;
    finish(op, stages);
    return stages;
}

namespace {

// DepthwiseWords::rows. Windows with a stride that is known to be 2 begin in every second row.
void sum_rows(const QuantizedConv2dOperands &op, QuantizedConv2dDepthwise &stages) {
    constexpr int rows = 2;
    stages.word = rows;
    const bool every_second =
        Internal::is_const(op.stride_y, 2) && Internal::is_const_one(op.dilation_y);
    const Expr step = every_second ? 2 : 1;
    // Elements of a pair, which the vectoriser takes for the vector of both their bytes.
    const auto spread = [&](const Type &type, const auto &of) {
        const Expr g = element / rows;
        const Expr byte =
            extract_bits(type, concat_bits({of(g, 0), of(g, 1)}), 8 * (element % rows));
        return cast<int16_t>(byte);
    };
    stages.taps(element, w, x, y, n) = spread(UInt(8), [&](const Expr &g, int i) {
        return stages.padded(0, g, x - op.padding_left,
                             y * step + i * op.dilation_y - op.padding_top, n);
    });
    stages.packed(element, stages.phase, w, r) = spread(Int(8), [&](const Expr &g, int i) {
        const Expr q = r * rows + i,
                   read = reinterpret<uint8_t>(op.weight(0, w, min(q, op.kernel_h - 1), 0, g));
        return select(q < op.kernel_h, read, cast<uint8_t>(0));
    });
    stages.r = RDom(0, rows, 0, op.kernel_w, 0, (op.kernel_h + 1) / rows, "r");
    const RDom &d = stages.r;
    const Expr at = rows * g + d.x,
               row = every_second ? y + d.z : y * op.stride_y + rows * d.z * op.dilation_y;
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    stages.sum(k, g, x, y, n) +=
        product(op, stages.taps(at, 0, x * op.stride_x + d.y * op.dilation_x, row, n),
                stages.packed(at, 0, d.y, d.z));
    finish(op, stages);
}

}  // namespace

QuantizedConv2dDepthwise quantized_conv2d_depthwise(const QuantizedConv2dOperands &op,
                                                    DepthwiseWords words) {
    QuantizedConv2dDepthwise stages;
    begin(op, stages);
    stages.padded = pad(op, false);
    stages.taps = Func("taps");
    stages.packed = Func("packed");
    if (words == DepthwiseWords::rows) {
        sum_rows(op, stages);
        return stages;
    }
    const bool squares = words == DepthwiseWords::squares,
               shared = words != DepthwiseWords::columns;
    const int word = op.integer() ? 4 : 1, rows = squares ? 2 : 1, columns = word / rows;
    stages.word = word;
    const Var &phase = stages.phase;
    const auto tap = [&](const Expr &g, int i) -> Expr {
        const Expr column = w * columns + i % columns;
        if (shared)
            return stages.padded(0, g, 2 * x + column - op.padding_left,
                                 rows * y + i / columns - op.padding_top, n);
        const Expr read = stages.padded(0, g, input_x(op, column), y - op.padding_top, n);
        return word == 1 ? read : select(column < op.kernel_w, read, cast(read.type(), 0));
    };
    const auto weight = [&](const Expr &g, int i) {
        const Expr s = w * columns + i % columns - phase, q = r * rows + i / columns;
        const Expr read = reinterpret<uint8_t>(
            op.weight(0, clamp(s, 0, op.kernel_w - 1), min(q, op.kernel_h - 1), 0, g));
        return select(s >= 0 && s < op.kernel_w && q < op.kernel_h, read, cast<uint8_t>(0));
    };
    // Elements of a word, which the vectoriser takes for the vector of all their bytes.
    const auto spread = [&](const Type &type, const auto &of) {
        const Expr g = element / word;
        return extract_bits(type, concat_bits({of(g, 0), of(g, 1), of(g, 2), of(g, 3)}),
                            8 * (element % word));
    };
    stages.taps(element, w, x, y, n) = word == 1 ? tap(element, 0) : spread(UInt(8), tap);
    if (op.integer())
        stages.packed(element, phase, w, r) = spread(Int(8), weight);
    else
        stages.packed(element, phase, w, r) =
            cast<float>(cast<int32_t>(op.weight(0, w, r, 0, element)) - op.weight_zero_point);

    const bool pairs = words == DepthwiseWords::pairs;
    const Expr first = pairs ? x % 2 : Expr(0), spanned = op.kernel_w + (pairs ? 1 : 0);
    stages.r = RDom(0, word, 0, (spanned + columns - 1) / columns, 0,
                    (op.kernel_h + rows - 1) / rows, "r");
    const RDom &d = stages.r;
    const Expr element_of_r = word * g + d.x;
    Expr read;
    if (squares)
        read = stages.taps(element_of_r, 0, x + d.y, y + d.z, n);
    else if (pairs)
        read = stages.taps(element_of_r, 0, x / 2 + 2 * d.y, y + d.z, n);
    else
        read = stages.taps(element_of_r, d.y, x, y * op.stride_y + d.z * op.dilation_y, n);
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    const Expr factor = stages.packed(element_of_r, first, d.y, d.z);
    stages.sum(k, g, x, y, n) += op.integer() ? product(op, read, factor) : read * factor;
    finish(op, stages);
    return stages;
}

}  // namespace hk::generators
