#include <algorithm>

#include "schedules/gpu_block.h"
#include "schedules/quantized_conv2d/gpu/correct.h"
#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

using namespace gpu;

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

struct WordTiles : Tiles {
    int stages = 3;
};

// Words of the pixels of a row, longer than they are, so that those that a warp copies at once
// begin in different banks.
int row_of(const Tiles &t) { return t.tile_x + std::max(4, 32 / t.tile_c); }

// tile_c counts words.
WordTiles word_tiles(const QuantizedConv2dContext &context) {
    WordTiles tiles{Tiles{64, 16, 8, 8, 8, 4, 4}};
    if (!context.nhwc)
        tiles.tile_x = 32, tiles.tile_y = 4, tiles.threads_x = 8, tiles.threads_y = 2;
    Knobs knobs(context.knobs);
    tiles.take(knobs, true);
    knobs.take("stages", tiles.stages, steps(1, 4));
    knobs.end();
    knobs.require(tiles.tile_c > 1, "tile_c is 2 or more");
    Tiles::estimate_shared(tiles.stages * tiles.tile_c *
                           (tiles.tile_k + row_of(tiles) * tiles.tile_y));
    return tiles;
}

// A thread writes a word, its neighbours the next ones; of images of several rows the same of four
// of them, whose pixel it finds once.
void copy_words(QuantizedConv2dWords &stages, const Tiles &t) {
    constexpr int kThreads = 256;
    const int near_w = t.tile_y == 1 ? kThreads : 32, each_y = t.tile_y == 1 ? 1 : 4;
    const Var near("near"), block("block"), thread("thread"), rows("rows");
    const CopiedWindows &image = stages.image;
    stages.copied_filter.compute_root()
        .bound(k, 0, (stages.filters + 3) / 4 * 4)
        .bound(w, 0, stages.words)
        .bound(s, 0, stages.steps)
        .bound(r, 0, stages.kernel_h)
        .bound(g, 0, image.groups)
        .fuse(k, w, near)
        .fuse(near, s, near)
        .fuse(near, r, near)
        .fuse(near, g, near)
        .split(near, block, thread, kThreads, guard)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
    const Var wo("wo"), yo("yo"), yt("yt"), go("go"), no("no");
    Func to = image.to;
    to.compute_root()
        .bound(w, 0, image.elements)
        .bound(y, 0, image.lines)
        .bound(g, 0, image.groups)
        .bound(n, 0, image.images)
        .split(w, wo, w, near_w, guard)
        .split(y, yo, y, each_y * (kThreads / near_w), guard)
        .split(y, rows, yt, kThreads / near_w)
        .split(g, go, g, 1)
        .split(n, no, n, 1)
        .reorder({rows, w, yt, g, n, wo, yo, go, no})
        .fuse(go, no, block)
        .fuse(yo, block, block)
        .fuse(wo, block, block)
        .gpu_blocks(block)
        .gpu_threads(w, yt)
        .unroll(rows)
        .never_partition_all();
}

// Neighbouring threads have the words of a pixel, then the next one's.
void stage_taps(QuantizedConv2dWords &stages, const Tiles &t, const LoopLevel &step,
                const std::vector<int> &threads) {
    const Var near("near"), copy("copy"), t0("t0"), t1("t1"), t2("t2");
    stages.tap.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage({x, w, y, s, r, g, n})
        .align_storage(x, row_of(t))
        .bound_extent(x, t.tile_x)
        .bound_extent(w, t.tile_c)
        .bound_extent(y, t.tile_y);
    for (const Var &one : {s, r, g, n}) stages.tap.bound_extent(one, 1);
    stages.tap.fuse(w, x, near)
        .fuse(near, y, near)
        .fuse(near, s, near)
        .fuse(near, r, near)
        .fuse(near, g, near)
        .fuse(near, n, near)
        .split(near, copy, near, threads[0] * threads[1] * threads[2], guard)
        .split(near, t2, near, threads[0] * threads[1])
        .split(near, t1, t0, threads[0])
        .reorder(copy, t0, t1, t2)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
}

