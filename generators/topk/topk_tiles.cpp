#include "generators/topk/topk_tiles.h"

#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Some steps of the network on places v = 0..7 of a lane, which are `gap` apart: in each, v meets
// v ^ step, and the lower place gets the better item. A mirrored round starts the merge of two
// sorted halves, whose first step is 7: places of the upper half count backwards.
struct Round {
    int gap;
    bool mirrored;
    std::vector<int> steps;
};

std::vector<Round> network(int tile) {
    std::vector<Round> rounds = {{1, false, {1, 3, 1}}, {1, false, {7, 2, 1}}};
    for (int merged = 16; merged <= tile; merged *= 2) {
        rounds.push_back({merged / 8, true, {7, 2, 1}});
        int distance = merged / 16;
        for (; distance >= 4; distance /= 8) rounds.push_back({distance / 4, false, {4, 2, 1}});
        if (distance == 2) rounds.push_back({1, false, {2, 1}});
        if (distance == 1) rounds.push_back({1, false, {1}});
    }
    return rounds;
}

std::vector<Expr> places_of(const Round &round, const Expr &lane) {
    const Expr group = lane / round.gap, rest = lane % round.gap;
    std::vector<Expr> places;
    for (int v = 0; v < TopKTiles::slots; v++) {
        const Expr offset = round.mirrored && v >= 4 ? round.gap - 1 - rest : rest;
        places.push_back(group * (TopKTiles::slots * round.gap) + v * round.gap + offset);
    }
    return places;
}

void exchange(std::vector<TopKItem> &items, const std::vector<int> &steps) {
    for (const int step : steps) {
        for (int low = 0; low < TopKTiles::slots; low++) {
            const int high = low ^ step;
            if (high < low) continue;
            const Expr swap = topk_beats(items[high], items[low]);
            const TopKItem better = topk_select(swap, items[high], items[low]);
            items[high] = topk_select(swap, items[low], items[high]);
            items[low] = better;
        }
    }
}

// One value of all items, for the places that are written to.
Tuple gathered(const std::vector<TopKItem> &items) {
    std::vector<Expr> values;
    for (size_t value = 0; value < items[0].size(); value++) {
        std::vector<Expr> of_items;
        for (const TopKItem &item : items) of_items.push_back(item[value]);
        values.push_back(gather(of_items));
    }
    return Tuple(values);
}

// first: the element that an item's column begins with, or the row's end. Indices count in 32 bits
// without a sign: past the end of a row of almost 2^31 elements.
void define_first(TopKTiles &stages, const TopKTilesOperands &op, int tile) {
    const auto u32 = [](const Expr &e) { return cast<uint32_t>(e); };
    const Var &slot = stages.slot, &lane = stages.lane, &t = stages.tile;
    const Var &x = stages.x, &y = stages.y;
    const Expr item = u32(t) * tile + u32(slot * (tile / TopKTiles::slots) + lane);
    const Expr end = u32(op.columns), stride = u32(op.stride), listed = u32(op.listed);
    const Expr place = clamp(cast<int32_t>(item % listed), 0, op.listed - 1);
    const Expr named = if_present(op.gather, u32(op.list(place, x, y)), u32(0)),
               nth = item / listed;
    const Expr of_list =
        select(named < end && nth < u32(op.chunk), named % stride + nth * stride, end);
    stages.first = Func("first");
    stages.first(slot, lane, t, x, y) =
        select(op.gather, of_list, select(item < stride, item, end));
}

void define_best(TopKTiles &stages, const TopKTilesOperands &op) {
    const auto u32 = [](const Expr &e) { return cast<uint32_t>(e); };
    const Var &slot = stages.slot, &lane = stages.lane, &t = stages.tile;
    const Var &x = stages.x, &y = stages.y;
    const std::vector<Type> types = topk_item_types(op.type, op.indices);
    stages.r = RDom(0, select(op.gather, 1, op.chunk), "element");
    const Expr element = stages.first(slot, lane, t, x, y) + u32(stages.r) * u32(op.stride);
    const Expr index = cast<int32_t>(element);
    const Expr bits = op.input(clamp(index, 0, op.columns - 1), x, y);
    const TopKItem padding = topk_padding(types);
    const TopKItem next =
        topk_select(element < u32(op.columns),
                    topk_item(cast(types[0], op.keys.key(bits)), index, op.indices), padding);
    stages.best = Func("best");
    stages.best(slot, lane, t, x, y) = Tuple(padding);
    const TopKItem held = topk_item(stages.best(slot, lane, t, x, y));
    stages.best(slot, lane, t, x, y) = Tuple(topk_select(topk_beats(next, held), next, held));
}

}  // namespace

TopKTiles topk_tiles(const TopKTilesOperands &op, int tile) {
    TopKTiles stages;
    define_first(stages, op, tile);
    define_best(stages, op);
    const Var &t = stages.tile, &x = stages.x, &y = stages.y;
    stages.sorted = Func("sorted");
    std::vector<Expr> undefined;
    for (const Type &type : topk_item_types(op.type, op.indices)) undefined.push_back(undef(type));
    stages.sorted(stages.place, t, x, y) = Tuple(undefined);
    for (const Round &round : network(tile)) {
        const bool first = stages.rounds.empty();
        const RDom r(0, tile / TopKTiles::slots, "lane" + std::to_string(stages.rounds.size()));
        std::vector<Expr> positions;
        std::vector<TopKItem> items;
        for (const Expr &place : places_of(round, r)) {
            const int v = static_cast<int>(items.size());
            positions.push_back(TopKTiles::position(place));
            items.push_back(first ? topk_item(stages.best(v, r, t, x, y))
                                  : topk_item(stages.sorted(positions.back(), t, x, y)));
        }
        exchange(items, round.steps);
        stages.sorted(scatter(positions), t, x, y) = gathered(items);
        stages.rounds.push_back(r);
    }
    stages.items = Func("items");
    stages.items(stages.place, t, x, y) =
        Tuple(topk_item(stages.sorted(TopKTiles::position(stages.place), t, x, y)));
    return stages;
}

}  // namespace hk::generators
