// Types of operands, as they lie in a row and as they are computed with, and the functions of
// ptx/instructions.def. Compiled once an instruction set of the host, in a namespace of its own.
namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET {

#define HOT [[gnu::always_inline]] inline

struct none {
    using Row = uint32_t;
    using Value = int;
    HOT static Value get(Row) { return 0; }
};
template<typename R, typename V>
struct Integer {
    using Row = R;
    using Value = V;
    HOT static Value get(Row x) { return static_cast<Value>(x); }
    HOT static Row put(Value x) { return static_cast<Row>(x); }  // sign-extended where V has one
};
using u8 = Integer<uint32_t, uint8_t>;
using s8 = Integer<uint32_t, int8_t>;
using u16 = Integer<uint32_t, uint16_t>;
using s16 = Integer<uint32_t, int16_t>;
using b16 = u16;
using u32 = Integer<uint32_t, uint32_t>;
using s32 = Integer<uint32_t, int32_t>;
using b32 = u32;
using u64 = Integer<uint64_t, uint64_t>;
using s64 = Integer<uint64_t, int64_t>;
using b64 = u64;
struct pred {};

// The NaN that a GPU computes has all bits but the sign (CUDA C programming guide, floating-point
// standard).
struct f32 {
    using Row = uint32_t;
    using Value = float;
    HOT static Value get(Row x) { return __builtin_bit_cast(float, x); }
    HOT static Row put(Value x) { return x != x ? 0x7fffffffu : __builtin_bit_cast(uint32_t, x); }
};
struct f64 {
    using Row = uint64_t;
    using Value = double;
    HOT static Value get(Row x) { return __builtin_bit_cast(double, x); }
    // The ISA leaves a NaN's bits open; the host's are those of one operand or the other.
    HOT static Row put(Value x) {
        return x != x ? 0x7fffffffffffffffu : __builtin_bit_cast(uint64_t, x);
    }
};

// Without branches, so that loops over lanes become vector code on any instruction set.
struct f16 {
    using Row = uint32_t;
    using Value = float;
    HOT static Value get(Row x) {
        const uint32_t sign = (x & 0x8000) << 16, magnitude = x & 0x7fff;
        // A subnormal is an integer times 2^-24; others move by the difference of the biases.
        const uint32_t normal = (magnitude << 13) + ((127 - 15) << 23);
        const uint32_t special = (magnitude << 13) | 0x7f800000;
        const uint32_t small = __builtin_bit_cast(
            uint32_t, static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
        const uint32_t bits = magnitude >= 0x7c00 ? special : magnitude < 0x400 ? small : normal;
        return __builtin_bit_cast(float, sign | bits);
    }
    HOT static Row put(Value value) {
        const uint32_t bits = __builtin_bit_cast(uint32_t, value), sign = bits >> 16 & 0x8000,
                       magnitude = bits & 0x7fffffff;
        // Adding half of the last place, and 1 where that is odd, rounds to nearest even and
        // carries into the exponent.
        const uint32_t normal =
            (magnitude - ((127 - 15) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
        // Adding 0.5 leaves 24 places behind the point.
        const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
        const uint32_t small = __builtin_bit_cast(uint32_t, shifted) - 0x3f000000;
        uint32_t half = magnitude < 0x38800000 ? small : normal;
        half = magnitude >= 0x477ff000 ? 0x7c00 : half;
        return magnitude > 0x7f800000 ? 0x7fff : sign | half;
    }
};
// Results of 64 bits, rounded once: first to odd, whose last bit says that something follows.
struct f16_of_f64 {
    using Row = uint32_t;
    using Value = double;
    HOT static Row put(Value x) {
        const float near = static_cast<float>(x);
        uint32_t bits = __builtin_bit_cast(uint32_t, near);
        if (static_cast<double>(near) != x) {
            bits -= __builtin_fabs(static_cast<double>(near)) > __builtin_fabs(x);
            bits |= 1;
        }
        return f16::put(x != x ? near : __builtin_bit_cast(float, bits));
    }
};
struct bf16 {
    using Row = uint32_t;
    using Value = float;
    HOT static Value get(Row x) { return __builtin_bit_cast(float, x << 16); }
    HOT static Row put(Value value) {
        const uint32_t bits = __builtin_bit_cast(uint32_t, value);
        return value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
};

template<typename T, typename A, typename B>
HOT typename T::Value wrapped(A a, B b, char operation) {
    using U = std::conditional_t<sizeof(typename T::Value) == 8, uint64_t, uint32_t>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<typename T::Value>(operation == '+'   ? x + y
                                          : operation == '-' ? x - y
                                                             : x * y);
}

HOT uint16_t high_product(uint16_t a, uint16_t b) {
    return static_cast<uint16_t>(uint32_t{a} * b >> 16);
}
HOT int16_t high_product(int16_t a, int16_t b) {
    return static_cast<int16_t>(int32_t{a} * b >> 16);
}
HOT uint32_t high_product(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
HOT int32_t high_product(int32_t a, int32_t b) {
    return static_cast<int32_t>(int64_t{a} * b >> 32);
}
HOT uint64_t high_product(uint64_t a, uint64_t b) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}
HOT int64_t high_product(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<__int128>(a) * b >> 64);
}

// By zero: all ones, as GPUs give; the ISA leaves it open. Quotients of 32 bits are exact in
// double.
HOT uint32_t quotient(uint32_t a, uint32_t b) {
    const double divisor = b == 0 ? 1.0 : static_cast<double>(b);
    return b == 0 ? ~0u : static_cast<uint32_t>(static_cast<double>(a) / divisor);
}
HOT int32_t quotient(int32_t a, int32_t b) {
    const uint32_t x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    const uint32_t magnitude = quotient(a < 0 ? 0 - x : x, b < 0 ? 0 - y : y);
    return static_cast<int32_t>((a < 0) != (b < 0) && b != 0 ? 0 - magnitude : magnitude);
}
HOT uint16_t quotient(uint16_t a, uint16_t b) {
    return static_cast<uint16_t>(quotient(uint32_t{a}, uint32_t{b}));
}
HOT int16_t quotient(int16_t a, int16_t b) {
    return static_cast<int16_t>(quotient(int32_t{a}, int32_t{b}));
}
HOT uint64_t quotient(uint64_t a, uint64_t b) { return b == 0 ? ~uint64_t{} : a / b; }
HOT int64_t quotient(int64_t a, int64_t b) {
    return b == 0 ? -1 : b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}
template<typename T>
HOT T remainder(T a, T b) {
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const T product = static_cast<T>(static_cast<U>(quotient(a, b)) * static_cast<U>(b));
    return b == 0 ? a : static_cast<T>(static_cast<U>(a) - static_cast<U>(product));
}

template<typename T>
HOT T shifted_left(T a, uint32_t by) {
    constexpr uint32_t bits = 8 * sizeof(T);
    return by >= bits ? T{0} : static_cast<T>(a << (by & (bits - 1)));
}
template<typename T>
HOT T shifted_right(T a, uint32_t by) {
    constexpr uint32_t bits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
        return static_cast<T>(a >> (by < bits ? by : bits - 1));
    else
        return by >= bits ? T{0} : static_cast<T>(a >> (by & (bits - 1)));
}
HOT uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t by) {
    return static_cast<uint32_t>((uint64_t{high} << 32 | low) << by >> 32);
}
HOT uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t by) {
    return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> by);
}
HOT uint32_t reversed(uint32_t a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}
// Section "bfe": bits beyond the 31st are zero, or copies of the field's last bit that there is.
template<typename T>
HOT T bit_field(T a, uint32_t position, uint32_t length) {
    position &= 255;
    length &= 255;
    const uint32_t bits = static_cast<uint32_t>(a), last = position + length - 1;
    const bool negative = std::is_signed_v<T> && length != 0 && bits >> (last < 31 ? last : 31) & 1;
    const uint32_t moved = position < 32 ? bits >> (position & 31) : 0;
    const uint32_t present = position < 32 ? 32 - position : 0;  // bits of the field that there are
    const uint32_t taken = length < present ? length : present;
    const uint32_t mask = taken < 32 ? (1u << (taken & 31)) - 1 : ~0u;
    return static_cast<T>((moved & mask) | (negative ? ~mask : 0));
}
// Section "prmt", the mode without a name.
HOT uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (uint32_t n = 0; n < 4; n++) {
        const uint32_t select = selector >> 4 * n;
        const uint32_t byte = static_cast<uint32_t>(bytes >> 8 * (select & 7)) & 255;
        const uint32_t sign = byte & 128 ? 255 : 0;
        result |= (select & 8 ? sign : byte) << 8 * n;
    }
    return result;
}
template<typename A, typename B>
HOT uint32_t dot_product(uint32_t a, uint32_t b, uint32_t c) {
    int32_t sum = 0;
    for (int n = 0; n < 4; n++) sum += static_cast<A>(a >> 8 * n) * static_cast<B>(b >> 8 * n);
    return c + static_cast<uint32_t>(sum);
}