// Of shared memory, to a thread's registers, at a loop of the sums inside which it has so many:
// LLVM does not join loads of words between dp4a.
void load_words(Func words, const Var &inner, const LoopLevel &at, int count) {
    words.compute_at(at)
        .store_in(MemoryType::Register)
        .bound_extent(inner, count)
        .unroll(inner)
        .never_partition_all();
    for (const Var &one : words.args())
        if (one.name() != inner.name()) words.bound_extent(one, 1);
}

// Of what a thread has four neighbours at a time, as Block has them, each four.
void load_operands(QuantizedConv2dWords &stages, const Tiles &t, bool nhwc) {
    constexpr int vector = 4;
    const int each_k = t.tile_k / t.threads_k, each_x = t.tile_x / t.threads_x;
    const int near = nhwc ? each_k : each_x;
    const bool groups = near > vector && near % vector == 0;
    const char *const innermost = groups ? "group" : nhwc ? "xi" : "ki";
    const LoopLevel inside(stages.sum, Var(innermost)), outside(stages.sum, Var("yi"));
    const int count = groups ? vector : near;
    load_words(stages.filter.in(stages.sum), k, nhwc ? inside : outside, nhwc ? count : each_k);
    load_words(stages.tap.in(stages.sum), x, nhwc ? outside : inside, nhwc ? each_x : count);
}

}  // namespace

int quantized_words_tile(const QuantizedConv2dContext &context) {
    return word_tiles(context).tile_c;
}

namespace gpu {

// A block computes 64 filters at 16 x 8 pixels (nchw: 32 x 4; few: 16 at 32 x 8, or 256 of a line),
// 64 sums a thread (few: 32) in registers, from slices of 8 words of four channels (few: 4), of
// which two are on their way (compiler/async_copies.h, to which words are f32). A word of both is
// 64 dp4a to 4 loads of four words. Shared bytes: nhwc 3 * 4 * 8 * (64 + 8 * 20) = 21504, few 3 * 4
// * 4 * (16 + 8 * 40) = 16128, of a line 3 * 4 * 4 * (16 + 264) = 13440, and 12 of each filter.
//
// Zero points enter through two sums, as in schedules/quantized_conv2d/gpu/staged.cpp. Lost: what
// that does, bytes that become words as they are staged, 0.38 of whose main loop are dp4a, of this
// 0.92 (build/bin/counts --filter quantized_conv2d_any_to_8_u8 --output FILE).
void quantized_words(QuantizedConv2dWords &stages, const QuantizedConv2dContext &context) {
    const WordTiles tiles = word_tiles(context);
    const Block block(tiles, context.nhwc);
    const RDom &d = stages.r;
    block.tile(stages.output, Block::Unroll::none);
    block.hold(stages.sum, stages.output);
    for (const Func &of_filter : {stages.start, stages.multiplier, stages.offset})
        block.hold_start(of_filter, stages.output);
    Stage update = stages.sum.update();
    const RVar slices("stages_" + std::to_string(tiles.stages));
    update.rename(d[3], slices);
    const RVar near("near");
    update.split(d[0], d[0], near,
                 std::min(tiles.tile_c / 2, 4));  // compiler/async_copies.h: a loop
    block.accumulate(update, {near, d[0]}, {d[1], d[2], slices});
    update.unroll(near);
    const LoopLevel step(stages.sum, d[1]);
    stages.filter.reorder_storage({k, w, s, r, g});
    cooperative_copy(stages.filter, step,
                     {{k, tiles.tile_k}, {w, tiles.tile_c}, {s, 1}, {r, 1}, {g, 1}},
                     block.threads(), 4, true);
    stage_taps(stages, tiles, step, block.threads());
    load_operands(stages, tiles, context.nhwc);
    copy_words(stages, tiles);
    correct(stages, context);
}

}  // namespace gpu

}  // namespace hk::schedules
