#include "generators/topk/keys.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr sign_of(const Type &type) { return cast(type, 1) << (type.bits() - 1); }

// A negative float's magnitude counts down from zero, so that -0 becomes +0; as a signed integer it
// then compares as the float does. NaNs become the largest signed integer, which no other float is.
Expr as_signed(const Expr &bits, const Expr &is_negative_float, const Expr &is_nan) {
    const Expr sign = sign_of(bits.type());
    return select(is_nan, ~sign, select(is_negative_float, sign - bits, bits));
}

}  // namespace

// What bits are compared with is the same for all elements.
Expr TopKKeys::key(const Expr &bits) const {
    const Expr magnitude = ~sign_of(bits.type());
    return as_signed(bits, bits > select(floats, magnitude, bits.type().max()),
                     (bits & magnitude) > select(floats, infinity, magnitude)) ^
           flip;
}

Expr TopKKeys::rank(const Expr &bits) const {
    const Type type = bits.type();
    if (type.bits() < 32) return reinterpret(Int(type.bits()), key(bits) ^ sign_of(type));
    // A comparison of floats is one step, one of magnitudes two; but OpenCL may have no doubles.
    const Expr unordered = is_nan(reinterpret(Float(type.bits()), bits));
    return reinterpret(Int(type.bits()),
                       as_signed(bits, floats && bits >= sign_of(type), floats && unordered) ^
                           (flip ^ sign_of(type)));
}

Expr TopKKeys::key_of_rank(const Expr &rank) {
    const Type type = UInt(rank.type().bits());
    return reinterpret(type, rank) ^ sign_of(type);
}

Expr TopKKeys::bits(const Expr &key) const {
    const Type type = key.type();
    const Expr sign = sign_of(type);
    const Expr signed_key = key ^ flip;
    const Expr value = select(floats && signed_key >= sign, sign - signed_key, signed_key);
    return select(floats && signed_key == ~sign, nan, value);
}

TopKKeys topk_keys(const Type &type, const Expr &floats, const Expr &flip, const Expr &infinity,
                   const Expr &nan) {
    const Expr sign = Internal::UIntImm::make(UInt(64), uint64_t{1} << (type.bits() - 1));
    const Expr may_be_floats = type.bits() > 8 ? floats : Internal::const_false();
    return {may_be_floats, cast(type, flip), cast(type, infinity), cast(type, nan),
            may_be_floats && flip == sign};
}

}  // namespace hk::generators
