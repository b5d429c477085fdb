#pragma once
// 1x1 filters without padding and with strides of 1, of images in rows (nchw): sums of tiles of
// neighbouring columns. A row has whole tiles, and past the last of them tiles of one vector.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

// Columns of a tile: of a whole one, a multiple of a vector; of what is left of a row.
struct ColumnTiles {
    int whole, rest;
};

// sum and activated (k, g, x, tile, y, n) are of column x of a tile; the sum is over `channel`.
// `place`, of the output: the column of a tile, and the tile.
struct Conv2dColumnSums {
    Halide::Func sum, activated;
    Halide::RVar channel;
    Halide::RDom place;
};

// The output has an update for whole tiles, and one for the rest. Tiles of the rest end where the
// row does, so that none reads past it; a row is not shorter than one. The first of them may begin
// in a whole tile, whose columns it stores once more where `twice` says that none is read first.
struct Conv2dColumns {
    Halide::Var ki{"ki"}, ko{"ko"}, tile{"tile"};
    Halide::Func packed;  // undefined where an operand is packed
    Halide::Func start, output;
    Conv2dColumnSums whole, rest;
};
Conv2dColumns conv2d_columns(const Conv2dOperands &operands, const Conv2dLayout &layout,
                             const ColumnTiles &tiles, const Halide::Expr &twice);

}  // namespace hk::generators
