#include "generators/quantized_conv2d/quantized_conv2d_filter.h"

using namespace Halide;

namespace hk::generators {

QuantizedConv2dFilter quantized_conv2d_filter(const Func &weight, const Expr &channels,
                                              const Expr &filters) {
    const Range any = {Expr(), Expr()};
    Func filled = BoundaryConditions::constant_exterior(
        weight, cast<int8_t>(0), Region{{0, channels}, any, any, {0, filters}, any});
    QuantizedConv2dFilter stages;
    const Var &byte = stages.byte, &ko = stages.ko;
    stages.output = Func("packed");
    stages.output(byte, w, s, r, ko, g) =
        filled(kWord * w + byte % kWord, s, r, ko * kFilterBlock + byte / kWord, g);
    return stages;
}

}  // namespace hk::generators
