#include "generators/conv2d_backward/transposed_planes.h"

#include "generators/ceil_div.h"

using namespace Halide;

namespace hk::generators {

TransposedPlanes transposed_planes(const Func &image, const Expr &groups, const Expr &width,
                                   const Expr &height, int count) {
    TransposedPlanes planes;
    planes.groups = count;
    const Var run("run"), block("block"), group("group"), pixel("pixel");
    const Expr pixels = width * height;
    const auto first = [&](const Expr &of) { return min(of * count, pixels - count); };
    // The first row's columns go on: its plane is a line.
    Func rows("rows");
    rows(element, row, run, block, n) =
        image(0, unsafe_promise_clamped(min(block * count + row, groups - 1), 0, groups - 1),
              unsafe_promise_clamped(first(run) + element, 0, width - 1), 0, n);
    planes.there = transpose(rows, count, {run, block, n});
    planes.run = RDom(0, count, 0, ceil_div(pixels, count), "run");
    const RDom &of = planes.run;
    planes.panel = Func("panel");
    planes.panel(group, pixel, block, n) = undef<float>();
    planes.panel(group, unsafe_promise_clamped(first(of.y), 0, pixels - count) + of.x, block, n) =
        planes.there.back()(of.x * count + group % count, 0, of.y, block, n);
    return planes;
}

}  // namespace hk::generators
