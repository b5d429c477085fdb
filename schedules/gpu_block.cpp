#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr auto round_up = TailStrategy::RoundUp;
// Of a block at most; of a thread, where two blocks of 256 are to be on a multiprocessor.
constexpr int kThreads = 1024, kRegisters = 128;

}  // namespace

void Tiles::take(Knobs &knobs, bool slices, bool rows) {
    knobs.take("tile_k", tile_k, powers(1, 256));
    knobs.take("tile_x", tile_x, powers(1, 256));
    if (rows) knobs.take("tile_y", tile_y, powers(1, 64));
    if (slices) knobs.take("tile_c", tile_c, powers(1, 32));
    knobs.take("threads_k", threads_k, powers(1, 64));
    knobs.take("threads_x", threads_x, powers(1, 64));
    if (rows) knobs.take("threads_y", threads_y, powers(1, 64));
    knobs.require(tile_k % threads_k == 0, "threads_k divides tile_k");
    knobs.require(tile_x % threads_x == 0, "threads_x divides tile_x");
    knobs.require(tile_y % threads_y == 0, "threads_y divides tile_y");
    knobs.estimate("threads of a block", threads(), kThreads);
    const int pixels = tile_x / threads_x * (tile_y / threads_y);
    knobs.estimate("registers of a thread", sums() + tile_k / threads_k + pixels, kRegisters);
}

void Tiles::estimate_shared(int elements, int bytes) {
    Knobs::estimate("bytes of shared memory", elements * bytes, 48 * 1024);
}

void cooperative_copy(Func tile, const LoopLevel &at,
                      const std::vector<std::pair<Var, int>> &extents,
                      const std::vector<int> &threads, int each, bool vectors) {
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
        tile.reorder(together, copy, t0, t1, t2);
    else
        tile.reorder(copy, t0, t1, t2);
    if (vectors)
        tile.vectorize(together);
    else if (each > 1)
        tile.unroll(together);
    tile.gpu_threads(t0, t1, t2).never_partition_all();
}

void promise_distinct(const Stage &update) {
    Internal::StageSchedule schedule = update.get_schedule();
    for (Internal::Dim &dim : schedule.dims())
        if (dim.is_rvar()) dim.dim_type = Internal::DimType::PureRVar;
}

void GroupTiles::take(Knobs knobs) {
    knobs.take("tile_g", tile_g, powers(1, 64));
    knobs.take("tile_x", tile_x, powers(1, 64));
    knobs.take("tile_y", tile_y, powers(1, 64));
    knobs.take("each_x", each_x, powers(1, 8));
    knobs.take("each_y", each_y, powers(1, 8));
    knobs.end();
    knobs.require(tile_x % each_x == 0, "each_x divides tile_x");
    knobs.require(tile_y % each_y == 0, "each_y divides tile_y");
    knobs.estimate("threads of a block", tile_g * (tile_x / each_x) * (tile_y / each_y), kThreads);
    knobs.estimate("registers of a thread", 2 * each_x * each_y, kRegisters);
}

std::vector<int> GroupTiles::threads(bool nhwc) const {
    return innermost_first(nhwc, tile_g, tile_x / each_x, tile_y / each_y);
}

Var thread_of_groups(bool nhwc) { return Var(nhwc ? "gt" : "xt"); }

void tile_groups(Func out, bool nhwc, const GroupTiles &t) {
    Var go("go"), gt("gt"), xo("xo"), xt("xt"), xi("xi"), yo("yo"), yt("yt"), yi("yi"),
        block("block");
    const std::vector<Var> threads = innermost_first(nhwc, gt, xt, yt);
    const Var channel = out.args()[nhwc ? 0 : 2];
    out.bound(channel, 0, 1)
        .split(g, go, gt, t.tile_g, guard)
        .split(x, xo, x, t.tile_x, guard)
        .split(y, yo, y, t.tile_y, guard)
        .split(x, xt, xi, t.each_x)
        .split(y, yt, yi, t.each_y)
        .reorder(xi, yi, channel, threads[0], threads[1], threads[2], go, xo, yo, n)
        .fuse(yo, n, block)
        .fuse(xo, block, block)
        .fuse(go, block, block)
        .gpu_blocks(block)
        .gpu_threads(threads[0], threads[1], threads[2])
        .unroll(xi)
        .unroll(yi)
        .never_partition_all();
}

