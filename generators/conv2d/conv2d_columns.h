#pragma once
// Images in rows (nchw): sums of tiles of neighbouring columns.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

// Columns of a tile: of a whole one, a multiple of a vector; of one vector; of single ones, whose
// sums are for vectors of filters instead. A row has whole tiles. Past the last of them it has
// vectors, and past these, where that is less than half a vector, single columns; or, with
// `overlap`, single columns or, where they are many, one more whole tile, which begins in the last.
//
// `panel` 0: tiles read the image, of 1x1 filters without padding and with strides of 1. Else, of
// any filters and with overlap, the output's rows are one line, and so many whole tiles of it read
// a panel: a copy of the image in which what a term of their sums reads is neighbouring columns.
struct ColumnTiles {
    int whole, vector, single;
    bool overlap = false;
    int panel = 0;
};

// sum and activated (k, g, x, tile, y, n) are of column x of a tile; the sum is over terms.x = c,
// .y = s, .z = r. `place`, of the output: the column of a tile, and the tile. packed(k %
// kFilterBlock, c, s, r, k / kFilterBlock, g) is the weight; undefined where an operand is packed,
// and of single columns, which read the weight as it is.
//
// copied(x, c, s, r, g, tile, y, n) is what column x of a tile is multiplied with, where it lies in
// the image or the panel, unless a schedule copies it. Single columns have none.
//
// panel(x, c, s, r, g, panel, n) is what column x of a panel reads there: vectors of the rows that
// the panel meets, one row after the other (`rows`: an element, a vector, a row). They are read
// from `padded`, (c, g, x, y, panel, n), zeros that the image's rows are copied into (`elements`),
// but that a panel inside a row has only columns ends(panel)[0] to ends(panel)[1] of it.
struct Conv2dColumnSums {
    Halide::Func packed, ends, padded, panel, copied, sum, activated;
    Halide::RDom terms, place, elements, rows;
    int columns_of_panel = 0;  // beside which it has up to a vector at either end
};

// The output has an update for each kind of tiles; with overlap there are no vectors. Whole ones
// begin where a row does, vectors end where it does or single columns begin, and these end where it
// does, so that no tile reads past the row, which is not shorter than a vector, with overlap than a
// whole tile. A tile may begin in what another tile has, whose columns it stores once more where
// `twice` says that none is read first.
struct Conv2dColumns {
    Halide::Var ki{"ki"}, ko{"ko"}, tile{"tile"};  // of packed; of a sum
    Halide::Func start, output;
    Halide::Expr filters;  // of a group
    Conv2dColumnSums whole, vectors, singles;
};
Conv2dColumns conv2d_columns(const Conv2dOperands &operands, const Conv2dLayout &layout,
                             const ColumnTiles &tiles, const Halide::Expr &twice);

}  // namespace hk::generators
