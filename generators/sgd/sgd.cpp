#include "generators/sgd/sgd.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr decayed(const SgdOperands &op, const Expr &parameter) {
    return cast<float>(op.gradient(x, y, z)) + op.weight_decay * parameter;
}

}  // namespace

Sgd sgd_momentum(const SgdOperands &op) {
    Sgd stages;
    stages.output = Func("step");
    stages.output(x, y, z) = {undef(op.type), undef(op.type)};
    const Expr parameter = cast<float>(stages.output(x, y, z)[0]);
    const Expr g = decayed(op, parameter);
    const Expr velocity = op.momentum * cast<float>(stages.output(x, y, z)[1]) + g;
    const Expr step = select(op.nesterov, g + op.momentum * velocity, velocity);
    stages.output(x, y, z) = {cast(op.type, parameter - op.learning_rate * step),
                              cast(op.type, velocity)};
    return stages;
}

Sgd sgd_plain(const SgdOperands &op) {
    Sgd stages;
    stages.output = Func("step");
    stages.output(x, y, z) = undef(op.type);
    const Expr parameter = cast<float>(stages.output(x, y, z));
    stages.output(x, y, z) = cast(op.type, parameter - op.learning_rate * decayed(op, parameter));
    return stages;
}

}  // namespace hk::generators
