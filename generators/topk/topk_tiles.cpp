#include "generators/topk/topk_tiles.h"

#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

namespace {

// What sorted holds of an item, which is one number where a key of 32 bits has an index: the
// complement of the index comes after the key.
TopKItem packed(const TopKItem &item) {
    if (item.size() == 1 || item[0].type().bits() > 32) return item;
    return {cast<uint64_t>(item[0]) << 32 | cast<uint64_t>(~reinterpret<uint32_t>(item[1]))};
}

TopKItem unpacked(const TopKItem &held, const std::vector<Type> &types) {
    if (held.size() == types.size()) return held;
    return {cast<uint32_t>(held[0] >> 32),
            reinterpret<int32_t>(~cast<uint32_t>(held[0] & UInt(32).max()))};
}

// Some steps of the network on the places of a lane, which are `gap` apart: in each, v meets
// v ^ step, and the lower place gets the better item. A mirrored round starts the merge of two
// sorted halves, whose first step is all ones: places of the upper half count backwards.
//
// A round that prunes has twice the places, of two lists; of what its first step finds the worse
// half is dropped. The other halves become the first of the lists' places, or the second: those
// `from` which it reads are not those that it writes `to`.
struct Round {
    int gap;
    bool mirrored;
    std::vector<int> steps;
    int items;  // that it reads
    int from = 0, to = 0;
    bool prunes = false;

    int slots() const { return (prunes ? 2 : 1) * TopKTiles::slots; }
    int lanes() const { return items / slots(); }
};

// The steps of a merge from places `distance` apart on.
void add_steps(int distance, const Round &of, std::vector<Round> &rounds) {
    const auto add = [&](int gap, const std::vector<int> &steps) {
        rounds.push_back({gap, false, steps, of.items, of.to, of.to});
    };
    for (; distance >= 4; distance /= 8) add(distance / 4, {4, 2, 1});
    if (distance == 2) add(1, {2, 1});
    if (distance == 1) add(1, {1});
}

// The tile in sorted lists of `keep`, then the best of two lists, until there is one.
std::vector<Round> network(int tile, int keep) {
    std::vector<Round> rounds = {{1, false, {1, 3, 1, 7, 2, 1}, tile}};
    for (int merged = 16; merged <= keep; merged *= 2) {
        rounds.push_back({merged / 8, true, {7, 2, 1}, tile});
        add_steps(merged / 16, rounds.back(), rounds);
    }
    for (int items = tile, from = 0; items > keep; items /= 2) {
        const int to = tile - from;
        rounds.push_back({keep / 8, true, {15, 4, 2, 1}, items, from, to, true});
        add_steps(keep / 16, {0, false, {}, items / 2, to, to}, rounds);
        from = to;
    }
    return rounds;
}

std::vector<Expr> places_of(const Round &round, const Expr &lane) {
    const Expr group = lane / round.gap, rest = lane % round.gap;
    std::vector<Expr> places;
    for (int v = 0; v < round.slots(); v++) {
        const Expr offset = round.mirrored && v >= round.slots() / 2 ? round.gap - 1 - rest : rest;
        places.push_back(round.from + group * (round.slots() * round.gap) + v * round.gap + offset);
    }
    return places;
}

std::vector<Expr> places_written(const Round &round, const Expr &lane) {
    if (!round.prunes) return places_of(round, lane);
    Round kept = round;
    kept.prunes = kept.mirrored = false;
    kept.from = round.to;
    return places_of(kept, lane);
}

void exchange(std::vector<TopKItem> &items, const Round &round) {
    for (const int step : round.steps) {
        for (int low = 0; low < static_cast<int>(items.size()); low++) {
            const int high = low ^ step;
            if (high < low) continue;
            const TopKItem a = items[low], b = items[high];
            if (a.size() == 1) {
                items[low] = {max(a[0], b[0])};
                items[high] = {min(a[0], b[0])};
            } else {
                const Expr swap = topk_beats(b, a);
                items[low] = topk_select(swap, b, a);
                items[high] = topk_select(swap, a, b);
            }
        }
        if (round.prunes) items.resize(TopKTiles::slots);
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
    const Expr named = u32(op.list(place, x, y)), nth = item / listed;
    const Expr of_list =
        select(named < end && nth < u32(op.chunk), named % stride + nth * stride, end);
    stages.first = Func("first");
    stages.first(slot, lane, t, x, y) =
        if_present(op.gather, of_list, select(item < stride, item, end));
}

void define_best(TopKTiles &stages, const TopKTilesOperands &op) {
    const auto u32 = [](const Expr &e) { return cast<uint32_t>(e); };
    const Var &slot = stages.slot, &lane = stages.lane, &t = stages.tile;
    const Var &x = stages.x, &y = stages.y;
    const std::vector<Type> types = topk_item_types(op.type, op.indices);
    // From the last on: of equal keys the lower index is met later, and an element beats what pads.
    const Expr elements = select(op.gather, 1, op.chunk);
    stages.r = RDom(0, elements, "element");
    const Expr element =
        stages.first(slot, lane, t, x, y) + u32(elements - 1 - stages.r) * u32(op.stride);
    const Expr index = cast<int32_t>(element);
    const Expr inside = cast<int32_t>(min(element, u32(op.columns - 1)));
    const Expr bits = op.input(unsafe_promise_clamped(inside, 0, op.columns - 1), x, y);
    const TopKItem next = topk_item(cast(types[0], op.keys.key(bits)), index, op.indices);
    stages.best = Func("best");
    stages.best(slot, lane, t, x, y) = Tuple(topk_padding(types));
    const TopKItem held = topk_item(stages.best(slot, lane, t, x, y));
    const Expr wins = element < u32(op.columns) && next[0] >= held[0];
    stages.best(slot, lane, t, x, y) = Tuple(topk_select(wins, next, held));
}

}  // namespace

TopKTiles topk_tiles(const TopKTilesOperands &op, int tile, int keep) {
    TopKTiles stages;
    define_first(stages, op, tile);
    define_best(stages, op);
    const Var &t = stages.tile, &x = stages.x, &y = stages.y;
    const std::vector<Type> types = topk_item_types(op.type, op.indices);
    stages.sorted = Func("sorted");
    std::vector<Expr> undefined;
    for (const Expr &value : packed(topk_padding(types))) undefined.push_back(undef(value.type()));
    stages.sorted(stages.place, t, x, y) = Tuple(undefined);
    const std::vector<Round> rounds = network(tile, keep);
    for (const Round &round : rounds) {
        const bool first = stages.rounds.empty();
        const RDom r(0, round.lanes(), "lane" + std::to_string(stages.rounds.size()));
        std::vector<TopKItem> items;
        for (const Expr &place : places_of(round, r)) {
            const int v = static_cast<int>(items.size());
            items.push_back(first ? packed(topk_item(stages.best(v, r, t, x, y)))
                                  : topk_item(stages.sorted(TopKTiles::position(place), t, x, y)));
        }
        exchange(items, round);
        std::vector<Expr> positions;
        for (const Expr &place : places_written(round, r))
            positions.push_back(TopKTiles::position(place));
        stages.sorted(scatter(positions), t, x, y) = gathered(items);
        stages.rounds.push_back(r);
    }
    const Expr at = TopKTiles::position(stages.place + rounds.back().to);
    stages.items = Func("items");
    stages.items(stages.place, t, x, y) =
        Tuple(unpacked(topk_item(stages.sorted(at, t, x, y)), types));
    return stages;
}

}  // namespace hk::generators
