#include "generators/conv2d/conv2d_filter.h"

using namespace Halide;

namespace hk::generators {

Expr packed_filter(const Func &weight, const Expr &filters, const Expr &filter, const Expr &group) {
    const Range any = {Expr(), Expr()};
    Func padded = BoundaryConditions::constant_exterior(weight, cast(weight.type(), 0),
                                                        {any, any, any, {0, filters}, any});
    return cast<float>(padded(c, s, r, filter, group));
}

Conv2dFilter conv2d_filter(const Func &weight, const Expr &filters) {
    Conv2dFilter stages;
    const Var &ki = stages.ki, &ko = stages.ko;
    stages.output = Func("packed");
    stages.output(ki, c, s, r, ko, g) = packed_filter(weight, filters, ko * kFilterBlock + ki, g);
    return stages;
}

}  // namespace hk::generators
