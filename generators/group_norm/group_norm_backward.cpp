#include "generators/group_norm/blocks.h"

using namespace Halide;

namespace hk::generators {

Values gradient_terms(const GroupNormOperands &op, const Tuple &mean_rstd, const Expr &channel,
                      const Box &at) {
    const Expr dy = cast<float>(op.output_gradient(channel, g, at[0], at[1], at[2]));
    const Expr distance =
        strict_float(cast<float>(op.input(channel, g, at[0], at[1], at[2])) - mean_rstd[0]);
    return {dy, dy * (distance * mean_rstd[1])};
}

Values gradient_factors(const GroupNormOperands &op, const Values &sums, const Expr &channel,
                        const Expr &of_group) {
    const Expr rstd = op.rstd(of_group, g, n);
    return {op.mean(of_group, g, n), rstd * op.weight(channel, g), rstd * (sums[0] / op.count()),
            rstd * rstd * (sums[1] / op.count())};
}

Expr gradient_of(const GroupNormOperands &op, const Expr &output_gradient, const Expr &input,
                 const Tuple &factors) {
    const Expr distance = strict_float(input - factors[0]);
    return cast(op.type, output_gradient * factors[1] - factors[2] - distance * factors[3]);
}

void add_input_gradient(const GroupNormOperands &op, GroupNormBackward &stages) {
    stages.factors = of_each_channel("factors", op, [&](const Expr &channel, const Expr &of) {
        const Func &total = stages.of_channels.total;
        return gradient_factors(op, {value(total, {of, g, n}, 0), value(total, {of, g, n}, 1)},
                                channel, of);
    });
    const auto in_f32 = [](const Func &image) { return cast<float>(image(c, g, x, y, n)); };
    stages.input_gradient = Func("gradient_of_input");
    stages.input_gradient(c, g, x, y, n) =
        gradient_of(op, in_f32(op.output_gradient), in_f32(op.input), stages.factors(c, g, n));
}

namespace {

// stages.of_pixels.
void add_up_pixels(const GroupNormOperands &op, const GroupNormSizes &sizes, GroupNormParts parts,
                   GroupNormBackward &stages) {
    stages.statistics = of_each_channel("statistics", op, [&](const Expr &, const Expr &of) {
        return Values{op.mean(of, g, n), op.rstd(of, g, n)};
    });
    const int lanes = sizes.lanes;
    const bool with_rest = sizes.vectors && lanes > 1, masked = sizes.vectors && lanes == 1;
    // A block of threads reaches over the last channel.
    const Expr near = parts == GroupNormParts::images ? min(c, op.channels - 1) : Expr(c);
    const Expr steps = with_rest ? op.width / lanes : ceil_div(op.width, lanes);
    const auto terms = [&](const Expr &px, const Box &place) {
        return gradient_terms(op, stages.statistics(c, g, n), near, {px, place[1], n});
    };
    LaneSumsOf of = {"of_pixels",
                     {c, g, n},
                     lanes,
                     sizes.width,
                     {steps, op.height, 1},
                     2,
                     parts != GroupNormParts::of_few_pixels,
                     [&](const Box &place, const Expr &lane) {
                         return terms(within(place[0] * lanes + lane, op.width, masked), place);
                     },
                     [&](const Box &place, const Expr &lane) {
                         const Expr has = lanes == 1 || with_rest
                                              ? place[0] < steps
                                              : likely(place[0] * lanes + lane < op.width);
                         return has && place[1] < op.height;
                     },
                     masked};
    if (with_rest) {
        of.rest = Rest{
            op.width % lanes,
            [&](const Box &place, const Expr &lane) { return terms(steps * lanes + lane, place); },
            [&](const Box &place) { return place[1] < op.height; }};
    }
    stages.of_pixels = lane_sums(of);
}

// The sums of a part of the images, and the gradients of weight and bias.
void add_up_parts(const GroupNormOperands &op, GroupNormParts kind, GroupNormBackward &stages) {
    const auto of_image = [&](const Expr &image) {
        return Values{value(stages.of_pixels.total, {c, g, image}, 0),
                      value(stages.of_pixels.total, {c, g, image}, 1)};
    };
    stages.of_part = Func("of_part");
    const Func &of_part = stages.of_part;
    const Expr parts = ceil_div(op.batch, op.images);
    if (kind == GroupNormParts::images) {
        stages.of_part(c, g, n) = Tuple(of_image(n));
    } else {
        const bool of_rows = kind == GroupNormParts::of_rows;
        RDom &r = stages.images;
        r = of_rows ? RDom(0, op.width, 0, op.height, 0, op.images, "images")
                    : RDom(0, 1, 0, 1, 0, op.images, "images");
        r.where(n * op.images + r.z < op.batch);
        const Expr image = clamp(n * op.images + r.z, 0, op.batch - 1);
        const Values added = of_rows
                                 ? gradient_terms(op, {op.mean(0, g, image), op.rstd(0, g, image)},
                                                  c, {r.x, r.y, image})
                                 : of_image(image);
        stages.of_part(c, g, n) = Tuple(0.f, 0.f);
        stages.of_part(c, g, n) =
            Tuple(of_part(c, g, n)[0] + added[0], of_part(c, g, n)[1] + added[1]);
    }
    stages.bias_sums = Func("sums_of_bias");
    stages.bias_sums(c, g, n) = of_part(c, g, n)[0];
    stages.weight_sums = Func("sums_of_weight");
    stages.weight_sums(c, g, n) = of_part(c, g, n)[1];
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

namespace {

// stages.of_channels: of a group the sums over its channels' sums, or over its elements.
void add_up_channels(const GroupNormOperands &op, const GroupNormSizes &sizes, GroupNormParts parts,
                     GroupNormBackward &stages) {
    const Expr channels = op.channels_of_group(), first = group * channels;
    const int lanes = sizes.channel_lanes;
    const bool of_rows = parts == GroupNormParts::of_rows;
    const auto sums = [&](const Expr &at, const Box &place) {
        if (of_rows)
            return gradient_terms(op, {op.mean(0, g, n), op.rstd(0, g, n)}, at,
                                  {place[1], place[2], n});
        if (parts == GroupNormParts::images)
            return Values{stages.bias_sums(at, g, n), stages.weight_sums(at, g, n)};
        return Values{value(stages.of_pixels.total, {at, g, n}, 0),
                      value(stages.of_pixels.total, {at, g, n}, 1)};
    };
    const Expr steps = of_rows ? channels / lanes : ceil_div(channels, lanes);
    const auto terms = [&](const Expr &at, const Box &place) {
        const Values added = sums(at, place);
        return Values{op.weight(at, g) * added[0], op.weight(at, g) * added[1]};
    };
    const auto has_row = [&](const Box &place) {
        return place[1] < op.width && place[2] < op.height;
    };
    LaneSumsOf of = {"of_channels",
                     {group, g, n},
                     lanes,
                     sizes.channel_width,
                     of_rows ? Box{steps, op.width, op.height} : Box{steps, 1, 1},
                     2,
                     true,
                     [&](const Box &place, const Expr &lane) {
                         return terms(within(first + place[0] * lanes + lane, op.channels), place);
                     },
                     [&](const Box &place, const Expr &lane) {
                         return of_rows ? place[0] < steps && has_row(place)
                                        : likely(place[0] * lanes + lane < channels);
                     }};
    if (of_rows) {
        of.rest = Rest{
            channels % lanes,
            [&](const Box &place, const Expr &lane) { return terms(steps * lanes + lane, place); },
            has_row};
    }
    stages.of_channels = lane_sums(of);
}

}  // namespace

GroupNormBackward group_norm_backward(const GroupNormOperands &op, const GroupNormSizes &sizes,
                                      GroupNormParts parts) {
    GroupNormBackward stages;
    if (parts != GroupNormParts::of_rows) add_up_pixels(op, sizes, parts, stages);
    add_up_parts(op, parts, stages);
    add_up_channels(op, sizes, parts, stages);
    add_input_gradient(op, stages);
    return stages;
}

}  // namespace hk::generators
