#include "generators/conv2d_backward/copied_rows.h"

#include "generators/ceil_div.h"
#include "generators/letters.h"

using namespace Halide;

namespace hk::generators {

Func copied_rows(const Func &image, const Expr &width, const Expr &height, int lanes,
                 CopiedRows &rows) {
    const RDom inside = rows.inside = RDom(0, lanes, 0, ceil_div(width, lanes), "inside");
    const RDom sides = rows.sides = RDom(0, lanes, 0, 2, "sides");
    const Expr column = min(inside.y * lanes, width - lanes) + inside.x;
    const Expr pixel = cast<float>(image(c, g, column, clamp(y, 0, height - 1), n));
    Func padded("padded");
    padded(c, g, x, y, n) = undef<float>();
    padded(c, g, sides.y * (width + lanes) - lanes + sides.x, y, n) = 0.f;
    padded(c, g, column, y, n) = select(y >= 0 && y < height, likely(pixel), 0.f);
    return padded;
}

}  // namespace hk::generators
