#include "schedules/conv2d.h"

#include <numeric>

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr auto round_up = TailStrategy::RoundUp;

// A block of threads computes tile_k output channels at tile_x * tile_y pixels of one group, from
// slices of tile_c input channels.
struct Tiles {
    int tile_k, tile_x, tile_y, tile_c;
    int threads_k, threads_x, threads_y;

    int threads() const { return threads_k * threads_x * threads_y; }
};

bool pointwise(const Conv2dContext &context) {
    return context.kernel_w == 1 && context.kernel_h == 1;
}

// All taps of a slice are unrolled over one staged window of the input.
bool windowed(const Conv2dContext &context) {
    return context.kernel_w > 0 && context.kernel_h > 0 && !pointwise(context) &&
           context.stride_x == 1 && context.stride_y == 1 && context.dilation_x == 1 &&
           context.dilation_y == 1;
}

Tiles choose_tiles(const Conv2dContext &context) {
    Tiles tiles =
        pointwise(context) ? Tiles{64, 64, 1, 8, 16, 16, 1} : Tiles{64, 8, 8, 8, 16, 4, 4};
    // Neighbouring threads write neighbouring addresses: k in nhwc, x in nchw, 32 bytes at least.
    if (!context.nhwc && !pointwise(context)) {
        tiles.threads_x = 8;
        tiles.threads_y = 2;
    }
    Knobs knobs(context.knobs);
    knobs.take("tile_k", tiles.tile_k);
    knobs.take("tile_x", tiles.tile_x);
    knobs.take("tile_y", tiles.tile_y);
    knobs.take("tile_c", tiles.tile_c);
    knobs.take("threads_k", tiles.threads_k);
    knobs.take("threads_x", tiles.threads_x);
    knobs.take("threads_y", tiles.threads_y);
    knobs.end();
    return tiles;
}

// Thread loops of a block, the one whose neighbours are neighbours in memory first.
template<typename Loop>
std::vector<Loop> innermost_first(const Conv2dContext &context, const Loop &k, const Loop &x,
                                  const Loop &y) {
    return context.nhwc ? std::vector<Loop>{k, x, y} : std::vector<Loop>{x, y, k};
}

std::vector<VarOrRVar> operator+(std::vector<VarOrRVar> a, const std::vector<VarOrRVar> &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Deals a tile out to all threads of its block: its dimensions, innermost in memory first, become
// one, whatever the shape of the threads is. Staging over the tile's own dimensions would widen the
// block to the larger of the two shapes and leave threads idle in the sum.
void deal(Func tile, const LoopLevel &at, const std::vector<std::pair<Var, int>> &extents,
          const std::vector<int> &threads) {
    tile.compute_at(at).store_in(MemoryType::GPUShared);
    for (const auto &[dim, extent] : extents) tile.bound_extent(dim, extent);
    Var f = extents[0].first;
    for (size_t i = 1; i < extents.size(); i++) {
        Var fused;
        tile.fuse(f, extents[i].first, fused);
        f = fused;
    }
    Var copy("copy"), t0("t0"), t1("t1"), t2("t2");
    tile.split(f, copy, f, threads[0] * threads[1] * threads[2], guard)
        .split(f, t2, f, threads[0] * threads[1])
        .split(f, t1, t0, threads[0])
        .reorder(copy, t0, t1, t2)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
}

}  // namespace

// Eight channels a step: 16 sums a thread take 8 loads from shared memory a channel, so a longer
// slice saves barriers only, and its shared bytes would keep a third block from a multiprocessor.
int sliced_tile(const Conv2dContext &context) {
    return context.schedule == "gpu" ? choose_tiles(context).tile_c : 1;
}

