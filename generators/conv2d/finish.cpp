#include "generators/conv2d/finish.h"

#include <limits>

#include "generators/activation.h"
#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

Func sum_start(const Conv2dOperands &op) {
    Func start("start");
    if (!op.bias.defined()) {
        start(k, g) = 0.f;
        return start;
    }
    Func bias = BoundaryConditions::constant_exterior(op.bias, cast(op.type, 0),
                                                      {{0, op.filters}, {Expr(), Expr()}});
    start(k, g) = if_present(op.has_bias, cast<float>(bias(k, g)), 0.f);
    return start;
}

namespace {

// An activation is strict in places. Were this sum not strict already, there would be two forms of
// it, and Halide would load what they share, the residual, before it looks at the condition.
Expr with_residual(const Conv2dOperands &op, const Expr &sum, const std::array<Expr, 5> &at) {
    if (!op.has_residual.defined()) return sum;
    const Expr residual = cast<float>(op.residual(at[0], at[1], at[2], at[3], at[4]));
    return if_present(op.has_residual, strict_float(sum + residual), sum);
}

}  // namespace

Expr has_bounds(const Conv2dOperands &op) {
    constexpr float none = std::numeric_limits<float>::infinity();
    return op.low > -none || op.high < none;
}

void activate_smoothly(Conv2dOperands &op, const std::array<Expr, 5> &at, Func &sum, RDom &smooth) {
    smooth = RDom(op.smooth, select(op.smooth == 0, 0, 1), "smooth");
    sum(k, g, x, y, n) =
        smooth_activation(with_residual(op, sum(k, g, x, y, n), at), smooth.x, op.target, true);
    if (op.has_residual.defined()) op.has_residual = op.has_residual && op.smooth == 0;
    op.smooth = Expr();
}

void add_residual(Conv2dOperands &op, const std::array<Expr, 5> &at, Func &sum, RDom &added) {
    // An update is over what it reads: added.x is 0.
    added = RDom(0, select(op.has_residual, 1, 0), "added");
    const Expr value = op.residual(at[0], at[1], at[2], at[3], at[4] + added.x);
    sum(k, g, x, y, n) = strict_float(sum(k, g, x, y, n) + cast<float>(value));
    op.has_residual = Expr();
}

void activate_linearly(Conv2dOperands &op, Func &sum, RDom &sloped, RDom &bounded) {
    const auto once = [&](const Expr &asked_for, const char *name) {
        return RDom(0, select(op.activates && asked_for, 1, 0), name);
    };
    const Expr value = sum(k, g, x, y, n);
    // Each is over its domain, as above.
    sloped = once(op.slope != 1.f, "sloped");
    const Expr slope = select(sloped.x == 0, op.slope, 0.f);
    sum(k, g, x, y, n) = select(value < 0.f, slope * value, value);
    bounded = once(has_bounds(op), "bounded");
    sum(k, g, x, y, n) = within_bounds(value, select(bounded.x == 0, op.low, 0.f), op.high);
    op.slope = Expr();
}

Expr finished_sum(const Conv2dOperands &op, Expr sum, const std::array<Expr, 5> &at) {
    sum = with_residual(op, sum, at);
    if (!op.slope.defined()) return sum;
    const bool branches = op.activates.defined();
    const Expr activated = op.smooth.defined()
                               ? activation(sum, op.slope, op.low, op.high, op.smooth, op.target)
                               : linear_activation(sum, op.slope, op.low, op.high, branches);
    return branches ? if_present(op.activates, activated, sum) : activated;
}

namespace {

// Of a vector of 32, by one instruction; Halide's own rounding is five a vector of 16. To nearest
// even, a NaN stays one, and what is below the least normal number is zero.
Expr rounded_by_instruction(const Expr &value) {
    const Type bits = UInt(16);
    return reinterpret(BFloat(16), Internal::Call::make(bits, "vcvtne2ps2bf16", {value},
                                                        Internal::Call::PureExtern));
}

}  // namespace

void finish(const Conv2dOperands &op, const Func &sum, Func &activated, Func &output,
            bool by_instruction) {
    activated(k, g, x, y, n) = finished_sum(op, sum(k, g, x, y, n), {k, g, x, y, n});
    const Expr value = activated(k, g, x, y, n);
    output(k, g, x, y, n) = by_instruction ? rounded_by_instruction(value) : cast(op.type, value);
}

}  // namespace hk::generators
