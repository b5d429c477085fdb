#pragma once
// Blocks of tiles in registers of matrices (compiler/tile_registers.h), for all schedules that have
// them.

#include "generators/conv2d/conv2d_filter.h"
#include "schedules/convolution_sizes.h"

namespace hk::schedules {

constexpr int kTileRows = 16;                                // pixels
constexpr int kBlockFilters = 2 * generators::kFilterBlock;  // two tiles

struct MatrixBlock {
    int columns;  // of a tile, whose other pixels are in rows below
    int x, y;     // tiles of pixels
    int chunk;    // blocks of a row in a task; 0: all
    int panel;    // KB of the filter in a pass over the pixels

    int width() const { return x * columns; }
    int height() const { return y * kTileRows / columns; }

    // Blocks of filters in a pass over the pixels: what stays in a core's cache meanwhile, and with
    // more threads than one fewer, where pixels are few tasks. Passes are even. `bytes`: of 16
    // filters, packed.
    Halide::Expr of_pass(const Halide::Expr &out_w, const Halide::Expr &out_h,
                         const Halide::Expr &filters, const Halide::Expr &bytes) const;
};

// Its knobs. Tiles that are as wide as the image are one beside the other, those of a line none
// below.
void take_knobs(MatrixBlock &block, const Conv2dSizes &context, int most_x = 2, int most_y = 2);

// Of loops over blocks, xo, yo and kb: tasks `rows` are rows of blocks, or `chunk` of one, in passes
// of so many blocks of filters.
void split_in_passes(Halide::Func out, const MatrixBlock &block,
                     const Halide::Expr &blocks_of_pass);

// Of a sum from zero: its loops over parts of a word, words, slices, columns and rows of the
// filter.
struct MatrixSteps {
    Halide::RVar part, word, slices, s, r;
};
// The sums of a block.
void hold(Halide::Func sum, const MatrixBlock &block, const Halide::LoopLevel &at,
          const MatrixSteps &steps);

}  // namespace hk::schedules
