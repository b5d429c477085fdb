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

// block_sum, and of long sums running.
void add_up(const LaneSumsOf &of, const std::vector<Var> &arguments, LaneSums &stages) {
    const Box &box = of.box;
    const SumBlocks a(box[0]), b(box[1], kLongestSum / max(a.length, 1)),
        d(box[2], kLongestSum / max(a.length * b.length, 1));
    const Var i(of.name + "_i"), j(of.name + "_j"), l(of.name + "_l");
    RDom &in = stages.in_block;
    in = of.is_long ? RDom(0, a.length, 0, b.length, 0, d.length, of.name + "_in_block")
                    : RDom(0, box[0], 0, box[1], 0, box[2], of.name + "_in_block");
    Box place{in.x, in.y, in.z};
    std::vector<Var> of_block = arguments;
    if (of.is_long) {
        of_block.insert(of_block.end(), {i, j, l});
        place = {i * a.length + in.x, j * b.length + in.y, l * d.length + in.z};
        for (size_t axis = 0; axis < 3; axis++) {
            in.where(place[axis] < box[axis]);
            place[axis] = within(place[axis], box[axis]);
        }
    }
    in.where(of.has(place, stages.lane));
    stages.block_sum = Func(of.name + "_of_block");
    const Values added = of.terms(place, stages.lane), at_block = expressions(of_block);
    stages.block_sum(of_block) = tuple_of(of.values, [](int) { return 0.f; });
    stages.block_sum(of_block) = tuple_of(of.values, [&](int v) {
        return strict_float(value(stages.block_sum, at_block, v) + added[static_cast<size_t>(v)]);
    });
    if (!of.is_long) return;
    stages.blocks = RDom(0, a.number, 0, b.number, 0, d.number, of.name + "_blocks");
    const RDom &blocks = stages.blocks;
    const Values at_lane = expressions(arguments);
    Values its_block = at_lane, next;
    its_block.insert(its_block.end(), {blocks.x, blocks.y, blocks.z});
    stages.running = Func(of.name + "_running");
    stages.running(arguments) = tuple_of(2 * of.values, [](int) { return 0.f; });
    for (int v = 0; v < of.values; v++) {
        const Tuple sum = add_to_sum(
            {value(stages.running, at_lane, 2 * v), value(stages.running, at_lane, 2 * v + 1)},
            value(stages.block_sum, its_block, v));
        next.insert(next.end(), {sum[0], sum[1]});
    }
    stages.running(arguments) = Tuple(next);
}

}  // namespace

LaneSums lane_sums(const LaneSumsOf &of) {
    LaneSums stages;
    stages.is_long = of.is_long;
    std::vector<Var> of_lane = of.arguments;
    of_lane.insert(of_lane.begin(), stages.lane);
    add_up(of, of_lane, stages);
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
