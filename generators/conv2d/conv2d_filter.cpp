#include "generators/conv2d/conv2d_filter.h"

#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

Expr packed_filter(const Func &weight, const Expr &filters, const Expr &filter, const Expr &group) {
    const Range any = {Expr(), Expr()};
    Func padded = BoundaryConditions::constant_exterior(weight, cast(weight.type(), 0),
                                                        {any, any, any, {0, filters}, any});
    return cast<float>(padded(c, s, r, filter, group));
}

Func with_zeros_past_filters(const Func &weight, const Expr &filters) {
    const Expr inside = k < filters;
    const Expr element = weight(c, s, r, unsafe_promise_clamped(k, 0, filters - 1), g);
    Func masked("weight_masked");
    masked(c, s, r, k, g) = select(inside, loaded_if(inside, cast<float>(element)), 0.f);
    return masked;
}

namespace {

Expr word(const Expr &low, const Expr &high) {
    return concat_bits({reinterpret<uint16_t>(low), reinterpret<uint16_t>(high)});
}

// The words of a panel. Where lines are stored, what is past the last channel may be read, though
// it was not written.
Func transposed_words(const Func &weight, const Expr &channels, const Expr &filters,
                      const Var &block, PackedPairs &pairs) {
    const Var panel("panel");
    const Expr filter = block * kFilterBlock + row;
    pairs.lines = Func("lines");
    pairs.lines(c, row, s, r, block, g) = weight(c, s, r, min(filter, filters - 1), g);
    const auto stored = [&](int i) {
        const Expr channel = 2 * (panel * kFilterBlock + element) + i;
        return select(channel < channels,
                      pairs.lines(unsafe_promise_clamped(channel, 0, channels - 1), row, s, r,
                                  block, g),
                      cast(weight.type(), 0));
    };
    Func rows("rows");
    rows(element, row, panel, s, r, block, g) =
        select(filter < filters, word(stored(0), stored(1)), 0);
    pairs.transposed = transpose(rows, kFilterBlock, {panel, s, r, block, g});
    return pairs.transposed.back();
}

}  // namespace

PackedPairs packed_pairs(const Func &weight, const Expr &channels, const Expr &filters,
                         const std::array<Var, 2> &block, int filters_of_block, bool across) {
    const auto &[ki, ko] = block;
    PackedPairs pairs;
    pairs.words = Func("words");
    if (across) {
        const Func panels = transposed_words(weight, channels, filters, ko, pairs);
        pairs.words(ki, c, s, r, ko, g) = panels(c % kFilterBlock * kFilterBlock + ki, 0,
                                                 c / kFilterBlock, s, r, ko, g);
    } else {
        const Range any = {Expr(), Expr()};
        Func padded = BoundaryConditions::constant_exterior(
            weight, cast(weight.type(), 0), {{0, channels}, any, any, {0, filters}, any});
        const Expr filter = ko * filters_of_block + ki;
        pairs.words(ki, c, s, r, ko, g) =
            word(padded(2 * c, s, r, filter, g), padded(2 * c + 1, s, r, filter, g));
    }
    pairs.packed = Func("packed");
    pairs.packed(ki, c, s, r, ko, g) = reinterpret(
        weight.type(),
        extract_bits<uint16_t>(pairs.words(ki / 2, c, s, r, ko, g), 16 * (ki % 2)));
    return pairs;
}

Func joined_columns(const Func &weight, const Expr &channels, const Expr &columns) {
    Func joined("joined");
    joined(c, s, r, k, g) = weight(c % channels, clamp(c / channels, 0, columns - 1), r, k, g);
    return joined;
}

Conv2dFilter conv2d_filter(const Func &weight, const Expr &filters) {
    Conv2dFilter stages;
    const Var &ki = stages.ki, &ko = stages.ko;
    stages.output = Func("packed");
    stages.output(ki, c, s, r, ko, g) = packed_filter(weight, filters, ko * kFilterBlock + ki, g);
    return stages;
}

Conv2dFilter conv2d_filter_pairs(const Func &weight, const Expr &channels, const Expr &filters,
                                 bool across) {
    Conv2dFilter stages;
    stages.pairs =
        packed_pairs(weight, channels, filters, {stages.ki, stages.ko}, kFilterBlock, across);
    stages.output = stages.pairs.packed;
    return stages;
}

}  // namespace hk::generators