void compute_groups(Func out, Func sum, bool nhwc, const GroupTiles &t,
                    const std::vector<VarOrRVar> &steps) {
    tile_groups(out, nhwc, t);
    sum.compute_at(out, thread_of_groups(nhwc))
        .store_in(MemoryType::Register)
        .bound_extent(k, 1)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .bound_extent(x, t.each_x)
        .bound_extent(y, t.each_y)
        .unroll(x)
        .unroll(y);
    std::vector<VarOrRVar> loops = {x, y};
    loops.insert(loops.end(), steps.begin(), steps.end());
    sum.update().reorder(loops).unroll(x).unroll(y).never_partition_all();
}

Axes image_axes() { return {k, x, y, {g, n}}; }

Block::Loops::Loops(const Axes &axes, bool nhwc)
    : Axes(axes),
      ko("ko", k.is_rvar),
      kt("kt", k.is_rvar),
      ki("ki", k.is_rvar),
      xo("xo", x.is_rvar),
      xt("xt", x.is_rvar),
      xi("xi", x.is_rvar),
      yo("yo", y.is_rvar),
      yt("yt", y.is_rvar),
      yi("yi", y.is_rvar),
      group("group", (nhwc ? k : x).is_rvar) {}

Block::Block(const Tiles &tiles, bool nhwc, const Axes &sums) : Block(tiles, nhwc, sums, sums) {}

Block::Block(const Tiles &tiles, bool nhwc, const Axes &sums, const Axes &output)
    : tiles_(tiles),
      nhwc_(nhwc),
      sums_(sums, nhwc),
      output_(output, nhwc),
      block_("block", output.x.is_rvar) {
    const int each = nhwc ? tiles.tile_k / tiles.threads_k : tiles.tile_x / tiles.threads_x;
    has_groups_ = each > kVector && each % kVector == 0;
}

std::vector<int> Block::threads() const {
    return innermost_first(nhwc_, tiles_.threads_k, tiles_.threads_x, tiles_.threads_y);
}

void Block::tile(Stage out, Unroll unroll) const {
    const Loops &l = output_;
    out.split(l.k, l.ko, l.k, tiles_.tile_k, guard)
        .split(l.x, l.xo, l.x, tiles_.tile_x, guard)
        .split(l.y, l.yo, l.y, tiles_.tile_y, guard);
    // Split by one, else Halide takes all elements of what is fused for the bounds of one.
    std::vector<VarOrRVar> around(l.alone.begin(), l.alone.end() - 1);
    std::vector<VarOrRVar> blocks = {l.ko, l.xo, l.yo};
    for (const VarOrRVar &one : around) {
        blocks.emplace_back(one.name() + "_o", one.is_rvar);
        out.split(one, blocks.back(), one, 1);
    }
    blocks.push_back(l.alone.back());
    const bool groups = has_groups_ && unroll != Unroll::all;
    divide(out, l, TailStrategy::Auto, groups);
    around.insert(around.end(), blocks.begin(), blocks.end());
    out.reorder(order(l, {}, around, {}, groups));
    VarOrRVar fused = blocks.back();
    for (auto loop = blocks.rbegin() + 1; loop != blocks.rend(); loop++) {
        out.fuse(*loop, fused, block_);
        fused = block_;
    }
    out.gpu_blocks(block_).never_partition_all();
    if (unroll == Unroll::all) {
        run(out, l, groups);
        return;
    }
    const std::vector<VarOrRVar> threads = threads_of(l);
    out.gpu_threads(threads[0], threads[1], threads[2]);
    if (unroll == Unroll::none) return;
    out.unroll(nhwc_ ? l.ki : l.xi);
    if (groups) out.unroll(l.group);
}

void Block::hold(Func sum, const Func &out) const {
    sum.compute_at(LoopLevel(out, block_)).store_in(MemoryType::Register);
    bound(sum, 1, 1, 1);
    accumulate(sum, {}, {});
}

void Block::hold_start(Func start, const Func &out) const {
    cooperative_copy(start, LoopLevel(out, block_), {{k, tiles_.tile_k}, {g, 1}}, threads());
}

