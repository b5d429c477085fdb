#include "schedules/conv2d/gpu/matrix_factors.h"

#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// Factors whose terms are across memory: loops of a thread's copies, and those of a block's
// threads, t0 to t2.
struct CopiesAcross {
    Var lane{"lane"}, v{"v"}, co{"co"}, ci{"ci"}, t0{"t0"}, t1{"t1"}, t2{"t2"};

    // A thread copies several vectors of one term, which are so far apart everywhere. Eight threads
    // are of two terms, four apart, which are in different banks (compiler/swizzle.h).
    void divide_vectors(Func factor, const MatrixTiles &t) const {
        const Var far("far");
        factor.split(c, co, ci, kMatrixLanesX)
            .split(ci, far, ci, kMatrixLanesX / 2)
            .split(co, co, t2, t.warps(), TailStrategy::GuardWithIf)
            .fuse(far, ci, t1);
    }
    // Of several terms one vector, whose place it finds once, or a few; its neighbours copy the
    // next ones.
    void divide_terms(Func factor, int vectors, const MatrixTiles &t) const {
        const Var next("next");
        const int neighbours = std::min(vectors / kMatrixLanesK, kMatrixLanesX),
                  terms = kMatrixLanesX / neighbours;
        factor.split(v, v, next, neighbours)
            .split(c, co, ci, terms * t.warps(), TailStrategy::GuardWithIf)
            .split(ci, t2, ci, terms)
            .fuse(next, ci, t1);
    }
};

void copy_across(Func factor, const Var &inner, int tile, int vector, const MatrixTiles &t,
                 const LoopLevel &step) {
    const bool pixels = inner.name() == x.name();
    const CopiesAcross copies;
    const ProductSlice slice(factor.type());
    std::vector<Var> storage = {inner, c}, alone;
    for (const Var &dim : factor.args())
        if (dim.name() != inner.name() && dim.name() != c.name()) alone.push_back(dim);
    storage.insert(storage.end(), alone.begin(), alone.end());
    factor.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage(storage)
        .bound_extent(inner, tile)
        .bound_extent(c, slice.channels);
    for (const Var &one : alone) factor.bound_extent(one, 1);
    factor.split(inner, copies.v, copies.lane, vector)
        .split(copies.v, copies.v, copies.t0, kMatrixLanesK);
    pixels ? copies.divide_terms(factor, tile / vector, t) : copies.divide_vectors(factor, t);
    std::vector<VarOrRVar> loops = {copies.lane, copies.v,  copies.co,
                                    copies.t0,   copies.t1, copies.t2};
    loops.insert(loops.end(), alone.begin(), alone.end());
    factor.reorder(loops)
        .vectorize(copies.lane)
        .gpu_threads(copies.t0, copies.t1, copies.t2)
        .never_partition_all();
}

// A thread copies all channels of a pixel, or every so many, whose place it finds once. In its
// memory the four pixels of a quarter's thread are next to each other, for it to load at once.
void copy_rows(Conv2dSliced &stages, const MatrixTiles &t, const ProductSlice &slice,
               const LoopLevel &step) {
    const Var &quarter = stages.quarter, &lane = stages.lane, &set = stages.set;
    const int sets = t.tile_x / (kWords * t.lanes_x), parts = kWords * sets;
    const Var part("part"), po("po"), co("co"), t1("t1");
    Func &tap = stages.tap;
    tap.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage({quarter, lane, set, c, s, r, g})
        .bound_extent(quarter, kWords)
        .bound_extent(lane, t.lanes_x)
        .bound_extent(set, sets)
        .bound_extent(c, slice.channels);
    for (const Var &one : {s, r, g}) tap.bound_extent(one, 1);
    tap.fuse(quarter, set, part)
        .split(part, po, part, std::min(parts, t.lanes_k))
        .split(c, co, c, std::max(t.lanes_k / parts, 1))
        .fuse(part, c, t1)
        .reorder(co, po, lane, t1, s, r, g)
        .gpu_threads(lane, t1)
        .never_partition_all();
}

// A thread copies vectors of a row's pixels, of every so many channels, whose place it finds once.
void copy_vectors(Conv2dSliced &stages, const MatrixTiles &t, const ProductSlice &slice,
                  const LoopLevel &step) {
    stages.tap.reorder_storage({x, c, y, s, r, g, n});
    cooperative_copy(stages.tap, step,
                     {{x, t.tile_x}, {c, slice.channels}, {y, 1}, {s, 1}, {r, 1}, {g, 1}, {n, 1}},
                     t.threads(), stages.row_vector, true);
}

