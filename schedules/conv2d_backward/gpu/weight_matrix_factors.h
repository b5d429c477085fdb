#pragma once
// Tiles of the filter's gradient by products of matrices, and how their factors are staged in
// shared memory.

#include "schedules/conv2d_backward/conv2d_backward_weight.h"

namespace hk::schedules::gpu {

// A warp's threads are 4 by 8, as the fragments of a product have them: of each 8 neighbouring
// elements of a filter two, and of 8 filters one; of 16 two where operands have 32 bits.
constexpr int kMatrix = generators::kProductElements, kLanesE = 4, kLanesK = 8;

// Of multiply-adds a thread has four neighbours of both, which it loads at once, and pixels are
// unrolled by as many. Where pixels are next to each other it loads four of those instead.
constexpr int kNeighbours = 4;

// Words from a row of a slice's pixels in shared memory to the next: eight begin in different
// banks.
constexpr int kRow = generators::kProductPixels + kNeighbours;

struct WeightMatrixTiles {
    int tile_k = 128, tile_e = 128;
    int warps_k = 2, warps_e = 2, warps_x = 1, stages = 4;  // x: slices of a step
    int lanes_k = kLanesK, lanes_e = kLanesE;               // of a warp
    int of_lane_k = 1, of_lane_e = kMatrix / kLanesE;       // neighbours of a thread
    int vector = 0;                                         // pixels of a copy, of images in rows
    bool units = true;                                      // products are the tensor cores'

    int of_lanes_e() const { return lanes_e * of_lane_e; }
    int warps() const { return warps_k * warps_e * warps_x; }
    std::vector<int> threads() const { return {lanes_e, lanes_k, warps()}; }
    int bytes(int of_operand, int pixels = generators::kProductPixels) const {
        return of_operand * stages * pixels * warps_x * (tile_k + tile_e);
    }
};

// A step of both, at a loop of the sum.
void stage_factors(generators::Conv2dBackwardWeightProducts &stages, const WeightMatrixTiles &tiles,
                   const Halide::LoopLevel &step);

}  // namespace hk::schedules::gpu
