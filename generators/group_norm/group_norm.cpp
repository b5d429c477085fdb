#include "generators/group_norm/group_norm.h"

#include "generators/group_norm/blocks.h"

using namespace Halide;

namespace hk::generators {

Func of_each_channel(const char *name, const GroupNormOperands &op,
                     const std::function<Values(const Expr &, const Expr &)> &values) {
    Func result(name);
    if (Internal::is_const_one(op.groups)) {
        result(c, g, n) = Tuple(values(c, 0));
        return result;
    }
    const RDom r(0, op.channels_of_group(), 0, op.groups, std::string(name) + "_r");
    const Expr channel = within(r.y * op.channels_of_group() + r.x, op.channels);
    const Values all = values(channel, r.y);
    result(c, g, n) = Tuple(Values(all.size(), undef<float>()));
    result(channel, g, n) = Tuple(all);
    return result;
}

namespace {

std::vector<Var> arguments_of(const Blocks &blocks, const GroupNorm &stages) {
    std::vector<Var> result{stages.bx, stages.by, stages.bz};
    // Channels stay innermost.
    const bool of_channels = blocks.of.front().same_as(c);
    result.insert(of_channels ? result.begin() : result.end(), blocks.of.front());
    result.insert(result.end(), blocks.of.begin() + 1, blocks.of.end());
    return result;
}

Values at_block(const std::vector<Var> &arguments, const GroupNorm &stages, const Box &block) {
    Values result;
    for (const Var &var : arguments) {
        result.push_back(var.same_as(stages.bx)   ? block[0]
                         : var.same_as(stages.by) ? block[1]
                         : var.same_as(stages.bz) ? block[2]
                                                  : Expr(var));
    }
    return result;
}

}  // namespace

void add_blocks(const Blocks &blocks, GroupNorm &stages) {
    const Box block{stages.bx, stages.by, stages.bz};
    const std::vector<Var> of_block = arguments_of(blocks, stages);
    const Values at = expressions(of_block);
    const auto sums = [&](const char *name, int values, const auto &terms) {
        LaneSumsOf of = {
            name,
            of_block,
            blocks.lanes,
            blocks.width,
            blocks.lengths,
            values,
            blocks.is_long,
            [&](const Box &place, const Expr &lane) {
                return terms(blocks.element(block, place, lane));
            },
            [&](const Box &place, const Expr &lane) { return blocks.has(block, place, lane); },
            blocks.masked,
            blocks.held};
        if (blocks.has_rest) {
            of.rest = Rest{blocks.lanes_of_rest,
                           [&](const Box &place, const Expr &lane) {
                               return terms(blocks.element_of_rest(block, place, lane));
                           },
                           [&](const Box &place) { return blocks.has_rest(block, place); }};
        }
        return lane_sums(of);
    };
    const Expr start = blocks.start.defined() ? blocks.start : blocks.element(block, {0, 0, 0}, 0);
    stages.first =
        sums("first", 1, [&](const Expr &one) { return Values{strict_float(one - start)}; });
    stages.middle = Func("middle");
    stages.middle(of_block) =
        strict_float(start + value(stages.first.total, at) / blocks.count(block));
    const Expr middle = stages.middle(at);
    stages.about = sums("about", 2, [&](const Expr &one) {
        const Expr distance = strict_float(one - middle);
        return Values{distance, distance * distance};
    });
    stages.of_block = Func("of_block");
    stages.of_block(of_block) =
        Tuple(middle, value(stages.about.total, at, 0), value(stages.about.total, at, 1));
}

namespace {

// stages.merged, from of_block.
void merge_blocks(const Blocks &blocks, GroupNorm &stages) {
    const std::vector<Var> of_block = arguments_of(blocks, stages);
    const Values all = expressions(blocks.of);
    const Box origin{0, 0, 0};
    const auto of = [&](const Box &b, int i) {
        return value(stages.of_block, at_block(of_block, stages, b), i);
    };
    const Expr centre = of(origin, 0);
    const auto distance = [&](const Box &b) { return strict_float(of(b, 0) - centre); };
    // Sums about the mean, of numbers near it: nothing is cancelled.
    const auto squares = [&](const Box &b) {
        return strict_float(of(b, 2) - of(b, 1) * (of(b, 1) / blocks.count(b)));
    };
    stages.merged = Func("merged");
    if (blocks.is_one) {
        stages.merged(blocks.of) = Tuple(centre, of(origin, 1) / blocks.total, squares(origin));
        return;
    }
    stages.offsets = blocked_sum(
        blocks.of, 0.f, blocks.numbers,
        [&](const Box &b) { return strict_float(distance(b) * blocks.count(b) + of(b, 1)); },
        everywhere);
    const Expr offset = stages.offsets.running(all)[0] / blocks.total;
    stages.squares = blocked_sum(
        blocks.of, 0.f, blocks.numbers,
        [&](const Box &b) {
            const Expr from_mean =
                strict_float(distance(b) + (of(b, 1) / blocks.count(b) - offset));
            return squares(b) + blocks.count(b) * from_mean * from_mean;
        },
        everywhere);
    stages.merged(blocks.of) = Tuple(centre, offset, stages.squares.running(all)[0]);
}

}  // namespace

Tuple statistics_of(const GroupNormOperands &op, const Expr &start, const Expr &offset,
                    const Expr &squares) {
    const Expr mean = strict_float(start + offset);
    const Expr lost = strict_float((start - mean) + offset);
    // Rounding may leave less than nothing; a NaN stays.
    const Expr variance = select(squares < 0.f, 0.f, squares / op.count());
    return {mean, lost, strict_float(1.f / sqrt(variance + op.epsilon))};
}

void add_statistics(const GroupNormOperands &op, const Blocks &blocks, GroupNorm &stages) {
    add_blocks(blocks, stages);
    merge_blocks(blocks, stages);
    const Tuple merged = stages.merged(g, n);
    stages.statistics = Func("statistics");
    stages.statistics(group, g, n) = statistics_of(op, merged[0], merged[1], merged[2]);
}

Values factors_of(const GroupNormOperands &op, const Tuple &statistics, const Expr &channel) {
    const Expr factor = statistics[2] * op.weight(channel, g);
    return {statistics[0], factor, strict_float(op.bias(channel, g) - statistics[1] * factor)};
}

void add_output(const GroupNormOperands &op, const Expr &value, const Tuple &factors,
                GroupNorm &stages) {
    stages.output = Func("result");
    stages.output(c, g, x, y, n) =
        cast(op.type, strict_float((value - factors[0]) * factors[1] + factors[2]));
}

void add_saved(const Expr &mean, const Expr &rstd, GroupNorm &stages) {
    stages.mean = Func("mean_of_group");
    stages.mean(group, g, n) = mean;
    stages.rstd = Func("rstd_of_group");
    stages.rstd(group, g, n) = rstd;
}

namespace {

// From statistics, all that comes after them.
void finish(const GroupNormOperands &op, GroupNorm &stages) {
    const Func &statistics = stages.statistics;
    stages.factors = of_each_channel("factors", op, [&](const Expr &channel, const Expr &of) {
        return factors_of(op, statistics(of, g, n), channel);
    });
    add_output(op, cast<float>(op.input(c, g, x, y, n)), stages.factors(c, g, n), stages);
    add_saved(statistics(group, g, n)[0], statistics(group, g, n)[2], stages);
}

// stages.statistics, from merged of each channel.
void merge_channels(const GroupNormOperands &op, const GroupNormSizes &sizes, GroupNorm &stages) {
    // A channel's is the distance of its mean from that of the group's first.
    const Expr first = group * op.channels_of_group();
    const Expr start = stages.merged(first, g, n)[0];
    const auto channel = [&](const Box &place, const Expr &lane) {
        return place[0] * sizes.channel_lanes + lane;
    };
    const auto over_channels = [&](const char *name, const auto &term) {
        return lane_sums({name,
                          {group, g, n},
                          sizes.channel_lanes,
                          sizes.channel_width,
                          {ceil_div(op.channels_of_group(), sizes.channel_lanes), 1, 1},
                          1,
                          true,
                          [&](const Box &place, const Expr &lane) {
                              return Values{
                                  term(within(first + channel(place, lane), op.channels))};
                          },
                          [&](const Box &place, const Expr &lane) {
                              return likely(channel(place, lane) < op.channels_of_group());
                          }});
    };
    const auto distance = [&](const Expr &at) {
        return strict_float((stages.merged(at, g, n)[0] - start) + stages.merged(at, g, n)[1]);
    };
    stages.channel_offsets = over_channels("channel_offsets", distance);
    const Expr offset =
        value(stages.channel_offsets.total, {group, g, n}) / cast<float>(op.channels_of_group());
    stages.channel_squares = over_channels("channel_squares", [&](const Expr &at) {
        const Expr from_mean = strict_float(distance(at) - offset);
        return stages.merged(at, g, n)[2] + cast<float>(op.pixels()) * from_mean * from_mean;
    });
    stages.statistics = Func("statistics");
    stages.statistics(group, g, n) =
        statistics_of(op, start, offset, value(stages.channel_squares.total, {group, g, n}));
}

// The lengths and the number of blocks of a box, of so many terms at most; 0: one block.
void cut(const Box &box, int longest, Blocks &blocks) {
    blocks.is_one = longest == 0;
    blocks.is_long = blocks.is_one;
    blocks.lengths = box;
    blocks.numbers = {1, 1, 1};
    if (blocks.is_one) return;
    Expr left = longest;
    for (size_t axis = 0; axis < 3; axis++) {
        const SumBlocks one(box[axis], left);
        blocks.lengths[axis] = one.length;
        blocks.numbers[axis] = one.number;
        left = max(left / max(one.length, 1), 1);
    }
}

}  // namespace

GroupNorm group_norm_by_channels(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages;
    Blocks blocks;
    blocks.of = {c, g, n};
    blocks.masked = true;
    blocks.lanes = blocks.width = 1;
    cut({op.width, op.height, 1}, sizes.block, blocks);
    const Box lengths = blocks.lengths;
    const auto column = [=](const Box &b, const Expr &i) { return b[0] * lengths[0] + i; };
    const auto row = [=](const Box &b, const Expr &i) { return b[1] * lengths[1] + i; };
    blocks.element = [&](const Box &b, const Box &place, const Expr &) {
        return cast<float>(op.input(c, g, within(column(b, place[0]), op.width, true),
                                    within(row(b, place[1]), op.height, true), n));
    };
    blocks.has = [&](const Box &b, const Box &place, const Expr &) {
        return column(b, place[0]) < op.width && row(b, place[1]) < op.height;
    };
    blocks.count = [&](const Box &b) {
        return cast<float>(min(op.width - column(b, 0), lengths[0])) *
               cast<float>(min(op.height - row(b, 0), lengths[1]));
    };
    blocks.total = cast<float>(op.pixels());
    add_blocks(blocks, stages);
    merge_blocks(blocks, stages);

    merge_channels(op, sizes, stages);
    finish(op, stages);
    return stages;
}

namespace {

// A group as runs of channels (nhwc) or columns (nchw), of which a step takes all lanes.
class Runs {
public:
    Runs(const GroupNormOperands &op, const GroupNormSizes &sizes)
        : op_(op),
          vectors_(sizes.vectors),
          down_(sizes.down),
          across_(sizes.lanes / sizes.down),
          extents_(op.nhwc ? Box{op.channels, op.width, op.height}
                           : Box{op.width, op.height, op.channels}),
          steps_(vectors_ ? extents_[0] / across_ : ceil_div(extents_[0], across_)),
          left_(vectors_ ? extents_[0] % across_ : Expr(0)) {
        blocks_.of = {g, n};
        blocks_.masked = false;
        blocks_.lanes = sizes.lanes;
        blocks_.width = sizes.width;
        cut({steps_, ceil_div(extents_[1], down_), extents_[2]}, sizes.block, blocks_);
        blocks_.numbers[0] = max(blocks_.numbers[0], 1);
        blocks_.total = op.count();
    }

