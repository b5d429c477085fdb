#include "generators/activation/activate.h"

#include "generators/activation.h"

using namespace Halide;

namespace hk::generators {

Activate activate(Func input, const Type &type, const ActivationArguments &f) {
    Activate stages;
    stages.output = Func("activated");
    const Expr value = cast<float>(input(x, y, z));
    stages.output(x, y, z) =
        cast(type, activation(value, f.slope, f.low, f.high, f.smooth, f.target));
    return stages;
}

}  // namespace hk::generators
