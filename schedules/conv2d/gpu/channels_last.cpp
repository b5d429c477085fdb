#include "schedules/conv2d/gpu/channels_last.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr int kRowBytes = 128, kPixels = 32;  // of a tile: of a pixel's channels; a warp's

// A thread writes a vector of `lane`, its neighbours the next ones of the loop.
void run_copy(Func to, const Var &loop, const Var &lane) {
    const Var block("block"), thread("thread");
    to.split(loop, block, thread, 256, guard)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .vectorize(lane)
        .never_partition_all();
}

// A thread reads a channel after the other of a vector, its neighbours those of the nearest taps,
// and then of what is nearest to them in memory; and writes 16 bytes.
void copy_filter(const Conv2dSliced &stages, bool filters_inner) {
    const Var c8("c8"), ci("ci"), near("near");
    Func to = stages.transposed;
    to.compute_root()
        .bound(c, 0, stages.vectors_of_channels)
        .bound(k, 0, stages.filters)
        .bound(g, 0, stages.groups)
        .reorder_storage(c, k, s, r, g)
        .split(c, c8, ci, ProductSlice(to.type()).vector, TailStrategy::RoundUp);
    if (filters_inner)
        to.reorder(ci, s, r, k, c8, g);
    else
        to.reorder(ci, s, r, c8, k, g);
    to.fuse(s, r, near)
        .fuse(near, filters_inner ? k : c8, near)
        .fuse(near, filters_inner ? c8 : k, near)
        .fuse(near, g, near);
    run_copy(to, near, ci);
}

// A thread reads a filter after the other of a vector, its neighbours those of the same sector and
// of the nearest taps and channels; and writes 16 bytes.
void copy_filters_inner(const Conv2dSliced &stages) {
    const Var k8("k8"), ki("ki"), kt("kt"), near("near");
    Func to = stages.transposed;
    to.compute_root()
        .bound(k, 0, stages.vectors_of_filters)
        .bound(c, 0, stages.vectors_of_channels)
        .bound(g, 0, stages.groups)
        .reorder_storage(k, c, s, r, g)
        .split(k, k8, ki, ProductSlice(to.type()).vector, TailStrategy::RoundUp)
        .split(k8, k8, kt, 2, guard)
        .reorder(ki, kt, s, r, c, k8, g)
        .fuse(s, r, near)
        .fuse(near, c, near)
        .fuse(kt, near, near)
        .fuse(near, k8, near)
        .fuse(near, g, near);
    run_copy(to, near, ki);
}

}  // namespace

// A block copies 128 bytes of channels of 32 pixels, 256 vectors of 16 bytes. A warp reads 32
// pixels of a channel, eight times, and has a vector of channels of each, which it stores to rows
// of 144 bytes: eight rows begin in eight different groups of banks. Its threads then write the
// vectors of a pixel next to each other.
void copy_image(CopiedImage image) {
    const int vector = ProductSlice(image.to.type()).vector;
    const int channels = kRowBytes / image.to.type().bytes(), vectors = channels / vector;
    const Var c8("c8"), ci("ci"), co("co"), xo("xo"), go("go"), block("block");
    image.to.compute_root()
        .bound(c, 0, image.channels)
        .bound(x, 0, image.pixels)
        .bound(g, 0, image.groups)
        .split(c, c8, ci, vector, TailStrategy::RoundUp)
        .split(c8, co, c8, vectors, guard)
        .split(x, xo, x, kPixels, guard)
        .split(g, go, g, 1)
        .reorder(ci, c8, x, g, co, xo, go)
        .fuse(xo, go, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .gpu_threads(c8, x)
        .vectorize(ci)
        .never_partition_all();
    const Var tile8("tile8"), tile_ci("tile_ci"), fused("fused"), t0("t0"), t1("t1");
    image.tile.compute_at(image.to, block)
        .store_in(MemoryType::GPUShared)
        .bound_extent(c, channels)
        .bound_extent(x, kPixels)
        .bound_extent(g, 1)
        .align_storage(c, channels + vector)
        .split(c, tile8, tile_ci, vector)
        .reorder(tile_ci, x, tile8, g)
        .fuse(x, tile8, fused)
        .split(fused, t1, t0, vectors)
        .gpu_threads(t0, t1)
        .vectorize(tile_ci)
        .never_partition_all();
}

// A thread writes 16 bytes, its neighbours the next ones of a row.
void copy_windows(const CopiedWindows &windows) {
    constexpr int threads_c = 32, threads_y = 8;
    const Var c8("c8"), ci("ci"), co("co"), yo("yo"), go("go"), no("no"), block("block");
    Func to = windows.to;
    to.compute_root()
        .bound(c, 0, windows.elements)
        .bound(y, 0, windows.lines)
        .bound(g, 0, windows.groups)
        .bound(n, 0, windows.images)
        .reorder_storage(c, y, g, n)
        .align_storage(c, ProductSlice(to.type()).vector)
        .split(c, c8, ci, ProductSlice(to.type()).vector, TailStrategy::RoundUp)
        .split(c8, co, c8, threads_c, guard)
        .split(y, yo, y, threads_y, guard)
        .split(g, go, g, 1)
        .split(n, no, n, 1)
        .reorder({ci, c8, y, g, n, co, yo, go, no})
        .fuse(go, no, block)
        .fuse(yo, block, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .gpu_threads(c8, y)
        .vectorize(ci)
        .never_partition_all();
}

// Of the whole filter, once: a thread reads a channel of a vector of filters, its neighbours the
// next ones, and writes 16 bytes; of f32 a neighbour has the sector's other 16.
void copy_filter_across(Func transposed, const Expr &channels) {
    const Var c8("c8"), c2("c2"), ci("ci"), ct("ct"), kt("kt"), block("block");
    constexpr auto guard = TailStrategy::GuardWithIf;
    const int vector = ProductSlice(transposed.type()).vector;
    const bool pairs = transposed.type().bytes() == 4;
    transposed.compute_root()
        .bound(c, 0, channels)
        .reorder_storage(c, k, s, r, g)
        .align_storage(c, vector)
        .split(c, c8, ci, vector, TailStrategy::RoundUp)
        .split(c8, c8, ct, 8, guard)
        .split(k, k, kt, 32, guard);
    if (pairs) transposed.split(ct, ct, c2, 2).fuse(c2, kt, kt);
    transposed.reorder(ci, kt, ct, k, c8, s, r, g)
        .fuse(r, g, block)
        .fuse(s, block, block)
        .fuse(c8, block, block)
        .fuse(k, block, block)
        .gpu_blocks(block)
        .gpu_threads(kt, ct)
        .vectorize(ci)
        .never_partition_all();
}

void copy_channels_last(Conv2dSliced &stages, bool filters_inner) {
    if (stages.vectors_of_filters.defined()) {
        copy_filters_inner(stages);
        return;
    }
    if (stages.windows.to.defined())
        copy_windows(stages.windows);
    else if (stages.channels_last.defined())
        copy_image({stages.turned, stages.channels_last, stages.vectors_of_channels,
                    stages.input_pixels, stages.groups});
    copy_filter(stages, filters_inner);
}

}  // namespace hk::schedules::gpu
