#include "generators/topk/topk.h"

#include "generators/topk/items.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Var j("j"), lane("lane");

int bits_of_mask(int lanes) { return std::min(lanes, 32); }

Expr number(int value) { return cast<uint32_t>(value); }

// An element of which Halide can't know that it is one, as C++ says how many chunks there are.
Expr in_row(const Expr &element, const TopKRow &row) {
    return unsafe_promise_clamped(element, 0, row.columns - 1);
}

// Of keys(i, x, y), or of keys(i, 0, x, y); 0 from the last one to the end of its vector.
KthLargest kth_largest(const Func &keys, const Expr &count, const TopKRow &row, int lanes) {
    KthLargest stages;
    const Type type = row.type;
    stages.r = RDom(0, (count + lanes - 1) / lanes, "vector");
    stages.r_lane = RDom(0, lanes, "lane");
    const Expr at = stages.r * lanes + lane;
    const Expr key = keys.dimensions() == 4 ? keys(at, 0, x, y) : keys(at, x, y);
    Expr known = type.min();
    for (int bit = type.bits() - 1; bit >= 0; bit--) {
        const std::string name = std::to_string(bit);
        const Expr tried = known | (cast(type, 1) << bit);
        Func partial("at_least_" + name), total("count_" + name), next("known_" + name);
        partial(lane, x, y) = number(0);
        partial(lane, x, y) += cast<uint32_t>(key >= tried);
        total(x, y) = number(0);
        total(x, y) += partial(stages.r_lane, x, y);
        next(x, y) = select(total(x, y) >= cast<uint32_t>(row.k), tried, known);
        known = next(x, y);
        stages.partial.push_back(partial);
        stages.total.push_back(total);
        stages.known.push_back(next);
    }
    return stages;
}

// Of keys(j, rest…).
Masks masks_of(const char *name, const Func &keys, const Func &least, int lanes) {
    Masks masks;
    const int bits = bits_of_mask(lanes);
    masks.r = RDom(0, bits, "bit");
    masks.weight = Func("weight");
    masks.weight(j) = number(1) << cast<uint32_t>(j);
    std::vector<Var> args = {q, x, y};
    if (keys.dimensions() == 4) args.insert(args.begin() + 1, place);
    std::vector<Expr> key_args(args.begin(), args.end());
    key_args[0] = q * bits + masks.r;
    masks.bits = Func(name);
    masks.bits(args) = number(0);
    masks.bits(args) += select(keys(key_args) >= least(x, y), masks.weight(masks.r), number(0));
    return masks;
}

std::vector<Type> types_of(const TopKRow &row) {
    std::vector<Type> types;
    if (row.values) types.push_back(row.type);
    if (row.indices) types.push_back(Int(32));
    return types;
}

std::string extern_name(const std::string &name, const TopKRow &row) {
    return "hk_topk_" + name + (!row.indices ? "_values" : !row.values ? "_indices" : "");
}

// What C++ makes of the marked candidates, of `parts` of the row with `depth` elements each.
void finish(TopK &stages, const TopKRow &row, const Expr &depth, const Expr &step,
            const Expr &parts) {
    stages.masks = masks_of("masks", stages.candidates, stages.least, row.lanes);
    stages.sorted = Func("sorted");
    stages.sorted.define_extern(extern_name("finish", row),
                                {stages.masks.bits, stages.candidates, stages.chosen,
                                 bits_of_mask(row.lanes), depth, step, parts, row.columns, row.k},
                                types_of(row), {place, x, y});
    stages.result = Func("result");
    if (stages.sorted.outputs() > 1) {
        stages.result(place, x, y) = Tuple(stages.sorted(place, x, y));
    } else {
        stages.result(place, x, y) = stages.sorted(place, x, y);
    }
}

// The maxima, and which of their chunks are chosen.
TopKChunks best_chunks(const TopKRow &row, const Expr &size) {
    TopKChunks chunks;
    chunks.size = size;
    // Rows may have all the elements that 32 bits count: nothing is added to their number.
    const Type rank = Int(row.type.bits());
    const Expr full = row.columns / size, rest = row.columns % size;
    chunks.count = full + select(rest > 0, 1, 0);
    const auto rank_of = [&](const Expr &element) {
        return row.keys.rank(row.input(in_row(element, row), x, y));
    };
    chunks.r_lane = RDom(0, size / row.lanes, "r_lane");
    const Expr of_chunk = chunks.r_lane * row.lanes + lane;
    chunks.lane_best = Func("lane_best");
    chunks.lane_best(lane, c, x, y) = rank.min();
    chunks.lane_best(lane, c, x, y) =
        max(chunks.lane_best(lane, c, x, y), rank_of(c * size + of_chunk));
    chunks.lane_rest = Func("lane_rest");
    chunks.lane_rest(lane, x, y) = rank.min();
    chunks.lane_rest(lane, x, y) =
        max(chunks.lane_rest(lane, x, y),
            select(of_chunk < rest, rank_of(row.columns - 1 - max(rest - 1 - of_chunk, 0)),
                   rank.min()));

    // The chunk that is not full is apart, so that loads of the others are dense.
    chunks.r_full = RDom(0, row.lanes, 0, full, "r_full");
    chunks.r_rest = RDom(0, row.lanes, 0, select(rest > 0, 1, 0), "r_rest");
    chunks.rank = Func("rank");
    chunks.rank(c, x, y) = rank.min();
    chunks.rank(chunks.r_full.y, x, y) =
        max(chunks.rank(chunks.r_full.y, x, y),
            chunks.lane_best(chunks.r_full.x, chunks.r_full.y, x, y));
    const Expr last = full + chunks.r_rest.y;
    chunks.rank(last, x, y) = max(chunks.rank(last, x, y), chunks.lane_rest(chunks.r_rest.x, x, y));
    chunks.best = Func("best");
    chunks.best(c, x, y) = TopKKeys::key_of_rank(chunks.rank(c, x, y));
    chunks.largest_float = row.keys.largest_float;
    return chunks;
}

