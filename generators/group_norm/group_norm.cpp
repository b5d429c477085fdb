#include "generators/group_norm/group_norm.h"

using namespace Halide;

namespace hk::generators {

namespace {

// What is looked at together of a group or of a channel: blocks of a box, whose number is
// `numbers`. `element` of a lane at a place in a block, where the block `has` one there;
// `count`: how many it has.
struct Blocks {
    std::vector<Var> of;  // group or channel; blocks come before it
    Box lengths, numbers;
    bool is_long, is_one;  // terms are more than kLongestSum; there is one block
    int lanes, width;
    std::function<Expr(const Box &block, const Box &place, const Expr &lane)> element, has;
    std::function<Expr(const Box &block)> count;
    Expr total;  // count of all blocks
};

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

// stages.first, middle, about and of_block.
void add_blocks(const Blocks &blocks, GroupNorm &stages) {
    const Box block{stages.bx, stages.by, stages.bz};
    const std::vector<Var> of_block = arguments_of(blocks, stages);
    const Values at = expressions(of_block);
    const auto sums = [&](const char *name, int values, const auto &terms) {
        return lane_sums(
            {name, of_block, blocks.lanes, blocks.width, blocks.lengths, values, blocks.is_long,
             [&](const Box &place, const Expr &lane) {
                 return terms(blocks.element(block, place, lane));
             },
             [&](const Box &place, const Expr &lane) { return blocks.has(block, place, lane); }});
    };
    const Expr start = blocks.element(block, {0, 0, 0}, 0);
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

// mean, what it is too small by, 1 / deviation.
Tuple statistics_of(const GroupNormOperands &op, const Expr &start, const Expr &offset,
                    const Expr &squares) {
    const Expr mean = strict_float(start + offset);
    const Expr lost = strict_float((start - mean) + offset);
    // Rounding may leave less than nothing; a NaN stays.
    const Expr variance = select(squares < 0.f, 0.f, squares / op.count());
    return {mean, lost, strict_float(1.f / sqrt(variance + op.epsilon))};
}

// The group's values for each of its channels. In a slice of several groups they are put there, so
// that no index is divided by the size of a group.
Func of_each_channel(const char *name, const GroupNormOperands &op,
                     const std::function<Values(const Expr &, const Expr &)> &values) {
    Func result(name);
    if (Internal::is_const_one(op.groups)) {
        result(c, g, n) = Tuple(values(c, 0));
        return result;
    }
    const RDom r(0, op.channels_of_group(), 0, op.groups, std::string(name) + "_r");
    const Expr channel =
        unsafe_promise_clamped(r.y * op.channels_of_group() + r.x, 0, op.channels - 1);
    const Values all = values(channel, r.y);
    result(c, g, n) = Tuple(Values(all.size(), undef<float>()));
    result(channel, g, n) = Tuple(all);
    return result;
}

// From statistics, all that comes after them.
void finish(const GroupNormOperands &op, GroupNorm &stages) {
    const Func &statistics = stages.statistics;
    stages.factors = of_each_channel("factors", op, [&](const Expr &channel, const Expr &of) {
        const Expr factor = statistics(of, g, n)[2] * op.weight(channel, g);
        return Values{statistics(of, g, n)[0], factor,
                      strict_float(op.bias(channel, g) - statistics(of, g, n)[1] * factor)};
    });
    const Tuple factors = stages.factors(c, g, n);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(
        op.type, strict_float((cast<float>(op.input(c, g, x, y, n)) - factors[0]) * factors[1] +
                              factors[2]));
    stages.mean = Func("mean_of_group");
    stages.mean(group, g, n) = statistics(group, g, n)[0];
    stages.rstd = Func("rstd_of_group");
    stages.rstd(group, g, n) = statistics(group, g, n)[2];
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
    blocks.lanes = blocks.width = 1;
    cut({op.width, op.height, 1}, sizes.block, blocks);
    const Box lengths = blocks.lengths;
    const auto column = [=](const Box &b, const Expr &i) { return b[0] * lengths[0] + i; };
    const auto row = [=](const Box &b, const Expr &i) { return b[1] * lengths[1] + i; };
    blocks.element = [&](const Box &b, const Box &place, const Expr &) {
        return cast<float>(op.input(c, g, within(column(b, place[0]), op.width),
                                    within(row(b, place[1]), op.height), op.image()));
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

GroupNorm group_norm_by_runs(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages;
    Blocks blocks;
    blocks.of = {g, n};
    blocks.lanes = sizes.lanes;
    blocks.width = sizes.width;
    const Box extents =
        op.nhwc ? Box{op.channels, op.width, op.height} : Box{op.width, op.height, op.channels};
    const int across = sizes.lanes / sizes.down;
    cut({ceil_div(extents[0], across), ceil_div(extents[1], sizes.down), extents[2]}, sizes.block,
        blocks);
    const Box lengths = blocks.lengths;
    const auto at = [=](const Box &b, const Box &place, const Expr &lane) {
        return Box{
            (b[0] * lengths[0] + place[0]) * across + (sizes.down == 1 ? lane : lane % across),
            (b[1] * lengths[1] + place[1]) * sizes.down +
                (sizes.down == 1 ? Expr(0) : lane / across),
            b[2] * lengths[2] + place[2]};
    };
    blocks.element = [&](const Box &b, const Box &place, const Expr &lane) {
        Box in = at(b, place, lane);
        for (size_t axis = 0; axis < 3; axis++) in[axis] = within(in[axis], extents[axis]);
        return cast<float>(op.nhwc ? op.input(in[0], g, in[1], in[2], op.image())
                                   : op.input(in[2], g, in[0], in[1], op.image()));
    };
    blocks.has = [&](const Box &b, const Box &place, const Expr &lane) {
        const Box in = at(b, place, lane);
        return likely(in[0] < extents[0]) && in[1] < extents[1] && in[2] < extents[2];
    };
    blocks.count = [&](const Box &b) {
        const Box steps{lengths[0] * across, lengths[1] * sizes.down, lengths[2]};
        Expr count = 1.f;
        for (size_t axis = 0; axis < 3; axis++)
            count = count * cast<float>(min(extents[axis] - b[axis] * steps[axis], steps[axis]));
        return count;
    };
    blocks.total = op.count();
    add_blocks(blocks, stages);
    merge_blocks(blocks, stages);
    stages.statistics = Func("statistics");
    stages.statistics(group, g, n) =
        statistics_of(op, stages.merged(g, n)[0], stages.merged(g, n)[1], stages.merged(g, n)[2]);
    finish(op, stages);
    return stages;
}

namespace {

// stages.of_pixels.
void add_up_pixels(const GroupNormOperands &op, const GroupNormSizes &sizes, GroupNormParts parts,
                   GroupNormBackward &stages) {
    stages.statistics = of_each_channel("statistics", op, [&](const Expr &, const Expr &of) {
        return Values{op.mean(of, g, n), op.rstd(of, g, n)};
    });
    // A block of threads reaches over the last channel.
    const Expr near = parts == GroupNormParts::images ? min(c, op.channels - 1) : Expr(c);
    const auto normalised = [&](const Expr &px, const Expr &py) {
        const Tuple statistics = stages.statistics(c, g, n);
        return strict_float(cast<float>(op.input(near, g, px, py, n)) - statistics[0]) *
               statistics[1];
    };
    stages.of_pixels =
        lane_sums({"of_pixels",
                   {c, g, n},
                   sizes.lanes,
                   sizes.width,
                   {ceil_div(op.width, sizes.lanes), op.height, 1},
                   2,
                   parts != GroupNormParts::of_few_pixels,
                   [&](const Box &place, const Expr &lane) {
                       const Expr px = within(place[0] * sizes.lanes + lane, op.width);
                       const Expr dy = cast<float>(op.output_gradient(near, g, px, place[1], n));
                       return Values{dy, dy * normalised(px, place[1])};
                   },
                   [&](const Box &place, const Expr &lane) {
                       return sizes.lanes == 1 ? cast<bool>(true)
                                               : likely(place[0] * sizes.lanes + lane < op.width);
                   }});
}

// The sums of a part of the images, and the gradients of weight and bias.
void add_up_parts(const GroupNormOperands &op, bool by_images, GroupNormBackward &stages) {
    const auto of_image = [&](int v, const Expr &image) {
        return value(stages.of_pixels.total, {c, g, image}, v);
    };
    stages.bias_of_part = Func("bias_of_part");
    stages.weight_of_part = Func("weight_of_part");
    const Expr parts = by_images ? op.batch : ceil_div(op.batch, op.images);
    if (by_images) {
        stages.bias_of_part(c, g, n) = of_image(0, n);
        stages.weight_of_part(c, g, n) = of_image(1, n);
    } else {
        stages.images = RDom(0, op.images, "images");
        stages.images.where(n * op.images + stages.images < op.batch);
        const Expr image = clamp(n * op.images + stages.images, 0, op.batch - 1);
        stages.bias_of_part(c, g, n) += of_image(0, image);
        stages.weight_of_part(c, g, n) += of_image(1, image);
    }
    stages.bias_sums = Func("sums_of_bias");
    stages.bias_sums(c, g, n) = stages.bias_of_part(c, g, n);
    stages.weight_sums = Func("sums_of_weight");
    stages.weight_sums(c, g, n) = stages.weight_of_part(c, g, n);
    const auto add_up = [&](const Func &sums, BlockedSum &added, Func &result, const char *name) {
        added = blocked_sum(
            {c, g}, 0.f, {parts, 1, 1}, [&](const Box &at) { return sums(c, g, at[0]); },
            everywhere);
        result = Func(name);
        result(c, g) = cast(op.type, added.running(c, g)[0]);
    };
    add_up(stages.bias_sums, stages.bias_parts, stages.bias_gradient, "gradient_of_bias");
    add_up(stages.weight_sums, stages.weight_parts, stages.weight_gradient, "gradient_of_weight");
}

}  // namespace

GroupNormBackward group_norm_backward(const GroupNormOperands &op, const GroupNormSizes &sizes,
                                      GroupNormParts parts) {
    const bool by_images = parts == GroupNormParts::images;
    GroupNormBackward stages;
    add_up_pixels(op, sizes, parts, stages);
    add_up_parts(op, by_images, stages);
    const Expr first = group * op.channels_of_group();
    const int lanes = sizes.channel_lanes;
    stages.of_channels = lane_sums(
        {"of_channels",
         {group, g, n},
         lanes,
         sizes.channel_width,
         {ceil_div(op.channels_of_group(), lanes), 1, 1},
         2,
         true,
         [&](const Box &place, const Expr &lane) {
             const Expr at = within(first + place[0] * lanes + lane, op.channels);
             const auto sum = [&](int v) {
                 return by_images ? Expr((v == 0 ? stages.bias_sums : stages.weight_sums)(at, g, n))
                                  : value(stages.of_pixels.total, {at, g, n}, v);
             };
             const Expr weight = op.weight(at, g);
             return Values{weight * sum(0), weight * sum(1)};
         },
         [&](const Box &place, const Expr &lane) {
             return likely(place[0] * lanes + lane < op.channels_of_group());
         }});
    stages.factors = of_each_channel("factors", op, [&](const Expr &channel, const Expr &of) {
        const Expr rstd = op.rstd(of, g, n);
        const auto mean_of = [&](int v) {
            return value(stages.of_channels.total, {of, g, n}, v) / op.count();
        };
        return Values{op.mean(of, g, n), rstd * op.weight(channel, g), rstd * mean_of(0),
                      rstd * rstd * mean_of(1)};
    });
    const Tuple factors = stages.factors(c, g, n);
    const Expr distance = strict_float(cast<float>(op.input(c, g, x, y, n)) - factors[0]);
    const Expr dy = cast<float>(op.output_gradient(c, g, x, y, n));
    stages.input_gradient = Func("gradient_of_input");
    stages.input_gradient(c, g, x, y, n) =
        cast(op.type, dy * factors[1] - factors[2] - distance * factors[3]);
    return stages;
}

}  // namespace hk::generators
