#include "generators/ceil_div.h"
#include "generators/group_norm/blocks.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Var one("one");  // of a vector

// Lane l of `lanes` has one of `across` neighbouring channels, or vectors of them, of a tile of
// `near`, and of the pixels every down()-th. A group of fewer than `near` leaves more lanes to its
// pixels.
class LanesOfTiles {
public:
    LanesOfTiles(const GroupNormOperands &op, int lanes, int near, int vector = 1)
        : op_(op), vectors_(op.channels / vector), lanes_(lanes), near_(near), log_(0) {
        for (int log = 1; 1 << log <= near; log++) log_ += select(vectors_ > 1 << (log - 1), 1, 0);
    }

    Expr across() const { return Expr(1) << log_; }
    Expr down() const { return Expr(lanes_) >> log_; }
    Expr vectors() const { return vectors_; }
    Expr tiles() const { return ceil_div(vectors_, near_); }
    Expr steps() const { return ceil_div(op_.width, down()); }
    Expr vector(const Expr &of_tile, const Expr &lane) const {
        return of_tile * near_ + (lane & (across() - 1));
    }
    Expr pixel(const Expr &step, const Expr &lane) const {
        return step * down() + lane / near_ + (lanes_ / near_) * ((lane % near_) >> log_);
    }

private:
    const GroupNormOperands &op_;
    const Expr vectors_;
    const int lanes_, near_;
    Expr log_;
};

// Lane sums whose loops are pixels, rows and what `box` has last, which few pixels are around.
LaneSums sums_in_order(LaneSumsOf of, bool few_pixels) {
    if (!few_pixels) return lane_sums(of);
    const auto in_order = [](const Box &place) { return Box{place[1], place[2], place[0]}; };
    of.box = {of.box[2], of.box[0], of.box[1]};
    of.terms = [terms = of.terms, in_order](const Box &place, const Expr &lane) {
        return terms(in_order(place), lane);
    };
    of.has = [has = of.has, in_order](const Box &place, const Expr &lane) {
        return has(in_order(place), lane);
    };
    return lane_sums(of);
}

// stages.of_pixels and of_part: the sums of a part's images.
void add_up_part(const GroupNormOperands &op, const GroupNormSizes &sizes,
                 GroupNormBackward &stages) {
    const int size = sizes.together;
    const LanesOfTiles lanes(op, sizes.lanes, sizes.near, size);
    const auto image = [&](const Box &place) { return n * op.images + place[2]; };
    stages.of_pixels = sums_in_order(
        {"of_pixels",
         {one, tile, g, n},
         sizes.lanes,
         sizes.width,
         {lanes.steps(), op.height, op.images},
         2,
         true,
         [&](const Box &place, const Expr &lane) {
             const Expr of = within(image(place), op.batch);
             return gradient_terms(op, {op.mean(0, g, of), op.rstd(0, g, of)},
                                   within(lanes.vector(tile, lane), lanes.vectors()) * size + one,
                                   {within(lanes.pixel(place[0], lane), op.width), place[1], of});
         },
         [&](const Box &place, const Expr &lane) {
             return lanes.vector(tile, lane) < lanes.vectors() &&
                    lanes.pixel(place[0], lane) < op.width && place[1] < op.height &&
                    image(place) < op.batch;
         }},
        sizes.few_pixels);
    stages.across = lanes.across();
    stages.down = lanes.down();
    const RDom r(0, max(sizes.width / lanes.across(), 1), "of_lanes");
    const Expr lane = within(c / size % sizes.near + lanes.across() * r, sizes.width);
    stages.of_part = Func("of_part");
    stages.of_part(c, g, n) = Tuple(0.f, 0.f);
    const Tuple so_far = stages.of_part(c, g, n),
                of_lane = stages.of_pixels.folded(lane, c % size, c / (size * sizes.near), g, n);
    stages.of_part(c, g, n) = Tuple(so_far[0] + of_lane[0], so_far[1] + of_lane[1]);
}

// stages.of_channels: of a group, over its elements.
void add_up_group(const GroupNormOperands &op, const GroupNormSizes &sizes,
                  GroupNormBackward &stages) {
    const LanesOfTiles lanes(op, sizes.channel_lanes, sizes.channel_near);
    const Expr image = min(n, op.batch - 1);  // blocks of threads reach over the last image
    stages.of_channels = sums_in_order(
        {"of_channels",
         {group, g, n},
         sizes.channel_lanes,
         sizes.channel_width,
         {lanes.steps(), op.height, lanes.tiles()},
         2,
         true,
         [&](const Box &place, const Expr &lane) {
             const Expr channel = within(lanes.vector(place[2], lane), op.channels);
             const Values terms =
                 gradient_terms(op, {op.mean(0, g, image), op.rstd(0, g, image)}, channel,
                                {within(lanes.pixel(place[0], lane), op.width), place[1], image});
             return Values{op.weight(channel, g) * terms[0], op.weight(channel, g) * terms[1]};
         },
         [&](const Box &place, const Expr &lane) {
             return lanes.vector(place[2], lane) < op.channels &&
                    lanes.pixel(place[0], lane) < op.width && place[1] < op.height &&
                    place[2] < lanes.tiles();
         }},
        sizes.few_pixels);
}

// stages.of_channels: of a group, over the sums of its channels.
void add_up_channels(const GroupNormOperands &op, const GroupNormSizes &sizes,
                     GroupNormBackward &stages) {
    const int lanes = sizes.channel_lanes;
    const auto channel = [=](const Box &place, const Expr &lane) {
        return place[0] * lanes + lane;
    };
    stages.of_channels = lane_sums(
        {"of_channels",
         {group, g, n},
         lanes,
         sizes.channel_width,
         {ceil_div(op.channels, lanes), 1, 1},
         2,
         true,
         [&](const Box &place, const Expr &lane) {
             const Expr at = within(channel(place, lane), op.channels);
             const Tuple sums = stages.of_part(at, g, n);
             return Values{op.weight(at, g) * sums[0], op.weight(at, g) * sums[1]};
         },
         [&](const Box &place, const Expr &lane) { return channel(place, lane) < op.channels; }});
}

}  // namespace

GroupNormBackward group_norm_backward_by_groups(const GroupNormOperands &op,
                                                const GroupNormSizes &sizes) {
    GroupNormBackward stages;
    add_up_part(op, sizes, stages);
    if (sizes.few_pixels) {
        add_up_group(op, sizes, stages);
    } else {
        stages.of_channel = stages.of_part;
        stages.of_part = Func("of_image");
        stages.of_part(c, g, n) =
            Tuple(stages.of_channel(c, g, n)[0], stages.of_channel(c, g, n)[1]);
        add_up_channels(op, sizes, stages);
    }
    add_up_in_lanes(op, sizes, ceil_div(op.batch, op.images), stages);
    add_input_gradient(op, stages);
    return stages;
}

}  // namespace hk::generators