// Keys of the whole row as one chunk, 0 from its end to that of a vector.
void take_all(TopK &stages, const TopKRow &row) {
    const Expr element = min(likely(j), row.columns - 1);
    stages.candidates = Func("candidates");
    stages.candidates(j, place, x, y) =
        select(j < row.columns, likely(row.keys.key(row.input(element, x, y))), row.type.min());
    stages.chosen = Func("chosen");
    stages.chosen(place, x, y) = 0;
}

}  // namespace

TopK topk_chunks(const TopKRow &row, const Expr &chunk) {
    TopK stages;
    stages.chunks = best_chunks(row, chunk);
    const Expr count = stages.chunks.count;
    const Func &best = stages.chunks.best;
    stages.threshold = kth_largest(best, count, row, row.lanes);
    stages.least = stages.threshold.known.back();
    stages.chunks.masks = masks_of("chunk_masks", best, stages.least, row.lanes);
    stages.chosen = Func("chosen");
    stages.chosen.define_extern(
        "hk_topk_choose_parts",
        {stages.chunks.masks.bits, best, stages.least, bits_of_mask(row.lanes), count, row.k},
        Int(32), {place, x, y});
    const Expr chosen = clamp(stages.chosen(place, x, y), 0, count - 1);
    const Expr element = min(chosen * chunk, row.columns - chunk) + j;
    stages.candidates = Func("candidates");
    stages.candidates(j, place, x, y) = row.keys.key(row.input(in_row(element, row), x, y));
    finish(stages, row, chunk, 1, row.k);
    return stages;
}

TopK topk_columns(const TopKRow &row, const Expr &columns) {
    TopK stages;
    stages.columns.count = columns;
    const Expr depth = (row.columns + columns - 1) / columns;
    const Var column("column");
    const Expr full = row.columns / columns;
    stages.columns.r = RDom(0, full, "depth");
    Func &running = stages.columns.running, &best = stages.columns.best;
    running = Func("running");
    running(column, x, y) = Tuple(topk_item(row.type.min(), 0, row.indices));
    const auto update = [&](const Expr &depth, const Expr &key) {
        const TopKItem known = topk_item(running(column, x, y));
        TopKItem next = {max(key, known[0])};
        if (row.indices) next.push_back(select(key > known[0], depth, known[1]));
        running(column, x, y) = Tuple(next);
    };
    const auto key = [&](const Expr &element) {
        return row.keys.key(row.input(in_row(element, row), x, y));
    };
    update(stages.columns.r, key(stages.columns.r * columns + column));
    // What is left is less than an element for each column.
    const Expr last = full * columns + column;
    update(full, select(last < row.columns, key(min(last, row.columns - 1)), row.type.min()));
    best = Func("best");
    best(column, x, y) = Tuple(topk_item(running(column, x, y)));
    Func keys("column_keys");
    keys(column, x, y) = topk_item(best(column, x, y))[0];
    // Rows next to each other, so that a vector's lanes look for the thresholds of as many rows.
    stages.columns.turned = Func("turned");
    stages.columns.turned(column, x, y) = keys(column, min(x, row.rows - 1), y);
    stages.threshold = kth_largest(stages.columns.turned, columns, row, 1);
    stages.least = stages.threshold.known.back();
    stages.columns.masks = masks_of("column_masks", keys, stages.least, row.lanes);
    stages.chosen = Func("chosen");
    stages.chosen.define_extern(
        row.indices ? "hk_topk_choose_columns" : "hk_topk_choose_parts",
        {stages.columns.masks.bits, best, stages.least, bits_of_mask(row.lanes), columns, row.k},
        Int(32), {place, x, y});
    const Expr candidate = j * columns + clamp(stages.chosen(place, x, y), 0, columns - 1);
    stages.candidates = Func("candidates");
    stages.candidates(j, place, x, y) =
        row.keys.key(row.input(in_row(min(candidate, row.columns - 1), row), x, y));
    finish(stages, row, depth, columns, row.k);
    return stages;
}

TopK topk_whole(const TopKRow &row) {
    TopK stages;
    take_all(stages, row);
    stages.threshold = kth_largest(stages.candidates, row.columns, row, row.lanes);
    stages.least = stages.threshold.known.back();
    finish(stages, row, row.columns, 1, 1);
    return stages;
}

TopK topk_sort(const TopKRow &row) {
    TopK stages;
    take_all(stages, row);
    stages.least = Func("least");
    stages.least(x, y) = row.type.min();
    finish(stages, row, row.columns, 1, 1);
    return stages;
}

}  // namespace hk::generators
