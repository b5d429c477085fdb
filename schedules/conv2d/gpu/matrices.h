#pragma once
// Convolutions by products of matrices, which compiler/tensor_cores.h makes of a loop `product`.
//
// A warp computes 32 output channels, or 16 of 32 bits, or a multiple, at pairs of 8 pixels. Slices
// of 64 bytes of a tap's channels pass through shared memory, `stages` of them on their way or
// there (compiler/async_copies.h), of a filter, and a pixel. Of 128 filters by 64 pixels, a warp 32
// by 64, that is 32 products to 12 loads of four matrices, and 64 * 4 * (128 + 64) = 49152 bytes.
//
// Pixels of all images are one line, so that tiles are full whatever an image's size is: what a
// pixel costs is its place, once a step. What follows the sum is unrolled but for the smooth
// activations, of which each is hundreds of instructions: they are before it, a loop over the sums,
// which stay in registers (compiler/turned_registers.h).
//
// A filter whose terms are across memory (backward data's) is staged so, and ldmatrix transposes: a
// thread then has two of each 8 channels, and stores pairs. Of f16 and f32 it is copied first.
//
// Where an output's pixels are at places of their own, the line is the update's. Where tiles are
// few and sums long, blocks have a part of a tile's sum each, and a second kernel adds those up.
//
// Of images in rows the line is that of the copy whose channels are next to each other. A thread
// stores its sums one by one, as its neighbours, 8 pixels, are next to each other: half sectors, of
// pixels wherever they begin. Where rows are read as they are, ldmatrix transposes them, and a
// thread stores pairs of pixels. Multiply-adds read images in rows as they are, a word at a time
// (of any stride, padding and place), and the filter, copied, with filters next to each other: a
// channel's sums of 8 by 8 are of four loads. Where rows are whole vectors of four pixels, 1x1
// filters read them so, and a thread has four neighbours, which it stores at once.
//
// Bytes of such an output, of whole vectors of pixels, have pixels and output channels in each
// other's place: a thread has neighbouring pixels, which it stores at once. 1x1 filters read such
// images as they are, by words of pixels that a thread turns on their way to shared memory.

#include "generators/conv2d/conv2d.h"
#include "schedules/schedule.h"

namespace hk::schedules::gpu {

// A warp's threads are 4 by 8, as the fragments of a product have them: neighbours of 8 output
// channels each, or 4 of 32 bits, so that a store is 16 bytes at most, and of a pixel.
constexpr int kMatrixLanesK = 4, kMatrixLanesX = 8;

// Or two of each 8, of a filter whose terms are across memory (compiler/matrix_operand.h).
constexpr int kAcross = 2;
constexpr int kWords = 4;  // of a load
constexpr int kPartVector = 4;  // of a part's sums, that a thread adds up
inline int channels_of_lane(const Halide::Type &result) { return result.bytes() == 4 ? 4 : 8; }

struct MatrixTiles {
    int tile_k = 128, tile_x = 64;
    int warps_k = 4, warps_x = 1, stages = 4;
    int lanes_k = kMatrixLanesK, lanes_x = kMatrixLanesX;  // of a warp
    int halo = 0;                                          // pixels of one, where halos are staged
    // Pixels that are copied, or stored, at once, of images in rows; of nhwc 1: a thread stores its
    // output channels one by one, of which there are any number.
    int vector = 8;
    int of_lane;                // neighbouring output channels of a thread
    int pixels_of_lane = 1;     // or neighbouring pixels
    bool units = true;          // products are the tensor cores'
    bool pixels_first = false;  // neighbouring threads are of neighbouring pixels

    explicit MatrixTiles(int of_lane) : of_lane(of_lane) {}

    int of_warp() const { return lanes_k * of_lane; }
    int pixels_of_warp() const { return lanes_x * pixels_of_lane; }
    int warps() const { return warps_k * warps_x; }
    // Innermost first, as loops over sums have them: copies run on the same.
    std::vector<int> threads() const {
        return pixels_first ? std::vector{lanes_x, lanes_k, warps()}
                            : std::vector{lanes_k, lanes_x, warps()};
    }
};

// As the schedule's knobs have them, of so many neighbouring output channels of a thread, or of
// neighbouring pixels. `vectors`: what knob `vector` may be, where there is one.
MatrixTiles matrix_tiles(const Context &context, int of_lane, const std::vector<int> &vectors = {},
                         bool halos = false);
MatrixTiles pixel_tiles(const Context &context, int of_lane, const std::vector<int> &vectors);
// Those of multiply-adds: all threads of a block are as one warp is there.
MatrixTiles outer_tiles(const Context &context, bool pixels_first);

// Blocks of the output, or of its parts, and all that they make and stage, but for what follows the
// sum: the output's stage, and the level of the blocks, `at`.
Halide::Stage tile_matrices(generators::Conv2dSliced &stages, const MatrixTiles &tiles,
                            Halide::LoopLevel &at);
// A kernel that adds up the sums' parts, and what follows: the output's stage, and its blocks. A
// thread has 16 bytes of a part, output channels of a pixel; of images in rows as many as
// matrices'.
struct PartBlocks {
    Halide::LoopLevel at;
    int filters;  // of a block
    std::vector<int> threads;
};
Halide::Stage finish_parts(generators::Conv2dSliced &stages, PartBlocks &blocks);
// What follows the sum one by one, for a thread to store them at once: LLVM has no vectors of it.
void finish_one_by_one(Halide::Func activated, const generators::Conv2dSliced &stages,
                       const MatrixTiles &tiles);
// Unrolls a thread's loops of the output's stage, or of a specialisation of it.
void unroll_matrices(Halide::Stage out, const generators::Conv2dSliced &stages,
                     const MatrixTiles &tiles);

}  // namespace hk::schedules::gpu
