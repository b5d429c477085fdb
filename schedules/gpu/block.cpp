#include "schedules/gpu/block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr auto round_up = TailStrategy::RoundUp;

}  // namespace

Tiles Tiles::with(const std::string &text) const {
    Tiles tiles = *this;
    Knobs knobs(text);
    knobs.take("tile_k", tiles.tile_k);
    knobs.take("tile_x", tiles.tile_x);
    knobs.take("tile_y", tiles.tile_y);
    knobs.take("tile_c", tiles.tile_c);
    knobs.take("threads_k", tiles.threads_k);
    knobs.take("threads_x", tiles.threads_x);
    knobs.take("threads_y", tiles.threads_y);
    knobs.end();
    if (tiles.tile_k % tiles.threads_k || tiles.tile_x % tiles.threads_x ||
        tiles.tile_y % tiles.threads_y)
        throw CompileError("knobs " + text + ": threads must divide their tile\n");
    return tiles;
}

void deal(Func tile, const LoopLevel &at, const std::vector<std::pair<Var, int>> &extents,
          const std::vector<int> &threads, int each) {
    tile.compute_at(at).store_in(MemoryType::GPUShared);
    for (const auto &[dim, extent] : extents) tile.bound_extent(dim, extent);
    Var f = extents[0].first, together("together");
    if (each > 1) tile.split(f, f, together, each);
    for (size_t i = 1; i < extents.size(); i++) {
        Var fused;
        tile.fuse(f, extents[i].first, fused);
        f = fused;
    }
    Var copy("copy"), t0("t0"), t1("t1"), t2("t2");
    tile.split(f, copy, f, threads[0] * threads[1] * threads[2], guard)
        .split(f, t2, f, threads[0] * threads[1])
        .split(f, t1, t0, threads[0]);
    if (each > 1)
        tile.reorder(together, copy, t0, t1, t2).unroll(together);
    else
        tile.reorder(copy, t0, t1, t2);
    tile.gpu_threads(t0, t1, t2).never_partition_all();
}

void compute_groups(Func out, Func sum, bool nhwc, const std::string &text,
                    const std::vector<VarOrRVar> &steps) {
    int tile_g = nhwc ? 32 : 8, tile_x = 8, tile_y = nhwc ? 4 : 8;
    int each_x = nhwc ? 4 : 1, each_y = nhwc ? 1 : 2;
    Knobs knobs(text);
    knobs.take("tile_g", tile_g);
    knobs.take("tile_x", tile_x);
    knobs.take("tile_y", tile_y);
    knobs.take("each_x", each_x);
    knobs.take("each_y", each_y);
    knobs.end();
    Var go("go"), gt("gt"), xo("xo"), xt("xt"), xi("xi"), yo("yo"), yt("yt"), yi("yi"),
        block("block");
    const std::vector<Var> threads = innermost_first(nhwc, gt, xt, yt);
    out.bound(k, 0, 1)
        .split(g, go, gt, tile_g, guard)
        .split(x, xo, x, tile_x, guard)
        .split(y, yo, y, tile_y, guard)
        .split(x, xt, xi, each_x)
        .split(y, yt, yi, each_y)
        .reorder(xi, yi, k, threads[0], threads[1], threads[2], go, xo, yo, n)
        .fuse(yo, n, block)
        .fuse(xo, block, block)
        .fuse(go, block, block)
        .gpu_blocks(block)
        .gpu_threads(threads[0], threads[1], threads[2])
        .unroll(xi)
        .unroll(yi)
        .never_partition_all();
    sum.compute_at(out, threads[0])
        .store_in(MemoryType::Register)
        .bound_extent(k, 1)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .bound_extent(x, each_x)
        .bound_extent(y, each_y)
        .unroll(x)
        .unroll(y);
    std::vector<VarOrRVar> loops = {x, y};
    loops.insert(loops.end(), steps.begin(), steps.end());
    sum.update().reorder(loops).unroll(x).unroll(y).never_partition_all();
}