    // Lives no longer than this.
    Blocks blocks() const {
        Blocks result = blocks_;
        result.element = [this](const Box &b, const Box &place, const Expr &lane) {
            Box in = at(b, place, lane);
            for (size_t axis = 0; axis < 3; axis++) in[axis] = within(in[axis], extents_[axis]);
            return input(in);
        };
        result.has = [this](const Box &b, const Box &place, const Expr &lane) {
            const Expr step = b[0] * blocks_.lengths[0] + place[0];
            const Box in = at(b, place, lane);
            return (vectors_ ? step < steps_ : likely(in[0] < extents_[0])) && has_row(in);
        };
        result.count = [this](const Box &b) { return count(b); };
        if (!vectors_) return result;
        result.lanes_of_rest = left_;
        result.element_of_rest = [this](const Box &b, const Box &place, const Expr &lane) {
            const Box in = at(b, place, 0);
            return input({steps_ * across_ + lane, within(in[1], extents_[1], true),
                          within(in[2], extents_[2], true)});
        };
        result.has_rest = [this](const Box &b, const Box &place) {
            return is_last(b) && has_row(at(b, place, 0));
        };
        return result;
    }

private:
    Box at(const Box &b, const Box &place, const Expr &lane) const {
        const Box &lengths = blocks_.lengths;
        return {(b[0] * lengths[0] + place[0]) * across_ + (down_ == 1 ? lane : lane % across_),
                (b[1] * lengths[1] + place[1]) * down_ + (down_ == 1 ? Expr(0) : lane / across_),
                b[2] * lengths[2] + place[2]};
    }
    Expr input(const Box &in) const {
        return cast<float>(op_.nhwc ? op_.input(in[0], g, in[1], in[2], n)
                                    : op_.input(in[2], g, in[0], in[1], n));
    }
    Expr has_row(const Box &in) const { return in[1] < extents_[1] && in[2] < extents_[2]; }
    Expr is_last(const Box &b) const { return b[0] == blocks_.numbers[0] - 1; }
    Expr count(const Box &b) const {
        const Box &lengths = blocks_.lengths;
        const Box most{lengths[0] * across_, lengths[1] * down_, lengths[2]};
        const Box all{vectors_ ? steps_ * across_ : extents_[0], extents_[1], extents_[2]};
        Expr result = 1.f;
        for (size_t axis = 0; axis < 3; axis++) {
            Expr one = min(all[axis] - b[axis] * most[axis], most[axis]);
            if (vectors_ && axis == 0) one += select(is_last(b), left_, 0);
            result = result * cast<float>(one);
        }
        return result;
    }

    const GroupNormOperands &op_;
    const bool vectors_;
    const int down_, across_;
    const Box extents_;
    const Expr steps_, left_;
    Blocks blocks_;
};

}  // namespace

GroupNorm statistics_of_runs(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages;
    const Runs runs(op, sizes);
    add_statistics(op, runs.blocks(), stages);
    return stages;
}

GroupNorm group_norm_by_runs(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages = statistics_of_runs(op, sizes);
    finish(op, stages);
    return stages;
}

}  // namespace hk::generators
