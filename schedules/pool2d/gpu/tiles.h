#pragma once
// Tiles of pixels that a thread computes.

#include "schedules/gpu_elements.h"
#include "schedules/pool2d/pool2d.h"

namespace hk::schedules::gpu {

struct PixelTile {
    int x, y, threads = 64;

    void take(Knobs knobs) {
        knobs.take("tile_x", x, powers(1, 8));
        knobs.take("tile_y", y, powers(1, 8));
        knobs.take("threads", threads, powers(32, 1024));
        knobs.end();
    }
};

// Some rows of a column a thread, one after the other: what they have in common, most of all the
// divisions that find the thread's place, is computed once. Returns the loop of an element.
inline Halide::Var column_a_thread(Halide::Func out, Knobs knobs) {
    int rows = 4, threads = 128;
    knobs.take("rows", rows, powers(1, 16));
    knobs.take("threads", threads, powers(32, 1024));
    knobs.end();
    element_a_thread(out, out.args(), threads, {{generators::y, rows}});
    return generators::y;
}

// Windows are known, so that a thread's loops are unrolled.
inline void need_known_windows(const Pool2dContext &context) {
    const Conv2dSizes &sizes = context;
    if (sizes.stride_x == 0 || sizes.stride_y == 0 || sizes.kernel_w == 0 || sizes.kernel_h == 0)
        throw Halide::CompileError("schedule " + context.schedule +
                                   " needs windows and strides that are known");
}

// The loops of the output; what a thread keeps of one channel is computed at its loop c.
inline void tile_a_thread(Halide::Func out, const PixelTile &tile) {
    using namespace hk::generators;
    element_a_thread(out, out.args(), tile.threads, {{x, tile.x}, {y, tile.y}});
    out.reorder(x, y, g, n, c);
    out.unroll(x).unroll(y);
}

inline void keep_in_thread(Halide::Func f, const Halide::Func &out, const PixelTile &tile) {
    using namespace hk::generators;
    f.compute_at(out, c).store_in(Halide::MemoryType::Register).unroll(x).unroll(y);
    for (const Halide::Var &one : {c, g, n}) f.bound_extent(one, 1);
    f.bound_extent(x, tile.x).bound_extent(y, tile.y);
}

// Its update over a window, of each pixel in turn.
inline void unroll_update(Halide::Func f, const Halide::RDom &r) {
    using namespace hk::generators;
    std::vector<Halide::VarOrRVar> order;
    for (int d = 0; d < r.dimensions(); d++) order.emplace_back(r[d]);
    order.insert(order.end(), {x, y});
    f.update().reorder(order).never_partition_all();
    for (const Halide::VarOrRVar &loop : order) f.update().unroll(loop);
}

}  // namespace hk::schedules::gpu
