#pragma once
// 1x1 filters without padding and with strides of 1, of images in rows (nchw): sums of tiles of
// neighbouring columns. A row has whole tiles, past the last of them vectors, and past these, where
// that is less than half a vector, a few single columns.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

// Columns of a tile: of a whole one, a multiple of a vector; of one vector; of single ones, whose
// sums are for vectors of filters instead.
struct ColumnTiles {
    int whole, vector, single;
};

// sum and activated (k, g, x, tile, y, n) are of column x of a tile; the sum is over `channel`.
// `place`, of the output: the column of a tile, and the tile. packed(k % kFilterBlock, c, k /
// kFilterBlock, g) is the weight; undefined where an operand is packed, and of single columns,
// which read the weight as it is.
struct Conv2dColumnSums {
    Halide::Func packed, sum, activated;
    Halide::RVar channel;
    Halide::RDom place;
};

// The output has an update for each kind of tiles. Whole ones begin where a row does, vectors end
// where it does or single columns begin, and these end where it does, so that no tile reads past
// the row, which is not shorter than a vector. A tile may begin in what another tile has, whose
// columns it stores once more where `twice` says that none is read first.
struct Conv2dColumns {
    Halide::Var ki{"ki"}, ko{"ko"}, tile{"tile"};  // of packed; of a sum
    Halide::Func start, output;
    Conv2dColumnSums whole, vectors, singles;
};
Conv2dColumns conv2d_columns(const Conv2dOperands &operands, const Conv2dLayout &layout,
                             const ColumnTiles &tiles, const Halide::Expr &twice);

}  // namespace hk::generators
