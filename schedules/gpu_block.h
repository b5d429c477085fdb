#pragma once
// The loops that GPU schedules of convolutions share, over the index letters of
// generators/conv2d/conv2d.h.

#include "generators/conv2d/conv2d.h"
#include "schedules/schedule.h"

namespace hk::schedules::gpu {

// A block of threads computes tile_k output channels at tile_x * tile_y pixels of one group, from
// slices of tile_c of its input channels, or words of channels, where it stages them.
struct Tiles {
    int tile_k, tile_x, tile_y, tile_c;
    int threads_k, threads_x, threads_y;

    int threads() const { return threads_k * threads_x * threads_y; }
    int sums() const { return tile_k * tile_x * tile_y / threads(); }  // of a thread

    // As a schedule's knobs have them: slices where it stages, rows of y where blocks have several.
    void take(Knobs &knobs, bool slices, bool rows = true);
    // Of a block's memory for operands, of elements of so many bytes.
    static void estimate_shared(int elements, int bytes = 4);
};

// Loops, or sizes, of k, x and y, the one whose neighbours are neighbours in memory first.
template<typename Loop>
std::vector<Loop> innermost_first(bool nhwc, const Loop &k, const Loop &x, const Loop &y) {
    return nhwc ? std::vector<Loop>{k, x, y} : std::vector<Loop>{x, y, k};
}

// Copies a tile by all threads of its block: its dimensions, innermost in memory first, become
// one, whatever the shape of the threads is. Staging over the tile's own dimensions would widen the
// block to the larger of the two shapes and leave threads idle in the sum. `each` is the number of
// neighbours that a thread copies together, one by one or as a vector; it divides the first extent.
void cooperative_copy(Halide::Func tile, const Halide::LoopLevel &at,
                      const std::vector<std::pair<Halide::Var, int>> &extents,
                      const std::vector<int> &threads, int each = 1, bool vectors = false);

// No two turns of the update's loops write one element, which Halide can't prove where the places
// are found by arguments: it would not put the loops into another order. allow_race_conditions()
// says so for parallel loops alone.
void promise_distinct(const Halide::Stage &update);

// For a convolution of one filter a group: a block computes tile_g groups at tile_x * tile_y pixels,
// a thread each_x * each_y pixels of one, its neighbours those of the next groups (nhwc) or pixels
// (nchw) in memory.
struct GroupTiles {
    int tile_g, tile_x, tile_y, each_x, each_y;

    void take(Knobs knobs);  // all of them
    // As of a block.
    std::vector<int> threads(bool nhwc) const;
};

// The loops of the output, whose one channel of a group is c or k. Blocks are at a loop `block`,
// threads inside of it.
void tile_groups(Halide::Func out, bool nhwc, const GroupTiles &tiles);
// And those of its sums, in registers, around `steps`, loops of the sum.
void compute_groups(Halide::Func out, Halide::Func sum, bool nhwc, const GroupTiles &tiles,
                    const std::vector<Halide::VarOrRVar> &steps);
// The innermost loop of its threads.
Halide::Var thread_of_groups(bool nhwc);

// What the loops of a block are called that Tiles has sizes for, and the others, of which a block
// computes one element.
struct Axes {
    Halide::VarOrRVar k, x, y;
    std::vector<Halide::VarOrRVar> alone;
};
Axes image_axes();  // k, x, y, and g and n alone

// The loops of a block, for its output and its sums alike.
class Block {
public:
    // `sums`: the axes of the sum, and of the output where `output` does not say others.
    Block(const Tiles &tiles, bool nhwc, const Axes &sums = image_axes());
    Block(const Tiles &tiles, bool nhwc, const Axes &sums, const Axes &output);

    const Tiles &tiles() const { return tiles_; }
    std::vector<int> threads() const;

    // What is unrolled of what follows the sum: two thirds of the code where it is all.
    enum class Unroll { all, neighbours_in_memory, none };

    // Blocks of all tiles, groups and images in one dimension of the grid, the others of which end
    // at 65535; neighbouring blocks read the same input.
    void tile(Halide::Stage out, Unroll unroll = Unroll::neighbours_in_memory) const;

    // Sums of a block, in the registers of its threads.
    void hold(Halide::Func sum, const Halide::Func &out) const;

    // What sums start from, [k, g], loaded once: else it is loaded for each of them, as no compiler
    // joins loads that a condition guards. Of sums that hold() has, by the block, to shared memory,
    // 4 * tile_k bytes; of accumulate_alone(), by each thread, to registers.
    void hold_start(Halide::Func start, const Halide::Func &out) const;
    void hold_start_alone(Halide::Func start, const Halide::Func &out) const;

    // `inside`: loops of a thread; `around`: serial loops of the block; `innermost`: loops inside
    // those of the thread's sums.
    void accumulate(Halide::Stage stage, const std::vector<Halide::VarOrRVar> &inside,
                    std::vector<Halide::VarOrRVar> around,
                    const std::vector<Halide::VarOrRVar> &innermost = {}) const;

    // Instead of tile() and hold(): a thread is alone with its sums, nothing is staged. `steps`:
    // loops of the sum.
    void accumulate_alone(Halide::Func sum, const Halide::Func &out,
                          const std::vector<Halide::VarOrRVar> &steps) const;
    // Sums of a thread that is alone with them, at a loop of its own.
    void accumulate_in_thread(Halide::Func sum, const Halide::LoopLevel &at,
                              const std::vector<Halide::VarOrRVar> &steps) const;

private:
    struct Loops : Axes {
        Loops(const Axes &axes, bool nhwc);
        Halide::VarOrRVar ko, kt, ki, xo, xt, xi, yo, yt, yi, group;
    };

    const Tiles tiles_;
    const bool nhwc_;
    const Loops sums_, output_;
    const Halide::VarOrRVar block_;
    bool has_groups_;

    // A thread of a block that holds its sums has neighbours in memory in groups of so many, so
    // that those of neighbouring threads lie next to each other: of eight in one piece the second
    // four would be in the banks of the next thread's.
    static constexpr int kVector = 4;

    std::vector<Halide::VarOrRVar> threads_of(const Loops &loops) const;
    void bound(Halide::Func sum, int threads_k, int threads_x, int threads_y) const;
    void divide(Halide::Stage &stage, const Loops &loops, Halide::TailStrategy tail,
                bool groups) const;
    void run(Halide::Stage &stage, const Loops &loops, bool groups) const;
    std::vector<Halide::VarOrRVar> order(const Loops &loops,
                                         const std::vector<Halide::VarOrRVar> &inside,
                                         const std::vector<Halide::VarOrRVar> &around,
                                         const std::vector<Halide::VarOrRVar> &innermost,
                                         bool groups) const;
};

}  // namespace hk::schedules::gpu
