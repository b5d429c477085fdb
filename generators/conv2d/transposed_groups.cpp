#include "generators/conv2d/transposed_groups.h"

#include "generators/ceil_div.h"
#include "generators/transpose.h"

using namespace Halide;

namespace hk::generators {

Func transposed_groups(const Func &image, const Expr &groups, const Expr &width, const Expr &height,
                       TransposedTiles &tiles, bool zeros) {
    const int columns = tiles.columns, lanes = tiles.groups;
    const Var tile("tile"), gb("gb");
    const auto first = [&](const Expr &of) { return min(of * columns, width - columns); };
    Func rows("rows");
    rows(element, row, tile, gb, y, n) = cast<float>(image(
        0, min(gb * lanes + row, groups - 1), first(tile) + element, clamp(y, 0, height - 1), n));
    tiles.there = transpose(rows, lanes, {tile, gb, y, n});
    tiles.r = RDom(0, columns, 0, ceil_div(width, columns), "tile");
    tiles.r.where(y >= 0 && y < height);
    const RDom &t = tiles.r;
    Func padded("padded");
    padded(c, g, x, y, n) = zeros ? Expr(0.f) : undef<float>();
    padded(c, g, first(t.y) + t.x, y, n) =
        tiles.there.back()(t.x * lanes + g % lanes, 0, t.y, g / lanes, y, n);
    return padded;
}

}  // namespace hk::generators
