#include "generators/conv2d/conv2d.h"

#include <numeric>

#include "generators/conv2d/finish.h"

using namespace Halide;

namespace hk::generators {

namespace {

Func pad(const Conv2dOperands &op) {
    return with_zeros_around(op.input, op.width, op.height, op.pointwise);
}

Func pad(const Conv2dOperands &op, const PackedSum &sum, RDom &elements) {
    const Expr dense = sum.windows ? op.dense_pixels : Expr();
    switch (sum.padding) {
        case Padding::compared:
            return pad(op);
        case Padding::rows:
            return rows_with_zeros_around(op.input, op.width, op.height, elements);
        case Padding::joined_rows:
            return joined_rows_with_zeros_around(op.input, op.channels, op.width, op.height,
                                                 elements, Float(32), dense);
    }
    return {};
}

// Zeros past the last channel are stored after all others: vectors that end in a condition would
// be loaded an element at a time. A schedule makes room for them, and computes all channels at
// once.
Func pad_stored_pairs(const Conv2dOperands &op, const Type &type) {
    Func padded = with_zeros_around(op.input, op.width, op.height, op.pointwise, type);
    const RDom rest(0, op.channels & 1, "rest");
    padded(unsafe_promise_clamped(op.channels + rest, 0, op.channels - 1), g, x, y, n) =
        Internal::make_zero(type);
    return padded;
}

Func words_of_pairs(const Conv2dOperands &op) {
    const Expr second = 2 * c + 1;
    const auto bits = [&](const Expr &channel) {
        return reinterpret<uint16_t>(op.input(channel, g, x, y, n));
    };
    Func words("words");
    words(c, g, x, y, n) =
        concat_bits({bits(2 * c), select(second < op.channels, bits(min(second, op.channels - 1)),
                                         cast<uint16_t>(0))});
    return words;
}

Func pad_pairs(const Conv2dOperands &op, const PackedSum &sum, RDom &elements) {
    const Type type = op.input.types()[0];
    if (sum.pairs == Pairs::stored) return pad_stored_pairs(op, type);
    if (sum.pairs == Pairs::words && sum.padding == Padding::rows)
        return rows_with_zeros_around(words_of_pairs(op), op.width, op.height, elements, UInt(32));
    if (sum.pairs == Pairs::words)
        return with_zeros_around(words_of_pairs(op), op.width, op.height, op.pointwise, UInt(32));
    return with_zeros_around(op.input, op.width, op.height, op.pointwise, type);
}

Expr input_x(const Conv2dOperands &op, const Expr &s) {
    return x * op.stride_x + s * op.dilation_x - op.padding_left;
}

Expr input_y(const Conv2dOperands &op, const Expr &r) {
    return y * op.stride_y + r * op.dilation_y - op.padding_top;
}

Expr is_inside(const Conv2dOperands &op, const Expr &row) { return row >= 0 && row < op.height; }

using Place = std::array<Expr, 3>;  // of a term: c, s, r; of a pair's: the pair, s, r

void pack(const Conv2dOperands &op, const PackedSum &sum, Conv2d &stages) {
    const Var &ki = stages.ki, &ko = stages.ko;
    if (sum.pairs != Pairs::none) {
        stages.pack = packed_pairs(op.weight, op.channels, op.filters, {ki, ko}, sum.block);
        stages.packed = stages.pack.packed;
        return;
    }
    Func weight = op.weight;
    if (sum.windows) {  // a row of taps is one of channels
        weight = Func("joined_taps");
        weight(c, s, r, k, g) = op.weight(c % op.channels, s + c / op.channels, r, k, g);
    }
    stages.packed = Func("packed");
    stages.packed(ki, c, s, r, ko, g) = packed_filter(weight, op.filters, ko * sum.block + ki, g);
}

// What multiplies the input there in the sums of k and g.
Expr factor(const Conv2dOperands &op, const PackedSum &sum, const Place &at, const Conv2d &stages,
            const Expr &of_pair) {
    const auto element = [&](const Expr &filter) {
        return sum.pairs != Pairs::none ? 2 * filter + of_pair : filter;
    };
    if (stages.packed.defined())
        return stages.packed(element(k % sum.block), at[0], at[1], at[2], k / sum.block, g);
    // A schedule's last block may reach past the filter's. Where it is a block and a half, vectors
    // of it lie in halves.
    const int part = std::gcd(sum.block, kFilterBlock), parts = kFilterBlock / part;
    Expr block = k / part / parts;
    if (kFilterBlock % sum.block != 0) block = min(block, (op.filters - 1) / kFilterBlock);
    const Expr place = k % part + k / part % parts * part;
    // A window's row is longer than the dimension of channels, behind which the next tap's are.
    const Expr channel = sum.windows ? unsafe_promise_clamped(at[0], 0, op.channels - 1) : at[0];
    return op.packed(element(place), channel, at[1], at[2], block, g);
}

template<typename Term, typename Counts>
BlockedSum sum_in_blocks(const Conv2dOperands &op, const Expr &channels, const Func &start,
                         const Term &term, const Counts &counts) {
    return blocked_sum({k, g, x, y, n}, start(k, g), {channels, op.kernel_w, op.kernel_h}, term,
                       counts);
}

Expr counts(const Conv2dOperands &op, const PackedSum &packed, const Place &at) {
    return packed.rows_inside ? is_inside(op, input_y(op, at[2])) : cast<bool>(true);
}

void sum_terms(const Conv2dOperands &op, const PackedSum &packed, Conv2d &stages) {
    const bool joined = packed.padding == Padding::joined_rows;
    const auto term = [&](const Place &at) {
        const Expr column = input_x(op, at[1]), row = input_y(op, at[2]);
        return factor(op, packed, at, stages, {}) *
               (joined ? stages.padded(column * op.channels + at[0], g, row, n)
                       : stages.padded(at[0], g, column, row, n));
    };
    const auto inside = [&](const Place &at) { return counts(op, packed, at); };
    if (packed.in_blocks) {
        stages.blocked = sum_in_blocks(op, op.channels, stages.start, term, inside);
        stages.sum(k, g, x, y, n) = stages.blocked.running(k, g, x, y, n)[0];
        return;
    }
    RDom d(0, packed.windows ? op.channels * op.kernel_w : op.channels, 0,
           packed.windows ? 1 : op.kernel_w, 0, op.kernel_h, "r");
    if (packed.rows_inside) d.where(inside({d.x, d.y, d.z}));
    stages.rc = d.x, stages.rs = d.y, stages.rr = d.z;
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    stages.sum(k, g, x, y, n) += term({d.x, d.y, d.z});
}

void sum_pairs(const Conv2dOperands &op, const PackedSum &packed, Conv2d &stages) {
    const Expr pairs = (op.channels + 1) / 2;
    if (packed.pairs == Pairs::words) {
        stages.tap = Func("tap");
        stages.tap(i, c, s, r, g, x, y, n) = reinterpret(
            op.type,
            extract_bits<uint16_t>(stages.padded(c, g, input_x(op, s), input_y(op, r), n), 16 * i));
    }
    const auto read = [&](const Place &at, const Expr &of_pair) {
        const Expr column = input_x(op, at[1]), row = input_y(op, at[2]);
        if (packed.pairs == Pairs::words)
            return Expr(stages.tap(of_pair, at[0], at[1], at[2], g, x, y, n));
        Expr channel = 2 * at[0] + of_pair;
        if (packed.pairs == Pairs::stored)
            channel = unsafe_promise_clamped(channel, 0, op.channels - 1);
        return Expr(stages.padded(channel, g, column, row, n));
    };
    const auto term = [&](const Place &at, const Expr &of_pair) {
        return cast<float>(factor(op, packed, at, stages, of_pair)) *
               cast<float>(read(at, of_pair));
    };
    const auto inside = [&](const Place &at) { return counts(op, packed, at); };
    if (packed.in_blocks) {
        stages.blocked = sum_in_blocks(op, pairs, stages.start, term, inside);
        stages.of_pair = stages.blocked.in_block.x;
        stages.sum(k, g, x, y, n) = stages.blocked.running(k, g, x, y, n)[0];
        return;
    }
    RDom d(0, 2, 0, pairs, 0, op.kernel_w, 0, op.kernel_h, "r");
    if (packed.rows_inside) d.where(inside({d.y, d.z, d.w}));
    stages.of_pair = d.x, stages.rc = d.y, stages.rs = d.z, stages.rr = d.w;
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    stages.sum(k, g, x, y, n) += term({d.y, d.z, d.w}, d.x);
}

}  // namespace

Conv2d conv2d_packed(const Conv2dOperands &op, const PackedSum &packed) {
    Conv2d stages;
    stages.out_w = op.out_w;
    stages.out_h = op.out_h;
    const bool pairs = packed.pairs != Pairs::none;
    if (pairs)
        stages.padded = pad_pairs(op, packed, stages.elements);
    else
        stages.padded = pad(op, packed, stages.elements);
    if (!op.packed.defined()) pack(op, packed, stages);
    stages.start = sum_start(op);
    stages.sum = Func("sum");
    if (pairs)
        sum_pairs(op, packed, stages);
    else
        sum_terms(op, packed, stages);
    stages.activated = Func("activated");
    stages.output = Func("result");
    finish(op, stages.sum, stages.activated, stages.output, packed.rounds_vectors);
    return stages;
}

namespace {

// Both factors.
Conv2dSliced slices(const Conv2dOperands &op, int tile) {
    Conv2dSliced stages;
    const Expr channels = tile == 1 ? Expr() : op.channels;
    const Expr first = tile == 1 ? Expr() : Expr(0);

    Func value("value");
    value(c, g, x, y, n) = cast<float>(op.input(c, g, x, y, n));
    stages.padded = Func("padded");
    stages.padded(c, g, x, y, n) = BoundaryConditions::constant_exterior(
        value, 0.f,
        {{first, channels}, {Expr(), Expr()}, {0, op.width}, {0, op.height}, {Expr(), Expr()}})(
        c, g, x, y, n);

    Func weight("weight_f32");
    weight(c, s, r, k, g) = cast<float>(op.weight(c, s, r, k, g));
    stages.filter = Func("filter");
    stages.filter(c, s, r, k, g) = BoundaryConditions::constant_exterior(
        weight, 0.f,
        {{first, channels}, {Expr(), Expr()}, {Expr(), Expr()}, {0, op.filters}, {Expr(), Expr()}})(
        c, s, r, k, g);
    stages.tap = Func("tap");
    stages.tap(c, s, r, g, x, y, n) = stages.padded(c, g, input_x(op, s), input_y(op, r), n);
    stages.start = sum_start(op);
    stages.sum = Func("sum");
    return stages;
}

}  // namespace

Conv2dSliced conv2d_sliced(const Conv2dOperands &op, int tile) {
    Conv2dSliced stages = slices(op, tile);
    stages.r =
        RDom(0, tile, 0, op.kernel_w, 0, op.kernel_h, 0, (op.channels + tile - 1) / tile, "r");
    const RDom &d = stages.r;
    const Expr channel = d.w * tile + d.x;
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    stages.sum(k, g, x, y, n) +=
        stages.filter(channel, d.y, d.z, k, g) * stages.tap(channel, d.y, d.z, g, x, y, n);
    stages.activated = Func("activated");
    stages.output = Func("result");
    finish(op, stages.sum, stages.activated, stages.output);
    return stages;
}

Conv2dSliced conv2d_sliced_blocks(const Conv2dOperands &op) {
    Conv2dSliced stages = slices(op, 1);
    stages.blocked = sum_in_blocks(
        op, op.channels, stages.start,
        [&](const Place &at) {
            return stages.filter(at[0], at[1], at[2], k, g) *
                   stages.tap(at[0], at[1], at[2], g, x, y, n);
        },
        [](const Place &) { return cast<bool>(true); });
    stages.sum(k, g, x, y, n) = stages.blocked.running(k, g, x, y, n)[0];
    stages.activated = Func("activated");
    stages.output = Func("result");
    finish(op, stages.sum, stages.activated, stages.output);
    return stages;
}

Conv2dDot conv2d_dot(const Conv2dOperands &op, int lanes) {
    Conv2dDot stages;
    stages.padded = pad(op);
    stages.r = RDom(0, op.channels / lanes, 0, op.kernel_w, 0, op.kernel_h, "r");
    const RDom &d = stages.r;
    const Expr channel = d.x * lanes + stages.lane;
    stages.lanes = Func("lanes");
    stages.lanes(stages.lane, k, g, x, y, n) = 0.f;
    stages.lanes(stages.lane, k, g, x, y, n) +=
        cast<float>(op.weight(channel, d.y, d.z, k, g)) *
        stages.padded(channel, g, input_x(op, d.y), input_y(op, d.z), n);

    // Across the lanes in two steps, so that each is a sum of vectors: first the quarters of the
    // vector (neighbours stay neighbours), then what is left of it.
    const int quarter = lanes / 4;
    const Func &wide = stages.lanes;
    stages.folded = Func("folded");
    stages.folded(stages.lane, k, g, x, y, n) =
        (wide(stages.lane, k, g, x, y, n) + wide(stages.lane + quarter, k, g, x, y, n)) +
        (wide(stages.lane + 2 * quarter, k, g, x, y, n) +
         wide(stages.lane + 3 * quarter, k, g, x, y, n));
    Expr total = stages.folded(0, k, g, x, y, n);
    for (int l = 1; l < quarter; l++) total += stages.folded(l, k, g, x, y, n);
    stages.sum = Func("sum");
    stages.start = sum_start(op);
    stages.sum(k, g, x, y, n) = total + stages.start(k, g);
    stages.activated = Func("activated");
    stages.output = Func("result");
    finish(op, stages.sum, stages.activated, stages.output);
    return stages;
}

Conv2dDot conv2d_dot_of_copy(Conv2dOperands op, int lanes) {
    Func copy("filter");
    copy(c, s, r, k, g) = op.weight(c, s, r, k, g);
    op.weight = copy;
    Conv2dDot stages = conv2d_dot(op, lanes);
    stages.filter = copy;
    return stages;
}

namespace {

void sum_depthwise(const Conv2dOperands &op, Conv2dDepthwise &stages, bool rows_inside = false) {
    stages.groups = op.groups;
    stages.out_w = op.out_w;
    stages.out_h = op.out_h;
    stages.packed = Func("packed");
    stages.packed(g, s, r) = cast<float>(op.weight(0, s, r, 0, g));

    stages.r = RDom(0, op.kernel_w, 0, op.kernel_h, "r");
    RDom &d = stages.r;
    if (rows_inside) d.where(is_inside(op, input_y(op, d.y)));
    stages.sum = Func("sum");
    stages.start = sum_start(op);
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    stages.sum(k, g, x, y, n) +=
        stages.packed(g, d.x, d.y) * stages.padded(0, g, input_x(op, d.x), input_y(op, d.y), n);
    stages.activated = Func("activated");
    stages.output = Func("result");
}

Conv2dDepthwise finished(const Conv2dOperands &op, Conv2dDepthwise stages,
                         bool rows_inside = false) {
    sum_depthwise(op, stages, rows_inside);
    finish(op, stages.sum, stages.activated, stages.output);
    return stages;
}

// The sums in rows, by way of line.
Func sum_back(const Conv2dOperands &op, int columns, Conv2dDepthwise &stages) {
    constexpr int groups = kTransposedGroups;
    const Var tile("tile"), gb("gb");
    stages.line = Func("line");
    stages.line(k, g, x, y, n) = stages.sum(k, g, x, y, n);
    Func rows("rows");
    rows(element, row, tile, gb, k, y, n) =
        stages.line(k, gb * groups + element, min(tile * columns + row, op.out_w - 1), y, n);
    stages.back = transpose(rows, columns, {tile, gb, k, y, n});
    Func result("in_rows");
    result(k, g, x, y, n) =
        stages.back.back()(g % groups * columns + x % columns, 0, x / columns, g / groups, k, y, n);
    return result;
}

}  // namespace

Conv2dDepthwise conv2d_depthwise(const Conv2dOperands &op, bool rows_inside) {
    Conv2dDepthwise stages;
    stages.padded = pad(op);
    return finished(op, stages, rows_inside);
}

Conv2dDepthwise conv2d_depthwise_tiles(const Conv2dOperands &operands) {
    const Range all = {Expr(), Expr()}, groups = {0, operands.groups};
    Conv2dOperands op = operands;
    op.weight = BoundaryConditions::repeat_edge(op.weight, {all, all, all, all, groups});
    Func value("value");
    value(c, g, x, y, n) = cast<float>(op.input(c, clamp(g, 0, op.groups - 1), x, y, n));
    Conv2dDepthwise stages;
    stages.padded = BoundaryConditions::constant_exterior(
        value, 0.f, {all, all, {0, op.width}, {0, op.height}, all});
    return finished(op, stages);
}

Conv2dDepthwise conv2d_depthwise_rows(const Conv2dOperands &op) {
    Conv2dDepthwise stages;
    stages.padded = rows_with_zeros_around(op.input, op.width, op.height, stages.columns);
    return finished(op, stages);
}

Conv2dDepthwise conv2d_depthwise_transposed(const Conv2dOperands &operands, int columns) {
    // Tiles reach past the last group, where sums are of anything, and are left out.
    const Range all = {Expr(), Expr()}, groups = {0, operands.groups};
    Conv2dOperands op = operands;
    op.weight = BoundaryConditions::repeat_edge(op.weight, {all, all, all, all, groups});
    if (op.bias.defined()) op.bias = BoundaryConditions::repeat_edge(op.bias, {all, groups});
    Conv2dDepthwise stages;
    stages.tiles.columns = columns;
    stages.padded = transposed_groups(op.input, op.groups, op.width, op.height, stages.tiles);
    stages.window_h = (op.kernel_h - 1) * op.dilation_y + 1;
    stages.stride_y = op.stride_y;
    sum_depthwise(op, stages);
    finish(op, sum_back(op, columns, stages), stages.activated, stages.output);
    return stages;
}

}  // namespace hk::generators
