#pragma once
// e^v of f32, as a CPU's vectors have it quickly, of v that is not above 88. Below -87 it is from 0
// to 2^-125, and 0 from -88 on, of a negative infinity too. Of a NaN it is a NaN or 0.
//
// v = k ln 2 + r with the nearest whole k: a float of 1.5 * 2^23 and k rounds to it, and its last
// bits, moved up, are the exponent of 2^k. e^r is a polynomial, whose relative error is below
// 3.2e-9 for |r| <= ln 2 / 2. What errs is r, by |k| * 1.9e-9 where multiply-adds are fused: 1.1
// units in the last place of f32 and one more for every 25 of |v|; without them one for every 1 of
// it. Halide's exp(), which GPUs have, errs as much, as LLVM puts the parts of its ln 2 together
// again; it is twice as many instructions, and of a scalar a call of libm.

#include "Halide.h"

namespace hk::generators {

// One operation that is strict by itself: its operands are not.
inline Halide::Expr strict(Halide::Internal::Call::IntrinsicOp operation, const Halide::Expr &a,
                           const Halide::Expr &b) {
    using Halide::Internal::Call;
    const bool compares = operation == Call::strict_lt;
    return Call::make(compares ? Halide::Bool() : a.type(), operation, {a, b}, Call::PureIntrinsic);
}

inline Halide::Expr exponential(const Halide::Expr &value) {
    using namespace Halide;
    using Internal::Call;
    // With the bias of an exponent.
    const Expr shift = (3 << 22) + 127.f;
    const Expr v = max(value, -88.f);
    const Expr shifted = v * 1.44269504f + shift;
    // Strict, or it were taken back; the addition before it may still be fused.
    const Expr k = strict(Call::strict_sub, shifted, shift);
    const Expr r = v - k * 0.693147182f;
    Expr power = 0.00138206338f;
    for (const float next : {0.00836867373f, 0.0416682661f, 0.166665211f, 0.499999940f, 1.f, 1.f})
        power = power * r + next;
    return power * reinterpret<float>(reinterpret<int32_t>(shifted) << 23);
}

inline Halide::Expr exponential(const Halide::Expr &value, const Halide::Target &target) {
    return target.has_gpu_feature() ? Halide::exp(value) : exponential(value);
}

// 1 + e^-v for v: of a CPU v is raised to -87, where v / (1 + e^-v) is 0 but for 2e-36, and a NaN
// stays one.
inline Halide::Expr one_and_exponential(Halide::Expr &v, const Halide::Target &target) {
    if (!target.has_gpu_feature())
        v = Halide::select(strict(Halide::Internal::Call::strict_lt, v, -87.f), -87.f, v);
    return 1.f + exponential(-v, target);
}

}  // namespace hk::generators
