#include "generators/conv2d/conv2d_filter.h"

using namespace Halide;

namespace hk::generators {

Expr packed_filter(const Func &weight, const Expr &filters, const Expr &filter, const Expr &group) {
    const Range any = {Expr(), Expr()};
    Func padded = BoundaryConditions::constant_exterior(weight, cast(weight.type(), 0),
                                                        {any, any, any, {0, filters}, any});
    return cast<float>(padded(c, s, r, filter, group));
}

Expr packed_pair(const Func &weight, const Expr &channels, const Expr &filters, const Expr &filter,
                 const Expr &of_pair, const Expr &group) {
    const Range any = {Expr(), Expr()};
    Func padded = BoundaryConditions::constant_exterior(
        weight, cast(weight.type(), 0), {{0, channels}, any, any, {0, filters}, any});
    return padded(2 * c + of_pair, s, r, filter, group);
}

Conv2dFilter conv2d_filter(const Func &weight, const Expr &filters) {
    Conv2dFilter stages;
    const Var &ki = stages.ki, &ko = stages.ko;
    stages.output = Func("packed");
    stages.output(ki, c, s, r, ko, g) = packed_filter(weight, filters, ko * kFilterBlock + ki, g);
    return stages;
}

Conv2dFilter conv2d_filter_pairs(const Func &weight, const Expr &channels, const Expr &filters) {
    Conv2dFilter stages;
    const Var &e = stages.ki, &ko = stages.ko;
    stages.output = Func("packed");
    stages.output(e, c, s, r, ko, g) =
        packed_pair(weight, channels, filters, ko * kFilterBlock + e / 2, e % 2, g);
    return stages;
}

}  // namespace hk::generators
