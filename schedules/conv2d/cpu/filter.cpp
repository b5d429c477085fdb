#include "schedules/conv2d/conv2d_filter.h"
#include "schedules/transpose.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

const Var ci("ci"), cb("cb"), kv("kv"), blocks("blocks");

int take_lanes(const Conv2dSizes &context) {
    int lanes = context.target.natural_vector_size<float>();
    Knobs knobs(context.knobs);
    knobs.take("lanes", lanes, {4, 8, 16});
    knobs.end();
    return lanes;
}

// Along the weight's memory: what lies next to each other there, of input channels or of filters.
void pack(Func &packed, const Var &ki, const Var &ko, const FilterMemory &memory, int lanes) {
    if (memory.nhwc && memory.filters_inner)
        packed.reorder(ki, s, r, c, ko, g).vectorize(ki, lanes);
    else if (memory.nhwc)
        packed.split(c, c, ci, lanes, TailStrategy::GuardWithIf)
            .reorder(ci, ki, c, s, r, ko, g)
            .vectorize(ci);
    else if (memory.filters_inner)
        packed.reorder(s, r, ki, c, ko, g);
    else
        packed.reorder(s, r, c, ki, ko, g);
}

// In rows both channels of a word are read together.
void pack_pairs(Conv2dFilter &stages, bool across) {
    constexpr int words = kFilterBlock, elements = 2 * words;
    const Var &e = stages.ki;
    const Var half("half");
    if (!across) {
        stages.output.split(e, e, half, 2).reorder(half, s, r, c, e, stages.ko, g).unroll(half);
        return;
    }
    stages.output.split(c, c, ci, words, TailStrategy::GuardWithIf)
        .reorder(e, ci, c, s, r, stages.ko, g)
        .vectorize(e, elements);
    const LoopLevel panel(stages.output, c);
    stages.pairs.lines.compute_at(panel)
        .bound_storage(c, elements)
        .vectorize(c, elements, TailStrategy::GuardWithIf)
        .unroll(row);
    transpose_at(panel, stages.pairs.transposed, {words, words});
}

}  // namespace

namespace cpu {

// Reads run along the filters' rows: a read of one channel from each row of a block would meet the
// same few cache sets again and again where rows are a power of two apart. Lost: transposition by
// shuffles, as slow as stores of single floats.
//
// Pairs are transposed as words, in panels: a third of the time of stores of single words.
void conv2d_filter(Conv2dFilter &stages, const Conv2dSizes &context) {
    const int lanes = take_lanes(context);
    if (context.pairs)
        pack_pairs(stages, !stages.pairs.transposed.empty());
    else
        pack(stages.output, stages.ki, stages.ko, {context.nhwc, false}, lanes);
    stages.output.fuse(stages.ko, g, blocks).parallel(blocks);
}

void conv2d_winograd_filter(Conv2dWinogradFilter &stages, const Conv2dSizes &context) {
    transform_filter(stages, {context.nhwc, false}, take_lanes(context));
    stages.output.fuse(stages.ko, g, blocks).parallel(blocks);
}

// Vectors of filters: 16 channels are packed in the first cache, where their transforms, of 9
// vectors to 36, read them.
void transform_filter(Conv2dWinogradFilter &stages, const FilterMemory &memory, int most_lanes) {
    const Var &ki = stages.ki, &ko = stages.ko, &j = stages.j;
    const int lanes = std::min(most_lanes, kFilterBlock);
    stages.output.bound_extent(ki, kFilterBlock)
        .bound_extent(i, kWinogradPoints)
        .bound_extent(j, kWinogradPoints)
        .split(c, cb, c, kFilterBlock, TailStrategy::GuardWithIf)
        .split(ki, kv, ki, lanes)
        .reorder(ki, i, j, kv, c, cb, ko, g)
        .vectorize(ki)
        .unroll(i)
        .unroll(j);
    stages.columns.compute_at(stages.output, kv)
        .bound_extent(i, kWinogradPoints)
        .vectorize(ki)
        .unroll(i)
        .unroll(r);
    stages.packed.compute_at(stages.output, cb);
    pack(stages.packed, ki, ko, memory, kFilterBlock);
}

}  // namespace cpu

}  // namespace hk::schedules
