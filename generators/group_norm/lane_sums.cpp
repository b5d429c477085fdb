#include "generators/group_norm/lane_sums.h"

using namespace Halide;

namespace hk::generators {

namespace {

Values preceded_by(const Expr &first, Values rest) {
    rest.insert(rest.begin(), first);
    return rest;
}

template<typename F>
Tuple tuple_of(int values, const F &f) {
    Values all;
    for (int v = 0; v < values; v++) all.push_back(f(v));
    return Tuple(all);
}

// block_sum; of long sums for each block, and of these running.
class AddUp {
public:
    AddUp(const LaneSumsOf &of, const std::vector<Var> &arguments, LaneSums &stages)
        : of_(of),
          stages_(stages),
          arguments_(arguments),
          more_(of.rest ? 1 : 0),
          blocks_{SumBlocks(of.box[0], kLongestSum - more_), SumBlocks(0), SumBlocks(0)},
          number_{blocks_[0].number, 1, 1} {
        Expr so_far = blocks_[0].length + more_;
        for (size_t axis = 1; axis < 3; axis++) {
            blocks_[axis] = SumBlocks(of.box[axis], kLongestSum / max(so_far, 1));
            number_[axis] = blocks_[axis].number;
            so_far *= blocks_[axis].length;
        }
        // The rest is the last block's.
        if (of.rest) number_[0] = max(number_[0], 1);
    }

    void add_up() {
        std::vector<Var> of_block = arguments_;
        if (of_.is_long) of_block.insert(of_block.end(), block_.begin(), block_.end());
        const std::string name = of_.name + "_in_block";
        stages_.in_block = RDom(0, extent(0), 0, extent(1), 0, extent(2), name);
        stages_.block_sum = Func(of_.name + "_of_block");
        stages_.block_sum(of_block) = tuple_of(of_.values, [](int) { return 0.f; });
        const Box place = place_of(stages_.in_block);
        stages_.in_block.where(of_.has(place, stages_.lane));
        add_terms(expressions(of_block),
                  of_.held ? held(of_block) : of_.terms(inside(place, of_.masked), stages_.lane));
        if (of_.rest) {
            RDom &rest = stages_.rest;
            rest = RDom(0, of_.rest->lanes, 0, extent(1), 0, extent(2), of_.name + "_rest");
            Box after = place_of(rest);
            after[0] = 0;
            if (of_.is_long) rest.where(block_[0] == number_[0] - 1);
            rest.where(of_.rest->has(after));
            Values at = expressions(of_block);
            at[0] = rest.x;
            add_terms(at, of_.rest->terms(inside(after, true), rest.x));
        }
        if (of_.is_long) add_blocks();
    }

private:
    Expr extent(size_t axis) const { return of_.is_long ? blocks_[axis].length : of_.box[axis]; }

    // Of the last block it may be past the box's end.
    Box place_of(const RDom &in) const { return place_of(Box{in.x, in.y, in.z}); }

    Box place_of(Box place) const {
        for (size_t axis = 0; of_.is_long && axis < 3; axis++)
            place[axis] = block_[axis] * blocks_[axis].length + place[axis];
        return place;
    }

    Box inside(Box place, bool masked = false) const {
        for (size_t axis = 0; of_.is_long && axis < 3; axis++)
            place[axis] = within(place[axis], of_.box[axis], masked);
        return place;
    }

    // stages_.terms at in_block. Its arguments are variables, so that Halide knows which of them a
    // thread holds.
    Values held(std::vector<Var> arguments) {
        const Var y("term_y"), z("term_z");
        arguments.insert(arguments.begin(), stages_.term);
        arguments.insert(arguments.end(), {y, z});
        stages_.terms = Func(of_.name + "_terms");
        stages_.terms(arguments) =
            Tuple(of_.terms(inside(place_of(Box{stages_.term, y, z})), stages_.lane));
        const RDom &in = stages_.in_block;
        Values at = expressions(arguments), result;
        at.front() = in.x;
        at[at.size() - 2] = in.y;
        at.back() = in.z;
        for (int v = 0; v < of_.values; v++) result.push_back(value(stages_.terms, at, v));
        return result;
    }

    void add_terms(const Values &at, const Values &added) {
        stages_.block_sum(at) = tuple_of(of_.values, [&](int v) {
            return strict_float(value(stages_.block_sum, at, v) + added[static_cast<size_t>(v)]);
        });
    }

    void add_blocks() {
        stages_.blocks = RDom(0, number_[0], 0, number_[1], 0, number_[2], of_.name + "_blocks");
        const RDom &blocks = stages_.blocks;
        const Values at_lane = expressions(arguments_);
        Values its_block = at_lane, next;
        its_block.insert(its_block.end(), {blocks.x, blocks.y, blocks.z});
        stages_.running = Func(of_.name + "_running");
        stages_.running(arguments_) = tuple_of(2 * of_.values, [](int) { return 0.f; });
        for (int v = 0; v < of_.values; v++) {
            const Tuple sum = add_to_sum({value(stages_.running, at_lane, 2 * v),
                                          value(stages_.running, at_lane, 2 * v + 1)},
                                         value(stages_.block_sum, its_block, v));
            next.insert(next.end(), {sum[0], sum[1]});
        }
        stages_.running(arguments_) = Tuple(next);
    }

    const LaneSumsOf &of_;
    LaneSums &stages_;
    const std::vector<Var> arguments_;
    const int more_;  // terms of a block and row, of the rest
    std::array<SumBlocks, 3> blocks_;
    Box number_;
    const std::array<Var, 3> block_{Var("block_i"), Var("block_j"), Var("block_l")};
};

}  // namespace

LaneSums lane_sums(const LaneSumsOf &of) {
    LaneSums stages;
    stages.is_long = of.is_long;
    stages.has_rest = of.rest.has_value();
    std::vector<Var> of_lane = of.arguments;
    of_lane.insert(of_lane.begin(), stages.lane);
    AddUp(of, of_lane, stages).add_up();
    const Values all = expressions(of.arguments), at_lane = expressions(of_lane);
    stages.of_lane = Func(of.name + "_of_lane");
    stages.of_lane(of_lane) = tuple_of(of.values, [&](int v) {
        return of.is_long ? value(stages.running, at_lane, 2 * v)
                          : value(stages.block_sum, at_lane, v);
    });
    stages.folded = Func(of.name + "_folded");
    stages.folded(of_lane) = tuple_of(of.values, [&](int v) {
        return tree_sum(of.lanes / of.width, [&](int k) {
            return value(stages.of_lane, preceded_by(stages.lane + of.width * k, all), v);
        });
    });
    stages.total = Func(of.name);
    stages.total(of.arguments) = tuple_of(of.values, [&](int v) {
        return tree_sum(of.width,
                        [&](int k) { return value(stages.folded, preceded_by(k, all), v); });
    });
    return stages;
}

}  // namespace hk::generators
