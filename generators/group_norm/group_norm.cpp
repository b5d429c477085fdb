#include "generators/group_norm/group_norm.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

using Arguments = std::vector<Expr>;
using Box = std::array<Expr, 3>;

Arguments expressions(const std::vector<Var> &vars) { return {vars.begin(), vars.end()}; }

Arguments with(const Expr &first, Arguments rest) {
    rest.insert(rest.begin(), first);
    return rest;
}

Arguments followed_by(Arguments first, const Arguments &rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

Expr everywhere(const Box &) { return cast<bool>(true); }

Expr within(const Expr &place, const Expr &extent) {
    return unsafe_promise_clamped(place, 0, extent - 1);
}

Expr value(const Func &of, const Arguments &at, int i = 0) {
    return of.outputs() == 1 ? Expr(of(at)) : Expr(of(at)[i]);
}

// What a lane adds up is `terms` of the places in the box that it `has`; their number is that of
// `values`.
template<typename Terms, typename Has>
LaneSums lane_sums(const std::string &name, const std::vector<Var> &arguments, int lanes, int width,
                   const Box &box, size_t values, bool is_long, const Terms &terms,
                   const Has &has) {
    LaneSums stages;
    stages.is_long = is_long;
    const Arguments all = expressions(arguments);
    std::vector<Var> of_lane = arguments;
    of_lane.insert(of_lane.begin(), stages.lane);
    const Arguments at_lane = expressions(of_lane);
    const SumBlocks a(box[0]), b(box[1], kLongestSum / max(a.length, 1)),
        d(box[2], kLongestSum / max(a.length * b.length, 1));
    const Var i(name + "_i"), j(name + "_j"), l(name + "_l");
    RDom &in = stages.in_block;
    in = is_long ? RDom(0, a.length, 0, b.length, 0, d.length, name + "_in_block")
                 : RDom(0, box[0], 0, box[1], 0, box[2], name + "_in_block");
    Box place{in.x, in.y, in.z};
    std::vector<Var> of_block = of_lane;
    if (is_long) {
        of_block.insert(of_block.end(), {i, j, l});
        place = {i * a.length + in.x, j * b.length + in.y, l * d.length + in.z};
        for (size_t axis = 0; axis < 3; axis++) {
            in.where(place[axis] < box[axis]);
            place[axis] = unsafe_promise_clamped(place[axis], 0, box[axis] - 1);
        }
    }
    in.where(has(place, stages.lane));
    stages.block_sum = Func(name + "_of_block");
    const std::vector<Expr> zeros(values, 0.f), added = terms(place, stages.lane);
    stages.block_sum(of_block) = Tuple(zeros);
    std::vector<Expr> sums;
    for (size_t v = 0; v < values; v++)
        sums.push_back(strict_float(
            value(stages.block_sum, expressions(of_block), static_cast<int>(v)) + added[v]));
    stages.block_sum(of_block) = Tuple(sums);

    stages.of_lane = Func(name + "_of_lane");
    std::vector<Expr> results;
    if (is_long) {
        stages.blocks = RDom(0, a.number, 0, b.number, 0, d.number, name + "_blocks");
        const RDom &blocks = stages.blocks;
        stages.running = Func(name + "_running");
        stages.running(of_lane) = Tuple(std::vector<Expr>(2 * values, 0.f));
        std::vector<Expr> next;
        for (size_t v = 0; v < values; v++) {
            const int at = static_cast<int>(v);
            const Expr term = value(stages.block_sum,
                                    followed_by(at_lane, {blocks.x, blocks.y, blocks.z}), at);
            const Tuple sum = add_to_sum({value(stages.running, at_lane, 2 * at),
                                          value(stages.running, at_lane, 2 * at + 1)},
                                         term);
            next.insert(next.end(), {sum[0], sum[1]});
            results.push_back(value(stages.running, at_lane, 2 * at));
        }
        stages.running(of_lane) = Tuple(next);
    } else {
        for (size_t v = 0; v < values; v++)
            results.push_back(value(stages.block_sum, at_lane, static_cast<int>(v)));
    }
    stages.of_lane(of_lane) = Tuple(results);

    stages.folded = Func(name + "_folded");
    stages.total = Func(name);
    const auto of_values = [&](const auto &result) {
        std::vector<Expr> all;
        for (size_t v = 0; v < values; v++) all.push_back(result(static_cast<int>(v)));
        return Tuple(all);
    };
    stages.folded(of_lane) = of_values([&](int v) {
        return tree_sum(lanes / width, [&](int k) {
            return value(stages.of_lane, with(stages.lane + width * k, all), v);
        });
    });
    stages.total(arguments) = of_values([&](int v) {
        return tree_sum(width, [&](int k) { return value(stages.folded, with(k, all), v); });
    });
    return stages;
}

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

// stages.middle, first, about and merged.
void add_blocks(const Blocks &blocks, GroupNorm &stages) {
    const Box block{stages.bx, stages.by, stages.bz}, origin{0, 0, 0};
    std::vector<Var> of_block{stages.bx, stages.by, stages.bz};
    of_block.insert(of_block.end(), blocks.of.begin(), blocks.of.end());
    if (!blocks.of.front().same_as(g)) {  // channels stay innermost
        of_block.erase(of_block.begin() + 3);
        of_block.insert(of_block.begin(), blocks.of.front());
    }
    const auto at = [&](const Box &b) {
        Arguments result;
        for (const Var &var : of_block) {
            result.push_back(var.same_as(stages.bx)   ? b[0]
                             : var.same_as(stages.by) ? b[1]
                             : var.same_as(stages.bz) ? b[2]
                                                      : Expr(var));
        }
        return result;
    };
    const auto sums = [&](const char *name, size_t values, const auto &terms) {
        return lane_sums(name, of_block, blocks.lanes, blocks.width, blocks.lengths, values,
                         blocks.is_long, [&](const Box &place, const Expr &lane) {
                             return terms(blocks.element(block, place, lane));
                         },
                         [&](const Box &place, const Expr &lane) {
                             return blocks.has(block, place, lane);
                         });
    };
    const Expr start = blocks.element(block, origin, 0);
    stages.first = sums("first", 1, [&](const Expr &one) {
        return std::vector<Expr>{strict_float(one - start)};
    });
    stages.middle = Func("middle");
    stages.middle(of_block) =
        strict_float(start + value(stages.first.total, at(block)) / blocks.count(block));
    const Expr middle = stages.middle(at(block));
    stages.about = sums("about", 2, [&](const Expr &one) {
        const Expr distance = strict_float(one - middle);
        return std::vector<Expr>{distance, distance * distance};
    });

    stages.of_block = Func("of_block");
    stages.of_block(of_block) = Tuple(middle, value(stages.about.total, at(block), 0),
                                      value(stages.about.total, at(block), 1));

    stages.merged = Func("merged");
    const auto about = [&](const Box &b, int i) { return value(stages.of_block, at(b), i + 1); };
    const Expr centre = value(stages.of_block, at(origin));
    const auto distance = [&](const Box &b) {
        return strict_float(value(stages.of_block, at(b)) - centre);
    };
    // Sums about the mean, of numbers near it: nothing is cancelled.
    const auto squares = [&](const Box &b) {
        return strict_float(about(b, 1) - about(b, 0) * (about(b, 0) / blocks.count(b)));
    };
    if (blocks.is_one) {
        stages.merged(blocks.of) = Tuple(centre, about(origin, 0) / blocks.total, squares(origin));
        return;
    }
    stages.offsets = blocked_sum(
        blocks.of, 0.f, blocks.numbers,
        [&](const Box &b) { return strict_float(distance(b) * blocks.count(b) + about(b, 0)); },
        everywhere);
    const Expr offset = stages.offsets.running(expressions(blocks.of))[0] / blocks.total;
    stages.squares = blocked_sum(
        blocks.of, 0.f, blocks.numbers,
        [&](const Box &b) {
            const Expr from_mean =
                strict_float(distance(b) + (about(b, 0) / blocks.count(b) - offset));
            return squares(b) + blocks.count(b) * from_mean * from_mean;
        },
        everywhere);
    stages.merged(blocks.of) = Tuple(centre, offset, stages.squares.running(expressions(blocks.of))[0]);
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
                     const std::function<std::vector<Expr>(const Expr &, const Expr &)> &values) {
    Func result(name);
    if (Internal::is_const_one(op.groups)) {
        result(c, g, n) = Tuple(values(c, 0));
        return result;
    }
    const RDom r(0, op.channels_of_group(), 0, op.groups, std::string(name) + "_r");
    const Expr channel =
        unsafe_promise_clamped(r.y * op.channels_of_group() + r.x, 0, op.channels - 1);
    const std::vector<Expr> all = values(channel, r.y);
    std::vector<Expr> nothing;
    for (const Expr &one : all) nothing.push_back(undef(one.type()));
    result(c, g, n) = Tuple(nothing);
    result(channel, g, n) = Tuple(all);
    return result;
}

// From statistics, all that comes after them.
void finish(const GroupNormOperands &op, GroupNorm &stages) {
    const Func &statistics = stages.statistics;
    stages.factors = of_each_channel("factors", op, [&](const Expr &channel, const Expr &of) {
        const Expr factor = statistics(of, g, n)[2] * op.weight(channel, g);
        return std::vector<Expr>{statistics(of, g, n)[0], factor,
                                 strict_float(op.bias(channel, g) -
                                              statistics(of, g, n)[1] * factor)};
    });
    const Tuple factors = stages.factors(c, g, n);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(
        op.type,
        strict_float((cast<float>(op.input(c, g, x, y, n)) - factors[0]) * factors[1] + factors[2]));
    stages.mean = Func("mean_of_group");
    stages.mean(group, g, n) = statistics(group, g, n)[0];
    stages.rstd = Func("rstd_of_group");
    stages.rstd(group, g, n) = statistics(group, g, n)[2];
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

Expr GroupNormOperands::count() const {
    return cast<float>(channels_of_group()) * cast<float>(pixels());
}

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

    // A channel's is the distance of its mean from that of the group's first.
    const Expr first = group * op.channels_of_group();
    const Expr start = stages.merged(first, g, n)[0];
    const auto channel = [&](const Box &place, const Expr &lane) {
        return place[0] * sizes.channel_lanes + lane;
    };
    const auto over_channels = [&](const char *name, const auto &term) {
        return lane_sums(name, {group, g, n}, sizes.channel_lanes, sizes.channel_width,
                         {ceil_div(op.channels_of_group(), sizes.channel_lanes), 1, 1}, 1, true,
                         [&](const Box &place, const Expr &lane) {
                             const Expr at = within(first + channel(place, lane), op.channels);
                             return std::vector<Expr>{term(at)};
                         },
                         [&](const Box &place, const Expr &lane) {
                             return likely(channel(place, lane) < op.channels_of_group());
                         });
    };
    const auto distance = [&](const Expr &at) {
        return strict_float((stages.merged(at, g, n)[0] - start) + stages.merged(at, g, n)[1]);
    };
    stages.channel_offsets = over_channels("channel_offsets", distance);
    const Expr offset = value(stages.channel_offsets.total, {group, g, n}) /
                        cast<float>(op.channels_of_group());
    stages.channel_squares = over_channels("channel_squares", [&](const Expr &at) {
        const Expr from_mean = strict_float(distance(at) - offset);
        return stages.merged(at, g, n)[2] + blocks.total * from_mean * from_mean;
    });
    stages.statistics = Func("statistics");
    stages.statistics(group, g, n) =
        statistics_of(op, start, offset, value(stages.channel_squares.total, {group, g, n}));
    finish(op, stages);
    return stages;
}

GroupNorm group_norm_by_runs(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages;
    Blocks blocks;
    blocks.of = {g, n};
    blocks.lanes = sizes.lanes;
    blocks.width = sizes.width;
    const Box extents = op.nhwc ? Box{op.channels, op.width, op.height}
                                : Box{op.width, op.height, op.channels};
    const int across = sizes.lanes / sizes.down;
    cut({ceil_div(extents[0], across), ceil_div(extents[1], sizes.down), extents[2]}, sizes.block,
        blocks);
    const Box lengths = blocks.lengths;
    const auto at = [=](const Box &b, const Box &place, const Expr &lane) {
        return Box{(b[0] * lengths[0] + place[0]) * across +
                       (sizes.down == 1 ? lane : lane % across),
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
    stages.statistics = Func("statistics");
    stages.statistics(group, g, n) = statistics_of(op, stages.merged(g, n)[0], stages.merged(g, n)[1],
                                                   stages.merged(g, n)[2]);
    finish(op, stages);
    return stages;
}

GroupNormBackward group_norm_backward(const GroupNormOperands &op, const GroupNormSizes &sizes,
                                      GroupNormParts in_parts) {
    const bool by_images = in_parts == GroupNormParts::images;
    GroupNormBackward stages;
    const auto gradient = [&](const Expr &channel, const Expr &px, const Expr &py) {
        return cast<float>(op.output_gradient(channel, g, px, py, n));
    };
    stages.statistics = of_each_channel("statistics", op, [&](const Expr &, const Expr &of) {
        return std::vector<Expr>{op.mean(of, g, n), op.rstd(of, g, n)};
    });
    // A block of threads reaches over the last channel.
    const Expr near = by_images ? min(c, op.channels - 1) : Expr(c);
    const auto normalised = [&](const Expr &px, const Expr &py) {
        const Tuple statistics = stages.statistics(c, g, n);
        return strict_float(cast<float>(op.input(near, g, px, py, n)) - statistics[0]) *
               statistics[1];
    };
    stages.of_pixels = lane_sums(
        "of_pixels", {c, g, n}, sizes.lanes, sizes.width,
        {ceil_div(op.width, sizes.lanes), op.height, 1}, 2,
        in_parts != GroupNormParts::of_few_pixels,
        [&](const Box &place, const Expr &lane) {
            const Expr px = within(place[0] * sizes.lanes + lane, op.width);
            const Expr dy = gradient(near, px, place[1]);
            return std::vector<Expr>{dy, dy * normalised(px, place[1])};
        },
        [&](const Box &place, const Expr &lane) {
            return sizes.lanes == 1 ? cast<bool>(true)
                                    : likely(place[0] * sizes.lanes + lane < op.width);
        });

    const auto sum_of_pixels = [&](int i) { return value(stages.of_pixels.total, {c, g, n}, i); };
    stages.bias_of_part = Func("bias_of_part");
    stages.weight_of_part = Func("weight_of_part");
    Expr parts = op.batch;
    if (by_images) {
        stages.bias_of_part(c, g, n) = sum_of_pixels(0);
        stages.weight_of_part(c, g, n) = sum_of_pixels(1);
    } else {
        parts = ceil_div(op.batch, op.images);
        stages.images = RDom(0, op.images, "images");
        stages.images.where(n * op.images + stages.images < op.batch);
        const Expr image = clamp(n * op.images + stages.images, 0, op.batch - 1);
        const auto of_image = [&](int v) {
            return value(stages.of_pixels.total, {c, g, image}, v);
        };
        stages.bias_of_part(c, g, n) += of_image(0);
        stages.weight_of_part(c, g, n) += of_image(1);
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
    const Expr first = group * op.channels_of_group();
    const int lanes = sizes.channel_lanes;
    stages.of_channels = lane_sums(
        "of_channels", {group, g, n}, lanes, sizes.channel_width,
        {ceil_div(op.channels_of_group(), lanes), 1, 1}, 2, true,
        [&](const Box &place, const Expr &lane) {
            const Expr at = within(first + place[0] * lanes + lane, op.channels);
            const auto sum = [&](int v) {
                return by_images ? Expr((v == 0 ? stages.bias_sums : stages.weight_sums)(at, g, n))
                                 : value(stages.of_pixels.total, {at, g, n}, v);
            };
            const Expr weight = op.weight(at, g);
            return std::vector<Expr>{weight * sum(0), weight * sum(1)};
        },
        [&](const Box &place, const Expr &lane) {
            return likely(place[0] * lanes + lane < op.channels_of_group());
        });
    stages.factors = of_each_channel("factors", op, [&](const Expr &channel, const Expr &of) {
        const Expr rstd = op.rstd(of, g, n);
        const auto mean_of = [&](int v) {
            return value(stages.of_channels.total, {of, g, n}, v) / op.count();
        };
        return std::vector<Expr>{op.mean(of, g, n), rstd * op.weight(channel, g),
                                 rstd * mean_of(0), rstd * rstd * mean_of(1)};
    });
    const Tuple factors = stages.factors(c, g, n);
    const Expr distance = strict_float(cast<float>(op.input(c, g, x, y, n)) - factors[0]);
    stages.input_gradient = Func("gradient_of_input");
    stages.input_gradient(c, g, x, y, n) =
        cast(op.type, gradient(c, x, y) * factors[1] - factors[2] - distance * factors[3]);
    return stages;
}

}  // namespace hk::generators
