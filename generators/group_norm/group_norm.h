#pragma once
// Group normalisation and its gradients; the equations are in hk/group_norm.h.
//
// Index letters are those of generators/image_layout.h; g is a slice of the channels: some whole
// groups that lie next to each other, whose channels are c. `group` is a group of a slice.

#include "generators/group_norm/lane_sums.h"
#include "generators/image_layout.h"

namespace hk::generators {

inline const Halide::Var group{"group"}, pixel{"pixel"}, tile{"tile"};

struct GroupNormOperands {
    Halide::Func input, output_gradient;  // (c, g, x, y, n)
    Halide::Func weight, bias;            // (c, g), f32; 1 and 0 where a call has none
    Halide::Func mean, rstd;              // (group, g, n), of the gradients
    Halide::Expr channels, groups;        // of a slice
    Halide::Expr width, height, batch;
    Halide::Expr epsilon;
    Halide::Expr planes;  // by planes: channels that a row of columns has
    Halide::Expr images;  // of a part, whose gradients of weight and bias are added up first
    Halide::Type type;    // of the images
    bool nhwc;

    Halide::Expr channels_of_group() const { return channels / groups; }
    Halide::Expr pixels() const { return width * height; }
    Halide::Expr count() const {  // elements of a group, f32
        return Halide::cast<float>(channels_of_group()) * Halide::cast<float>(pixels());
    }
};

// (c, g, n): for each channel of a slice the values of its group, which are given the channel and
// the group. In a slice of several groups they are put there, so that no index is divided by the
// size of a group.
Halide::Func of_each_channel(
    const char *name, const GroupNormOperands &operands,
    const std::function<Values(const Halide::Expr &channel, const Halide::Expr &group)> &values);

// Sizes of an algorithm that its schedule chooses. Lane l of a sum has every lanes-th term; `width`
// sets of lanes are left when they are folded.
struct GroupNormSizes {
    bool vectors;                      // what lanes are: what is left over of them is a sum apart
    int lanes, width;                  // of sums over pixels, or over all that a group has
    int down;                          // of the lanes so many along the second dimension
    int channel_lanes, channel_width;  // of sums over a group's channels
    int block;                         // terms of a lane that have a middle of their own; 0: all
    int together = 1;                  // by parts: pixels of a row whose output is made together
    int near = 1, channel_near = 1;    // of lanes those that may be neighbouring channels
    int part_lanes = 1;                // of sums over parts
    bool few_pixels = false;           // which are the outer loops then
    bool short_sums = false;           // a lane has up to kLongestSum terms
    int held = 0;                      // vectors that a lane holds
};

// Elements may lie far from zero and close to each other. So they are taken in blocks, each from
// its `middle`, its mean rounded to f32: no difference of large numbers is left. first has a
// block's elements less the first of them, about the distances from the middle, and their squares;
// of_block is the middle and those sums. merged is of all blocks: the middle of the first, the
// mean's distance from it, and the sum of squares about the mean; by runs of a group, (g, n), by
// channels of a channel, (c, g, n), and channel_offsets and channel_squares merge those of a group.
//
// statistics(group, g, n): the mean in f32, what it is too small by, 1 / deviation. factors(c, g,
// n): the mean in f32, what the distance from it is multiplied by, and what is added.
//
// By parts terms is a block's elements, and loaded those of the output: what schedules keep in
// registers. factors are those of channel c of a group there, (c, group, g, n), and have 1 /
// deviation too; of_channel is of channel c of the slice.
//
// By vectors terms is a vector of a row, whose neighbouring ones are `across` of the lanes, and as
// many rows `down`; where a pixel is held, a lane's elements, from vectors `loaded`. What elements
// are multiplied by and what is added are of_vector of its first column, of_columns of each, which
// differ `after` that where planes are no whole vectors; of nhwc of_columns is of a channel, (c, g,
// n).
struct GroupNorm {
    Halide::Var bx{"bx"}, by{"by"}, bz{"bz"}, lane{"held_lane"};
    LaneSums first, about;
    BlockedSum offsets, squares;
    LaneSums channel_offsets, channel_squares;
    Halide::Func terms, loaded, of_channel;
    Halide::Func of_vector, of_columns;
    Halide::RDom after;
    Halide::Expr across, down;
    Halide::Func middle, of_block, merged, statistics, factors, output, mean, rstd;
};

// By channels lanes are channels, of which a pixel has many next to each other (nhwc). By runs they
// are pixels (nchw), or channels of one group (nhwc), where `down` of the lanes are pixels. A slice
// is one group then.
GroupNorm group_norm_by_channels(const GroupNormOperands &operands, const GroupNormSizes &sizes);
GroupNorm group_norm_by_runs(const GroupNormOperands &operands, const GroupNormSizes &sizes);
// The same in nchw of groups whose channels lie next to each other, as one row, if that has up to
// kMostOfPlanes elements; of others as by runs.
inline constexpr int kMostOfPlanes = 1 << 15, kVectorOfRow = 4;
GroupNorm group_norm_by_planes(const GroupNormOperands &operands, const GroupNormSizes &sizes);
// The same where rows are vectors of `together` columns, and an image of a channel is a row; of
// nhwc the channels of a group are, of a pixel.
GroupNorm group_norm_by_vectors(const GroupNormOperands &operands, const GroupNormSizes &sizes);
// By parts lanes are channels as well (nhwc), and a block is `block` pixels of a row; blocks of all
// channels of a group are merged at once, by channel_lanes, of which `down` are blocks, or more
// where channels are fewer.
GroupNorm group_norm_by_parts(const GroupNormOperands &operands, const GroupNormSizes &sizes);

// of_pixels: of a channel of an image the sums of the output's gradient, and of that times the
// normalised input. of_channels: those of a group, times the weight. factors(c, g, n): what the
// gradient of the input is a sum of. bias_sums and weight_sums(c, g, part) are over the images of a
// part, `part` is in place of n; weight_gradient and bias_gradient add up the parts. By rows
// of_channels are of elements, and of_pixels is none. By parts of pixels `place` is a part's image,
// row and first column, factors are those of channel c of a group, (c, group, g, n), of_channel of
// channel c of the slice, and loaded is what the gradient of an element is made from.
struct GroupNormBackward {
    LaneSums of_pixels, of_channels;
    Halide::Expr across, down;  // of lanes: neighbouring channels, and pixels
    Halide::Expr parts;         // of pixels: their number
    Halide::Func place, statistics, factors, of_channel, loaded, input_gradient;
    Halide::RDom images;
    Halide::Func of_part, bias_sums, weight_sums;
    BlockedSum weight_parts, bias_parts;
    LaneSums weight_lanes, bias_lanes;  // the same, in lanes
    Halide::Func weight_gradient, bias_gradient;
};

// By images a part is an image, and the gradient of the input is made from bias_sums and
// weight_sums, which are in memory. Few pixels, up to kLongestSum, are added up at once. Rows are
// groups of few pixels, in slices of one group; those of a part have up to kLongestSum pixels.
enum class GroupNormParts : uint8_t { of_any_pixels, of_few_pixels, of_rows, images };
GroupNormBackward group_norm_backward(const GroupNormOperands &operands,
                                      const GroupNormSizes &sizes, GroupNormParts parts);
// In slices of one group, for threads: a lane is one of neighbouring channels, or vectors of
// `together` (nhwc), at one of several pixels. A part is an image, whose channels' sums, of_part of
// of_channel, are a group's; groups of few pixels are added up anew.
inline constexpr int kMostChannels = 256;  // of a group, of many pixels
GroupNormBackward group_norm_backward_by_groups(const GroupNormOperands &operands,
                                                const GroupNormSizes &sizes);
// A part is up to so many pixels of a row (nhwc), lanes * block, so that threads are as many as the
// image has elements for, whatever the groups are.
inline constexpr int kPixelsOfPart = 256;
GroupNormBackward group_norm_backward_by_parts(const GroupNormOperands &operands,
                                               const GroupNormSizes &sizes);

}  // namespace hk::generators