template<typename T>
HOT constexpr T sign_bit(T) {
    return static_cast<T>(T{1} << (8 * sizeof(T) - 1));
}

HOT float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HOT double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
// Sections "min" and "max": a NaN only of two, and -0 is less than +0.
template<typename T>
HOT T larger(T a, T b) {
    const T ordered = a > b || (a == b && !__builtin_signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : ordered;
}
template<typename T>
HOT T smaller(T a, T b) {
    const T ordered = a < b || (a == b && __builtin_signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : ordered;
}
// .ftz: subnormals are zeros of their sign.
HOT float flushed(float x) {
    return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}
// Section "div": by what is beyond 2^126 it is a product with zero.
HOT float approximate_quotient(float a, float b) {
    const float magnitude = __builtin_fabsf(b);
    const bool beyond = magnitude > 0x1p126f && magnitude < __builtin_inff();
    return beyond ? a * __builtin_copysignf(0.0f, b) : a / b;
}
HOT float reciprocal_root(float x) {
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}

HOT float truncated(float x) { return __builtin_truncf(x); }
HOT double truncated(double x) { return __builtin_trunc(x); }
HOT float to_even(float x) { return __builtin_rintf(x); }
HOT double to_even(double x) { return __builtin_rint(x); }
HOT float floor_of(float x) { return __builtin_floorf(x); }
HOT double floor_of(double x) { return __builtin_floor(x); }
HOT float ceiling_of(float x) { return __builtin_ceilf(x); }
HOT double ceiling_of(double x) { return __builtin_ceil(x); }
// Section "cvt": what is out of range is the nearest value that there is. A NaN is 0, or the sign
// bit alone where it comes from 64 bits or goes there.
template<typename T, typename F>
HOT T saturated(F x) {
    constexpr F end =
        static_cast<F>(uint64_t{1} << (8 * sizeof(T) - 1)) * (std::is_signed_v<T> ? 1 : 2);
    constexpr F begin = std::is_signed_v<T> ? -end : F{0};
    // A type of 32 bits or less fits one that loops over lanes convert to at once.
    using Wide = std::conditional_t<sizeof(T) < 4, int32_t, T>;
    const bool inside = x >= begin && x < end;
    constexpr bool wide = sizeof(F) == 8 || sizeof(T) == 8;
    constexpr T nan = wide ? static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1)) : T{0};
    const T value = static_cast<T>(static_cast<Wide>(inside ? x : F{0}));
    return inside   ? value
           : x != x ? nan
           : x < 0  ? std::numeric_limits<T>::min()
                    : std::numeric_limits<T>::max();
}

}  // namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET
