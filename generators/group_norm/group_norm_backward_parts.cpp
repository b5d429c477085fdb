#include "generators/ceil_div.h"
#include "generators/group_norm/blocks.h"
#include "generators/quotient.h"

using namespace Halide;

namespace hk::generators {

void add_up_in_lanes(const GroupNormOperands &op, const GroupNormSizes &sizes, const Expr &parts,
                     GroupNormBackward &stages) {
    stages.bias_sums = Func("sums_of_bias");
    stages.bias_sums(c, g, n) = stages.of_part(c, g, n)[0];
    stages.weight_sums = Func("sums_of_weight");
    stages.weight_sums(c, g, n) = stages.of_part(c, g, n)[1];
    const Expr inside = min(c, op.channels - 1);  // blocks of threads reach over the last channel
    const auto part = [&](const Box &place, const Expr &lane) {
        return place[0] * sizes.part_lanes + lane;
    };
    const auto add_up = [&](const Func &sums, LaneSums &added, Func &result, const char *name) {
        added = lane_sums(
            {std::string(name) + "_parts",
             {c, g},
             sizes.part_lanes,
             1,
             {ceil_div(parts, sizes.part_lanes), 1, 1},
             1,
             true,
             [&](const Box &place, const Expr &lane) {
                 return Values{sums(inside, g, within(part(place, lane), parts))};
             },
             [&](const Box &place, const Expr &lane) { return part(place, lane) < parts; }});
        result = Func(name);
        result(c, g) = cast(op.type, value(added.total, {c, g}));
    };
    add_up(stages.bias_sums, stages.bias_lanes, stages.bias_gradient, "gradient_of_bias");
    add_up(stages.weight_sums, stages.weight_lanes, stages.weight_gradient, "gradient_of_weight");
}

namespace {

// Parts of an image are so many pixels of a row each. They are numbered by rows, and images.
class PartsOfImages {
public:
    PartsOfImages(const GroupNormOperands &op, int pixels) : op_(op), pixels_(pixels) {}

    Expr of_row() const { return ceil_div(op_.width, pixels_); }
    Expr of_image() const { return of_row() * op_.height; }
    Expr number() const { return of_image() * op_.batch; }
    Expr number_of(const Expr &image, const Box &part) const {
        return within(image * of_image() + part[1] * of_row() + part[0], number());
    }
    Expr image(const Expr &part) const {
        return within(whole_quotient(part, of_image()), op_.batch);
    }
    Expr row(const Expr &part) const {
        return within(whole_quotient(of_image(part), of_row()), op_.height);
    }
    Expr column(const Expr &part) const {
        return (of_image(part) - whole_quotient(of_image(part), of_row()) * of_row()) * pixels_;
    }

private:
    Expr of_image(const Expr &part) const {
        return part - whole_quotient(part, of_image()) * of_image();
    }

    const GroupNormOperands &op_;
    const int pixels_;
};

// A channel's group, of a slice.
Expr group_of(const GroupNormOperands &op, const Expr &channel) {
    return within(whole_quotient(channel, op.channels_of_group()), op.groups);
}

// stages.of_pixels and of_part: of a channel, whose part n is. Past a row's end its last pixel is
// read, and 0 added: no load waits for a condition.
void add_up_pixels(const GroupNormOperands &op, const GroupNormSizes &sizes,
                   const PartsOfImages &parts, GroupNormBackward &stages) {
    const Expr channel = min(c, op.channels - 1);  // blocks of threads reach over the last one
    stages.place = Func("place");
    stages.place(n) = Tuple(parts.image(n), parts.row(n), parts.column(n));
    const FuncRef place_of_part = stages.place(n);
    const Expr image = within(place_of_part[0], op.batch), first = place_of_part[2];
    const Expr row = within(place_of_part[1], op.height);
    stages.statistics = Func("statistics");
    const Expr its = group_of(op, channel);
    stages.statistics(c, g, n) = Tuple(op.mean(its, g, image), op.rstd(its, g, image));
    stages.of_pixels = lane_sums({"of_pixels",
                                  {c, g, n},
                                  sizes.lanes,
                                  sizes.width,
                                  {sizes.block, 1, 1},
                                  2,
                                  false,
                                  [&](const Box &place, const Expr &lane) {
                                      const Expr column = first + place[0] * sizes.lanes + lane;
                                      const Expr inside =
                                          within(min(column, op.width - 1), op.width);
                                      Values terms = gradient_terms(op, stages.statistics(c, g, n),
                                                                    channel, {inside, row, image});
                                      for (Expr &term : terms)
                                          term = select(column < op.width, term, 0.f);
                                      return terms;
                                  },
                                  [&](const Box &, const Expr &) { return everywhere({}); }});
    stages.of_part = Func("of_part");
    stages.of_part(c, g, n) = stages.of_pixels.total(c, g, n);
}

// stages.factors, of_channel, loaded and input_gradient.
void add_input_gradient_of_parts(const GroupNormOperands &op, const GroupNormSizes &sizes,
                                 GroupNormBackward &stages) {
    const Func &total = stages.of_channels.total;
    stages.factors = Func("factors");
    stages.factors(c, group, g, n) =
        Tuple(gradient_factors(op, {value(total, {group, g, n}, 0), value(total, {group, g, n}, 1)},
                               within(group * op.channels_of_group() + c, op.channels), group));
    const Expr its = group_of(op, c);
    stages.of_channel = Func("of_channel");
    stages.of_channel(c, g, n) =
        stages.factors(within(c - its * op.channels_of_group(), op.channels_of_group()), its, g,
                       within(n, op.batch));
    // What a thread has of a row is loaded before any of it is stored.
    const Expr its_first = x / sizes.together * sizes.together;
    const Expr column = within(select(x < op.width, x, its_first), op.width, true);
    stages.loaded = Func("loaded");
    stages.loaded(c, g, x, y, n) = Tuple(cast<float>(op.output_gradient(c, g, column, y, n)),
                                         cast<float>(op.input(c, g, column, y, n)));
    const FuncRef loaded = stages.loaded(c, g, x, y, n);
    stages.input_gradient = Func("gradient_of_input");
    stages.input_gradient(c, g, x, y, n) =
        gradient_of(op, loaded[0], loaded[1], stages.of_channel(c, g, n));
}

}  // namespace

GroupNormBackward group_norm_backward_by_parts(const GroupNormOperands &op,
                                               const GroupNormSizes &sizes) {
    GroupNormBackward stages;
    const PartsOfImages parts(op, kPixelsOfPart);
    stages.parts = parts.number();
    add_up_pixels(op, sizes, parts, stages);
    add_up_in_lanes(op, sizes, parts.number(), stages);
    stages.of_channels = sums_over_parts(
        "of_channels", op, sizes, {parts.of_row(), op.height, 1}, 2,
        [&](const Expr &channel, const Box &part) {
            const Expr weight = op.weight(channel, g), number = parts.number_of(n, part);
            return Values{weight * stages.bias_sums(channel, g, number),
                          weight * stages.weight_sums(channel, g, number)};
        });
    add_input_gradient_of_parts(op, sizes, stages);
    return stages;
}

}  // namespace hk::generators