void Block::hold_start_alone(Func start, const Func &out) const {
    start.compute_at(LoopLevel(out, threads_of(output_)[0])).store_in(MemoryType::Register);
    start.bound_extent(k, tiles_.tile_k / tiles_.threads_k).bound_extent(g, 1).unroll(k);
}

void Block::accumulate(Stage stage, const std::vector<VarOrRVar> &inside,
                       std::vector<VarOrRVar> around,
                       const std::vector<VarOrRVar> &innermost) const {
    divide(stage, sums_, round_up, has_groups_);
    around.insert(around.end(), sums_.alone.begin(), sums_.alone.end());
    stage.reorder(order(sums_, inside, around, innermost, has_groups_)).never_partition_all();
    run(stage, sums_, has_groups_);
}

void Block::accumulate_alone(Func sum, const Func &out, const std::vector<VarOrRVar> &steps) const {
    tile(out, Unroll::all);
    accumulate_in_thread(sum, LoopLevel(out, threads_of(output_)[0]), steps);
}

void Block::accumulate_in_thread(Func sum, const LoopLevel &at,
                                 const std::vector<VarOrRVar> &steps) const {
    sum.compute_at(at).store_in(MemoryType::Register);
    bound(sum, tiles_.threads_k, tiles_.threads_x, tiles_.threads_y);
    const std::vector<VarOrRVar> own = {sums_.k, sums_.x, sums_.y};
    std::vector<VarOrRVar> loops = own;
    loops.insert(loops.end(), steps.begin(), steps.end());
    Stage update = sum.update();
    update.reorder(loops).never_partition_all();
    for (const VarOrRVar &loop : own) {
        sum.unroll(loop);
        update.unroll(loop);
    }
}

void Block::bound(Func sum, int threads_k, int threads_x, int threads_y) const {
    sum.bound_extent(sums_.k.var, tiles_.tile_k / threads_k)
        .bound_extent(sums_.x.var, tiles_.tile_x / threads_x)
        .bound_extent(sums_.y.var, tiles_.tile_y / threads_y);
    for (const VarOrRVar &one : sums_.alone) sum.bound_extent(one.var, 1);
}

void Block::divide(Stage &stage, const Loops &l, TailStrategy tail, bool groups) const {
    int each_k = tiles_.tile_k / tiles_.threads_k, each_x = tiles_.tile_x / tiles_.threads_x;
    TailStrategy of_k = tail, of_x = tail;
    if (groups) {
        const VarOrRVar &near = nhwc_ ? l.k : l.x;
        (nhwc_ ? each_k : each_x) = kVector;
        (nhwc_ ? of_k : of_x) = guard;  // there is no tail
        stage.split(near, l.group, near, kVector * (nhwc_ ? tiles_.threads_k : tiles_.threads_x),
                    tail);
    }
    stage.split(l.k, l.kt, l.ki, each_k, of_k)
        .split(l.x, l.xt, l.xi, each_x, of_x)
        .split(l.y, l.yt, l.yi, tiles_.tile_y / tiles_.threads_y, tail);
}

void Block::run(Stage &stage, const Loops &l, bool groups) const {
    const std::vector<VarOrRVar> threads = threads_of(l);
    stage.gpu_threads(threads[0], threads[1], threads[2]).unroll(l.ki).unroll(l.xi).unroll(l.yi);
    if (groups) stage.unroll(l.group);
}

std::vector<VarOrRVar> Block::threads_of(const Loops &l) const {
    return innermost_first(nhwc_, l.kt, l.xt, l.yt);
}

std::vector<VarOrRVar> Block::order(const Loops &l, const std::vector<VarOrRVar> &inside,
                                    const std::vector<VarOrRVar> &around,
                                    const std::vector<VarOrRVar> &innermost, bool groups) const {
    const std::vector<VarOrRVar> threads = threads_of(l);
    std::vector<VarOrRVar> loops = innermost;
    loops.insert(loops.end(), {nhwc_ ? l.ki : l.xi, nhwc_ ? l.xi : l.ki, l.yi});
    if (groups) loops.insert(loops.end() - 2, l.group);
    for (const auto &more : {inside, threads, around})
        loops.insert(loops.end(), more.begin(), more.end());
    return loops;
}

}  // namespace hk::schedules::gpu
