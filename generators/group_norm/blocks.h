#pragma once
// What algorithms of group normalisation are put together from.

#include "generators/group_norm/group_norm.h"

namespace hk::generators {

// What is looked at together of a group or of a channel: blocks of a box, whose number is
// `numbers`. `element` of a lane at a place in a block, where the block `has` one there;
// `count`: how many it has.
struct Blocks {
    std::vector<Halide::Var> of;  // group or channel; blocks come before it
    Box lengths, numbers;
    bool is_long, is_one;  // terms are more than kLongestSum; there is one block
    int lanes, width;
    using Place =
        std::function<Halide::Expr(const Box &block, const Box &place, const Halide::Expr &lane)>;
    Place element, has;
    Halide::Expr start = {};  // an element of all blocks; else of each its first
    bool masked;  // group or channel is a vector
    bool held = false;  // terms are stages
    // Of lanes that are vectors: elements and places of the rest.
    Place element_of_rest;
    std::function<Halide::Expr(const Box &block, const Box &place)> has_rest;
    Halide::Expr lanes_of_rest;
    std::function<Halide::Expr(const Box &block)> count;
    Halide::Expr total;  // count of all blocks
};

// stages.first, middle, about and of_block.
void add_blocks(const Blocks &blocks, GroupNorm &stages);

// Of slices of one group statistics, from all of its blocks.
void add_statistics(const GroupNormOperands &op, const Blocks &blocks, GroupNorm &stages);
GroupNorm statistics_of_runs(const GroupNormOperands &op, const GroupNormSizes &sizes);

// mean, what it is too small by, 1 / deviation.
Halide::Tuple statistics_of(const GroupNormOperands &op, const Halide::Expr &start,
                            const Halide::Expr &offset, const Halide::Expr &squares);

// Of a channel, from the statistics of its group.
Values factors_of(const GroupNormOperands &op, const Halide::Tuple &statistics,
                  const Halide::Expr &channel);

// stages.output: of the input's `value`, in f32.
void add_output(const GroupNormOperands &op, const Halide::Expr &value,
                const Halide::Tuple &factors, GroupNorm &stages);

// The output's gradient of an element, and that times the normalised input.
Values gradient_terms(const GroupNormOperands &op, const Halide::Tuple &mean_rstd,
                      const Halide::Expr &channel, const Box &at);  // pixel and image

// What the gradient of an element is a sum of: for its channel, from `sums`, the values of
// of_channels of its group, and from those factors.
Values gradient_factors(const GroupNormOperands &op, const Values &sums,
                        const Halide::Expr &channel, const Halide::Expr &of_group);
Halide::Expr gradient_of(const GroupNormOperands &op, const Halide::Expr &output_gradient,
                         const Halide::Expr &input, const Halide::Tuple &factors);

// Sums of a group over the parts of its channels, whose `numbers` are those of a row and of rows.
// Lanes are neighbouring channels, and `down` of them parts, or more where channels are fewer.
LaneSums sums_over_parts(
    const char *name, const GroupNormOperands &op, const GroupNormSizes &sizes, const Box &numbers,
    int values, const std::function<Values(const Halide::Expr &channel, const Box &part)> &terms);

// From of_part of so many parts, what comes after it, in lanes.
void add_up_in_lanes(const GroupNormOperands &op, const GroupNormSizes &sizes,
                     const Halide::Expr &parts, GroupNormBackward &stages);

// stages.factors and input_gradient, from of_channels.
void add_input_gradient(const GroupNormOperands &op, GroupNormBackward &stages);

// stages.mean and rstd, of a group.
void add_saved(const Halide::Expr &mean, const Halide::Expr &rstd, GroupNorm &stages);

}  // namespace hk::generators