// A thread reads words of pixels of a vector of channels, its neighbours the next ones, and stores
// a vector of each pixel: in memory the nearest pixels are those of neighbours, in other banks.
// Loops over the pixels are LLVM's to unroll, as tiles begin at their copies (compiler/swizzle.h).
void copy_turned(Conv2dSliced &stages, const MatrixTiles &t, const ProductSlice &slice,
                 const LoopLevel &step) {
    const Var &lane = stages.lane, &half = stages.half, &set = stages.set;
    const Var ci("ci"), c16("c16"), co("co"), word("word"), t0("t0"), t1("t1"), t2("t2");
    const int halves = t.pixels_of_lane == kWords ? 1 : 2;
    Func &tap = stages.tap;
    tap.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage({c, half, lane, set, s, r, g})
        .bound_extent(c, slice.channels)
        .bound_extent(lane, kWords)
        .bound_extent(half, halves)
        .bound_extent(set, t.tile_x / (halves * kWords));
    for (const Var &one : {s, r, g}) tap.bound_extent(one, 1);
    tap.split(c, c16, ci, slice.vector)
        .fuse(half, set, word)
        .fuse(word, c16, word)
        .split(word, co, t2, 32 * t.warps(), TailStrategy::GuardWithIf)
        .split(t2, t2, t1, 32)
        .split(t1, t1, t0, t.lanes_x)
        .reorder({ci, lane, co, t0, t1, t2, s, r, g})
        .vectorize(ci)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
    stages.turned_words.compute_at(tap, lane)
        .store_in(MemoryType::Register)
        .bound_extent(c, slice.vector / kWords)
        .unroll(c);
    for (const Var &one : {lane, g, half, set}) stages.turned_words.bound_extent(one, 1);
    stages.words.compute_at(tap, co)
        .store_in(MemoryType::Register)
        .bound_extent(c, slice.vector)
        .unroll(c);
    for (const Var &one : {g, half, set}) stages.words.bound_extent(one, 1);
}

}  // namespace

// Terms next to each other, but those of a filter that is staged `across`, as memory has it.
void stage_factors(Conv2dSliced &stages, const MatrixTiles &t, bool across) {
    const LoopLevel step(stages.sum, stages.r.y);
    const ProductSlice slice(stages.filter.type());
    if (stages.vectors_of_filters.defined()) {
        stages.filter.reorder_storage(k, c, s, r, g);
        cooperative_copy(stages.filter, step,
                         {{k, t.tile_k}, {c, slice.channels}, {s, 1}, {r, 1}, {g, 1}}, t.threads(),
                         slice.vector, true);
        stages.lanes > 0 ? copy_rows(stages, t, slice, step) : copy_vectors(stages, t, slice, step);
        return;
    }
    if (!t.units)
        (t.pixels_first ? stages.tap : stages.filter)
            .align_storage(c, slice.channels + slice.vector);
    if (across) {
        copy_across(stages.filter, k, t.tile_k, slice.vector, t, step);
    } else {
        stages.filter.reorder_storage(c, k, s, r, g);
        cooperative_copy(stages.filter, step,
                         {{c, slice.channels}, {s, 1}, {r, 1}, {k, t.tile_k}, {g, 1}}, t.threads(),
                         slice.vector, true);
    }
    if (stages.turned_words.defined()) {
        copy_turned(stages, t, slice, step);
        return;
    }
    if (stages.row_vector > 0) {
        copy_across(stages.tap, x, t.tile_x, stages.row_vector, t, step);
        return;
    }
    if (stages.halo > 0) {
        stages.tap.reorder_storage(c, x, stages.tile, g);
        cooperative_copy(stages.tap,
                         LoopLevel(stages.sum, RVar("stages_" + std::to_string(t.stages))),
                         {{c, slice.channels}, {x, stages.halo}, {stages.tile, 1}, {g, 1}},
                         t.threads(), slice.vector, true);
        return;
    }
    stages.tap.reorder_storage({c, x, y, s, r, g, n});
    cooperative_copy(stages.tap, step,
                     {{c, slice.channels}, {g, 1}, {x, t.tile_x}, {y, 1}, {n, 1}, {s, 1}, {r, 1}},
                     t.threads(), slice.vector, true);
}

}  // namespace hk::schedules::gpu