namespace gpu {

void sliced(Conv2dSliced &stages, const Conv2dContext &context) {
    const Tiles t = choose_tiles(context);
    const std::vector<int> threads =
        innermost_first(context, t.threads_k, t.threads_x, t.threads_y);
    const int each_k = t.tile_k / t.threads_k, each_x = t.tile_x / t.threads_x,
              each_y = t.tile_y / t.threads_y;
    const RDom &d = stages.r;
    Var ko("ko"), kt("kt"), ki("ki"), xo("xo"), xt("xt"), xi("xi"), yo("yo"), yt("yt"), yi("yi"),
        go("go"), block("block");
    const std::vector<Var> thread_loops = innermost_first(context, kt, xt, yt);
    const std::vector<VarOrRVar> each = {ki, xi, yi};
    const std::vector<VarOrRVar> loops(thread_loops.begin(), thread_loops.end());

    Func out = stages.output;
    out.split(k, ko, k, t.tile_k, guard)
        .split(x, xo, x, t.tile_x, guard)
        .split(y, yo, y, t.tile_y, guard)
        .split(g, go, g, 1)
        .split(k, kt, ki, each_k)
        .split(x, xt, xi, each_x)
        .split(y, yt, yi, each_y)
        .reorder(each + loops + std::vector<VarOrRVar>{g, ko, xo, yo, go, n})
        .fuse(go, n, block)
        .fuse(yo, block, block)
        .fuse(xo, block, block)
        .fuse(ko, block, block)
        .gpu_blocks(block)
        .gpu_threads(thread_loops[0], thread_loops[1], thread_loops[2])
        .unroll(ki)
        .unroll(xi)
        .unroll(yi)
        .never_partition_all();

    const auto divide = [&](Stage stage) {
        stage.split(k, kt, ki, each_k, round_up)
            .split(x, xt, xi, each_x, round_up)
            .split(y, yt, yi, each_y, round_up);
    };
    const auto run = [&](Stage stage) {
        stage.gpu_threads(thread_loops[0], thread_loops[1], thread_loops[2])
            .unroll(ki)
            .unroll(xi)
            .unroll(yi);
    };
    stages.sum.compute_at(out, block)
        .store_in(MemoryType::Register)
        .bound_extent(k, t.tile_k)
        .bound_extent(x, t.tile_x)
        .bound_extent(y, t.tile_y)
        .bound_extent(g, 1)
        .bound_extent(n, 1);
    divide(stages.sum);
    Stage(stages.sum).reorder(each + loops + std::vector<VarOrRVar>{g, n});
    run(stages.sum);

    Stage update = stages.sum.update();
    divide(update);
    if (windowed(context)) {
        update
            .reorder(each + std::vector<VarOrRVar>{d.y, d.z, d.x} + loops +
                     std::vector<VarOrRVar>{d.w, g, n})
            .unroll(d.y)
            .unroll(d.z);
    } else {
        update.reorder(each + std::vector<VarOrRVar>{d.x} + loops +
                       std::vector<VarOrRVar>{d.y, d.z, d.w, g, n});
    }
    if (!windowed(context)) update.unroll(d.x);
    run(update);
    update.never_partition_all();

    const LoopLevel step(stages.sum, windowed(context) ? d.w : d.y);
    const std::pair<Var, int> s_extent = {s, windowed(context) ? context.kernel_w : 1};
    const std::pair<Var, int> r_extent = {r, windowed(context) ? context.kernel_h : 1};
    const std::pair<Var, int> c_extent = {c, t.tile_c}, k_extent = {k, t.tile_k}, g_extent = {g, 1},
                              n_extent = {n, 1};
    stages.filter.reorder_storage(k, c, s, r, g).align_storage(k, t.tile_k + 4);
    if (context.nhwc)
        deal(stages.filter, step, {c_extent, s_extent, r_extent, k_extent, g_extent}, threads);
    else
        deal(stages.filter, step, {s_extent, r_extent, c_extent, k_extent, g_extent}, threads);

    Func &image = windowed(context) ? stages.padded : stages.tap;
    const std::pair<Var, int> x_extent = {
        x, windowed(context) ? t.tile_x + context.kernel_w - 1 : t.tile_x};
    const std::pair<Var, int> y_extent = {
        y, windowed(context) ? t.tile_y + context.kernel_h - 1 : t.tile_y};
    std::vector<std::pair<Var, int>> image_extents;
    if (context.nhwc)
        image_extents = {c_extent, g_extent, x_extent, y_extent, n_extent};
    else
        image_extents = {x_extent, y_extent, c_extent, g_extent, n_extent};
    if (!windowed(context)) {
        image_extents.push_back({s, 1});
        image_extents.push_back({r, 1});
    }
    if (!context.nhwc) image.reorder_storage({x, y, c, g, n});
    deal(image, step, image_extents, threads);
}

void depthwise(Conv2dDepthwise &stages, const Conv2dContext &context) {
    // No tile is staged: neighbouring threads read overlapping windows through the cache.
    int tile_g = context.nhwc ? 32 : 8, tile_x = 8, tile_y = context.nhwc ? 4 : 8;
    int each_x = context.nhwc ? 4 : 1, each_y = context.nhwc ? 1 : 2;
    Knobs knobs(context.knobs);
    knobs.take("tile_g", tile_g);
    knobs.take("tile_x", tile_x);
    knobs.take("tile_y", tile_y);
    knobs.take("each_x", each_x);
    knobs.take("each_y", each_y);
    knobs.end();
    const bool unrolled =
        context.kernel_w > 0 && context.kernel_h > 0 && context.kernel_w * context.kernel_h <= 25;
    const RDom &d = stages.r;
    Var go("go"), gt("gt"), xo("xo"), xt("xt"), xi("xi"), yo("yo"), yt("yt"), yi("yi"),
        block("block");
    const std::vector<Var> threads = innermost_first(context, gt, xt, yt);

    Func out = stages.output;
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

    stages.sum.compute_at(out, threads[0])
        .store_in(MemoryType::Register)
        .bound_extent(k, 1)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .bound_extent(x, each_x)
        .bound_extent(y, each_y)
        .unroll(x)
        .unroll(y);
    Stage update = stages.sum.update();
    update.reorder(x, y, d.x, d.y).unroll(x).unroll(y);
    if (unrolled) update.unroll(d.x).unroll(d.y);
    update.never_partition_all();
}

}  // namespace gpu

}  // namespace hk::schedules
