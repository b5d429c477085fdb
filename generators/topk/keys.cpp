#include "generators/topk/keys.h"

using namespace Halide;

namespace hk::generators {

// A negative float's magnitude counts down from zero, so that -0 becomes +0; as a signed integer it
// then compares as the float does. NaNs become the largest signed integer, which no other float is.
Expr TopKKeys::key(const Expr &bits) const {
    const Type type = bits.type();
    const Expr sign = cast(type, 1) << (type.bits() - 1);
    const Expr signed_key = select(floats && bits >= sign, sign - bits, bits);
    const Expr is_nan = floats && (bits & ~sign) > infinity;
    return select(is_nan, ~sign, signed_key) ^ flip;
}

Expr TopKKeys::bits(const Expr &key) const {
    const Type type = key.type();
    const Expr sign = cast(type, 1) << (type.bits() - 1);
    const Expr signed_key = key ^ flip;
    const Expr value = select(floats && signed_key >= sign, sign - signed_key, signed_key);
    return select(floats && signed_key == ~sign, nan, value);
}

TopKKeys topk_keys(const Type &type, const Expr &floats, const Expr &flip, const Expr &infinity,
                   const Expr &nan) {
    return {floats, cast(type, flip), cast(type, infinity), cast(type, nan)};
}

}  // namespace hk::generators
