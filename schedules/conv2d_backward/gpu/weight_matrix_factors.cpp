#include "schedules/conv2d_backward/gpu/weight_matrix_factors.h"

#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// A thread copies several vectors of one pixel, whose place it finds once. Eight threads are of two
// pixels, which are in different banks (compiler/swizzle.h): neighbours where a pixel has 64 bytes,
// else four apart, or two where elements have 32 bits.
void copy_taps(const Conv2dBackwardWeightProducts &stages, const WeightMatrixTiles &t,
               const LoopLevel &step) {
    const Var &e = stages.e, &slice = stages.slice;
    Func tap = stages.tap;
    Var lane("lane"), e8("e8"), xo("xo"), xi("xi"), t0("t0"), t1("t1"), t2("t2");
    tap.reorder_storage({e, x, slice, g});
    tap.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .bound_extent(e, t.tile_e)
        .bound_extent(x, kProductPixels)
        .bound_extent(slice, t.warps_x)
        .bound_extent(g, 1)
        .split(e, e8, lane, pixel_vector(tap.type()))
        .split(e8, e8, t0, t.lanes_e)
        .split(x, xo, xi, t.lanes_k)
        .fuse(xo, slice, xo)
        .split(xo, xo, t2, t.warps(), guard);
    const Var far("far");
    if (!t.units) {
        tap.rename(xi, t1);
    } else if (t.of_lane_k > 1) {
        const Var near("near");
        tap.split(xi, xi, near, 2).split(xi, xi, far, 2).fuse(far, near, t1).fuse(t1, xi, t1);
    } else if (t.tile_e > kProductPixels) {
        tap.split(xi, far, xi, kLanesK / 2).fuse(far, xi, t1);
    } else {
        tap.rename(xi, t1);
    }
    tap.reorder(lane, e8, xo, t0, t1, t2, g)
        .vectorize(lane)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
}

void copy_channels(const Conv2dBackwardWeightProducts &stages, const WeightMatrixTiles &t,
                   const LoopLevel &step) {
    Func gradient = stages.gradient;
    gradient.reorder_storage({k, x, stages.slice, g});
    cooperative_copy(gradient, step,
                     {{k, t.tile_k}, {g, 1}, {x, kProductPixels}, {stages.slice, t.warps_x}},
                     t.threads(), pixel_vector(gradient.type()), true);
}

// Pixels next to each other. A thread copies the same ones of several elements, its warp those of
// one slice.
void copy_vectors_of_rows(Func rows, const Var &e, int tile,
                          const Conv2dBackwardWeightProducts &stages, const WeightMatrixTiles &t,
                          const LoopLevel &step) {
    const Var lane("lane"), eo("eo"), ei("ei"), all("all"), t0("t0"), t1("t1"), t2("t2");
    const int lanes = t.lanes_e * t.lanes_k, vectors = kProductPixels / stages.row_vector;
    rows.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage({x, e, stages.slice, g})
        .bound_extent(x, kProductPixels)
        .bound_extent(e, tile)
        .bound_extent(stages.slice, t.warps_x)
        .bound_extent(g, 1)
        .split(x, x, lane, stages.row_vector)
        .split(e, eo, ei, lanes * t.warps() / (vectors * t.warps_x), guard)
        .fuse(x, ei, all)
        .fuse(all, stages.slice, all)
        .split(all, t2, all, lanes)
        .split(all, t1, t0, t.lanes_e)
        .reorder(lane, eo, t0, t1, t2, g)
        .vectorize(lane)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
}

// Of images in rows: a thread copies words of one pixel, whose place it finds once, of four
// neighbouring elements and then of others; a warp's are next to each other.
void copy_rows(Func rows, const Var &e, int tile, const Var &slice, const WeightMatrixTiles &t,
               const LoopLevel &step) {
    Var near("near"), far("far"), xi("xi"), t1("t1");
    const int halves = kProductPixels / t.lanes_e;
    rows.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage({x, e, slice, g})
        .bound_extent(slice, 1)
        .align_storage(x, kRow)
        .bound_extent(e, tile)
        .bound_extent(x, kProductPixels)
        .bound_extent(g, 1)
        .split(x, x, xi, t.lanes_e)
        .split(e, e, near, kNeighbours)
        .split(e, e, far, t.lanes_k / halves)
        .fuse(x, far, t1)
        .reorder({near, e, xi, t1, slice, g})
        .gpu_threads(xi, t1)
        .never_partition_all();
}

}  // namespace

void stage_factors(Conv2dBackwardWeightProducts &stages, const WeightMatrixTiles &t,
                   const LoopLevel &step) {
    if (stages.in_rows && !t.units) {
        copy_rows(stages.gradient, k, t.tile_k, stages.slice, t, step);
        copy_rows(stages.tap, stages.e, t.tile_e, stages.slice, t, step);
    } else {
        if (stages.row_vector > 0)
            copy_vectors_of_rows(stages.gradient, k, t.tile_k, stages, t, step);
        else
            copy_channels(stages, t, step);
        if (stages.in_rows)
            copy_vectors_of_rows(stages.tap, stages.e, t.tile_e, stages, t, step);
        else
            copy_taps(stages, t, step);
    }
}

}  // namespace hk::schedules::gpu
