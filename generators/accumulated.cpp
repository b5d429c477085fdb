#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

Expr accumulated(const Type &type, const Expr &sum, const Expr &previous, const Expr &accumulate) {
    return cast(type, select(accumulate, cast<float>(previous) + sum, sum));
}

}  // namespace hk::generators