Block::Block(const Tiles &tiles, bool nhwc)
    : tiles_(tiles), nhwc_(nhwc), threads_(innermost_first(nhwc, kt_, xt_, yt_)) {}

std::vector<int> Block::threads() const {
    return innermost_first(nhwc_, tiles_.threads_k, tiles_.threads_x, tiles_.threads_y);
}

void Block::tile(Func out, Unroll unroll) const {
    out.split(k, ko_, k, tiles_.tile_k, guard)
        .split(x, xo_, x, tiles_.tile_x, guard)
        .split(y, yo_, y, tiles_.tile_y, guard)
        .split(g, go_, g, 1);  // else Halide takes all groups for the bounds of one
    divide(out, TailStrategy::Auto);
    out.reorder(order({}, {g, ko_, xo_, yo_, go_, n}, {}))
        .fuse(go_, n, block_)
        .fuse(yo_, block_, block_)
        .fuse(xo_, block_, block_)
        .fuse(ko_, block_, block_)
        .gpu_blocks(block_)
        .never_partition_all();
    if (unroll == Unroll::all) {
        run(out);
        return;
    }
    out.gpu_threads(threads_[0], threads_[1], threads_[2]);
    if (unroll == Unroll::neighbours_in_memory) out.unroll(nhwc_ ? ki_ : xi_);
}

void Block::hold(Func sum, const Func &out) const {
    sum.compute_at(out, block_)
        .store_in(MemoryType::Register)
        .bound_extent(k, tiles_.tile_k)
        .bound_extent(x, tiles_.tile_x)
        .bound_extent(y, tiles_.tile_y)
        .bound_extent(g, 1)
        .bound_extent(n, 1);
    accumulate(sum, {}, {});
}

void Block::accumulate(Stage stage, const std::vector<VarOrRVar> &inside,
                       std::vector<VarOrRVar> around,
                       const std::vector<VarOrRVar> &innermost) const {
    divide(stage, round_up);
    around.insert(around.end(), {g, n});
    stage.reorder(order(inside, around, innermost)).never_partition_all();
    run(stage);
}

void Block::accumulate_alone(Func sum, const Func &out, const std::vector<VarOrRVar> &steps) const {
    tile(out, Unroll::all);
    sum.compute_at(out, threads_[0])
        .store_in(MemoryType::Register)
        .bound_extent(k, tiles_.tile_k / tiles_.threads_k)
        .bound_extent(x, tiles_.tile_x / tiles_.threads_x)
        .bound_extent(y, tiles_.tile_y / tiles_.threads_y)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .unroll(k)
        .unroll(x)
        .unroll(y);
    std::vector<VarOrRVar> loops = {k, x, y};
    loops.insert(loops.end(), steps.begin(), steps.end());
    sum.update().reorder(loops).unroll(k).unroll(x).unroll(y).never_partition_all();
}

template<typename Loops>
void Block::divide(Loops &&loops, TailStrategy tail) const {
    loops.split(k, kt_, ki_, tiles_.tile_k / tiles_.threads_k, tail)
        .split(x, xt_, xi_, tiles_.tile_x / tiles_.threads_x, tail)
        .split(y, yt_, yi_, tiles_.tile_y / tiles_.threads_y, tail);
}

template<typename Loops>
void Block::run(Loops &&loops) const {
    loops.gpu_threads(threads_[0], threads_[1], threads_[2]).unroll(ki_).unroll(xi_).unroll(yi_);
}

std::vector<VarOrRVar> Block::order(const std::vector<VarOrRVar> &inside,
                                    const std::vector<VarOrRVar> &around,
                                    const std::vector<VarOrRVar> &innermost) const {
    std::vector<VarOrRVar> loops = innermost;
    loops.insert(loops.end(), {ki_, xi_, yi_});
    loops.insert(loops.end(), inside.begin(), inside.end());
    loops.insert(loops.end(), threads_.begin(), threads_.end());
    loops.insert(loops.end(), around.begin(), around.end());
    return loops;
}

}  // namespace hk::schedules::gpu
