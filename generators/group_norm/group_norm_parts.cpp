#include "generators/group_norm/blocks.h"

using namespace Halide;

namespace hk::generators {

LaneSums sums_over_parts(const char *name, const GroupNormOperands &op, const GroupNormSizes &sizes,
                         const Box &numbers, int values,
                         const std::function<Values(const Expr &, const Box &)> &terms) {
    const Expr across = min(op.channels_of_group(), sizes.channel_lanes / sizes.down);
    const Expr down = sizes.channel_lanes / across;
    const Expr first = group * op.channels_of_group();
    const auto channel = [&](const Box &place, const Expr &lane) {
        return place[0] * across + lane % across;
    };
    const auto part = [&](const Box &place, const Expr &lane) {
        return place[1] * down + lane / across;
    };
    return lane_sums(
        {name,
         {group, g, n},
         sizes.channel_lanes,
         sizes.channel_width,
         {ceil_div(op.channels_of_group(), across), ceil_div(numbers[0], down), numbers[1]},
         values,
         true,
         [&](const Box &place, const Expr &lane) {
             return terms(within(first + channel(place, lane), op.channels),
                          {within(part(place, lane), numbers[0]), within(place[2], numbers[1]), 0});
         },
         [&](const Box &place, const Expr &lane) {
             return channel(place, lane) < op.channels_of_group() &&
                    part(place, lane) < numbers[0] && lane / across < down && place[2] < numbers[1];
         }});
}

namespace {

// Parts of a row. Of nhwc they are pixels next to each other; of nchw, so that neighbouring threads
// read neighbouring vectors, every so many vectors as there are parts.
class PartsOfRow {
public:
    PartsOfRow(const GroupNormOperands &op, int length)
        : op_(op), length_(length), vectors_(op.width / kVectorOfRow) {}

    Expr number() const { return ceil_div(op_.width, length_); }
    // Past the end the last pixel, or vector.
    Expr column(const Expr &part, const Expr &i) const {
        if (op_.nhwc) return within(part * length_ + i, op_.width, true);
        return min(vector(part, i), vectors_ - 1) * kVectorOfRow + i % kVectorOfRow;
    }
    Expr has(const Expr &part, const Expr &i) const {
        return op_.nhwc ? part * length_ + i < op_.width : vector(part, i) < vectors_;
    }
    Expr count(const Expr &part) const { return of_count(part, most(), rest()); }
    // 1 / count, of which there are two: no part divides.
    Expr share(const Expr &part) const {
        return of_count(part, 1.f / cast<float>(most()), 1.f / cast<float>(rest()));
    }

private:
    // Counts of the parts that have most elements, and of the others.
    Expr most() const {
        return op_.nhwc ? Expr(length_) : ceil_div(vectors_, number()) * kVectorOfRow;
    }
    Expr rest() const {
        return op_.nhwc ? op_.width - (number() - 1) * length_ : vectors_ / number() * kVectorOfRow;
    }
    Expr of_count(const Expr &part, const Expr &most, const Expr &rest) const {
        return select(part < (op_.nhwc ? number() - 1 : vectors_ % number()), most, rest);
    }
    Expr vector(const Expr &part, const Expr &i) const {
        return i / kVectorOfRow * number() + part;
    }

    const GroupNormOperands &op_;
    const int length_;
    const Expr vectors_;
};

// stages.statistics, from of_block of all parts of a group's channels.
void merge_parts(const GroupNormOperands &op, const GroupNormSizes &sizes, const Blocks &blocks,
                 const PartsOfRow &parts, GroupNorm &stages) {
    const Expr first = group * op.channels_of_group();
    const Expr start = stages.of_block(within(first, op.channels), 0, 0, 0, g, n)[0];
    // Of a part: the distance of its middle from the start, its sums, and its number.
    const auto over_parts = [&](const char *name, const auto &term) {
        return sums_over_parts(
            name, op, sizes, blocks.numbers, 1, [&](const Expr &channel, const Box &part) {
                const Tuple of = stages.of_block(channel, part[0], part[1], part[2], g, n);
                return Values{term(strict_float(of[0] - start), of[1], of[2], part[0])};
            });
    };
    stages.channel_offsets = over_parts(
        "part_offsets", [&](const Expr &distance, const Expr &sum, const Expr &, const Expr &part) {
            return strict_float(distance * cast<float>(parts.count(part)) + sum);
        });
    // Each term reads it: not by a division.
    const Expr offset = value(stages.channel_offsets.total, {group, g, n}) * (1.f / op.count());
    stages.channel_squares = over_parts("part_squares", [&](const Expr &distance, const Expr &sum,
                                                            const Expr &squares, const Expr &part) {
        const Expr count = cast<float>(parts.count(part)), mean = sum * parts.share(part);
        const Expr from_mean = strict_float(distance + (mean - offset));
        return strict_float(strict_float(squares - sum * mean) + count * from_mean * from_mean);
    });
    stages.statistics = Func("statistics");
    stages.statistics(group, g, n) =
        statistics_of(op, start, offset, value(stages.channel_squares.total, {group, g, n}));
}

}  // namespace

GroupNorm group_norm_by_parts(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages;
    const int length = sizes.block;
    const PartsOfRow parts(op, length);
    stages.terms = Func("terms");
    stages.terms(pixel, c, stages.bx, stages.by, stages.bz, g, n) = cast<float>(
        op.input(c, g, parts.column(stages.bx, pixel), within(stages.by, op.height, true), n));
    Blocks blocks;
    blocks.of = {c, g, n};
    blocks.is_long = blocks.is_one = false;
    blocks.lanes = blocks.width = 1;
    blocks.masked = false;
    blocks.lengths = {length, 1, 1};
    blocks.numbers = {parts.number(), op.height, 1};
    blocks.element = [&](const Box &b, const Box &place, const Expr &) {
        return Expr(stages.terms(place[0], c, b[0], b[1], b[2], g, n));
    };
    blocks.has = [&](const Box &b, const Box &place, const Expr &) {
        return parts.has(b[0], place[0]);
    };
    blocks.count = [&](const Box &b) { return cast<float>(parts.count(b[0])); };
    add_blocks(blocks, stages);
    merge_parts(op, sizes, blocks, parts, stages);

    const Expr first = group * op.channels_of_group();
    Values factors = factors_of(op, stages.statistics(group, g, n), within(first + c, op.channels));
    factors.push_back(stages.statistics(group, g, n)[2]);
    stages.factors = Func("factors");
    stages.factors(c, group, g, n) = Tuple(factors);
    const auto of_group = [&](const Expr &channel, const Expr &of) {
        return stages.factors(within(channel, op.channels_of_group()), within(of, op.groups), g,
                              within(n, op.batch));
    };
    add_saved(of_group(0, group)[0], of_group(0, group)[3], stages);
    const FuncRef its = of_group(c % op.channels_of_group(), c / op.channels_of_group());
    stages.of_channel = Func("of_channel");
    stages.of_channel(c, g, n) = Tuple(its[0], its[1], its[2]);

    // What a thread has of a row is loaded before any of it is stored; in place of what is not
    // there, its first. Of nchw it is vectors.
    const Expr its_first = x / sizes.together * sizes.together;
    const Expr column = within(select(x < op.width, x, its_first), op.width, true);
    stages.loaded = Func("loaded");
    stages.loaded(c, g, x, y, n) = cast<float>(op.input(c, g, op.nhwc ? column : x, y, n));
    add_output(op, stages.loaded(c, g, x, y, n), stages.of_channel(c, g, n), stages);
    return stages;
}

}  // namespace hk::generators
