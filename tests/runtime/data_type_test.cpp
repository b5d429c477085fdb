#include "hk/data_type.h"

#include <bit>
#include <cmath>
#include <limits>

#include "expect_error.h"
#include "hk/tensor.h"

namespace hk {
namespace {

TEST(DataType, NamesGoBothWays) {
    for (int i = 0; i <= static_cast<int>(DataType::u64); i++) {
        const DataType type = static_cast<DataType>(i);
        EXPECT_EQ(data_type_of(name_of(type)), type);
    }
    EXPECT_EQ(name_of(DataType::bf16), "bf16");
    EXPECT_EQ(size_of(DataType::bf16), 2);
    EXPECT_EQ(size_of(DataType::f64), 8);
    EXPECT_EQ(size_of(DataType::u8), 1);
    EXPECT_INVALID("\"float\", not one of f32, f16, bf16", data_type_of("float"));
}

TEST(DataType, ThatDoesNotExist) {
    const auto none = static_cast<DataType>(200);
    EXPECT_EQ(name_of(none), "unknown");
    EXPECT_EQ(size_of(none), 0);
    float data = 0;
    EXPECT_INVALID("tensor: data type 200 does not exist", Tensor({1}, none));
    EXPECT_INVALID("borrow: data type 200 does not exist", Tensor::borrow(&data, none, {1}));
}

// The value of a 16-bit float by its definition.
double value_of(uint16_t bits, int exponent_bits) {
    const int mantissa_bits = 15 - exponent_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) {
        return mantissa ? std::numeric_limits<double>::quiet_NaN()
                        : sign * std::numeric_limits<double>::infinity();
    }
    const double unit = std::ldexp(1.0, std::max(exponent, 1) - bias - mantissa_bits);
    return sign * unit * (exponent ? mantissa + (1 << mantissa_bits) : mantissa);
}

struct Format {
    int exponent_bits;
    uint16_t (*from_f32)(float) noexcept;
    float (*to_f32)(uint16_t) noexcept;
    uint16_t infinity;
};

const Format kF16{5, f16_from_f32, f32_from_f16, 0x7c00};
const Format kBf16{8, bf16_from_f32, f32_from_bf16, 0x7f80};

void check_every_pattern(const Format &format) {
    for (uint32_t pattern = 0; pattern < 0x10000; pattern++) {
        const auto bits = static_cast<uint16_t>(pattern);
        const float value = format.to_f32(bits);
        const double expected = value_of(bits, format.exponent_bits);
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(value)) << pattern;
            ASSERT_TRUE(std::isnan(format.to_f32(format.from_f32(value)))) << pattern;
            continue;
        }
        ASSERT_EQ(static_cast<double>(value), expected) << pattern;
        ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << pattern;
        ASSERT_EQ(format.from_f32(value), bits) << pattern;
    }
}

// Between each two neighbours: a little under the middle, the middle, a little over it.
void check_rounding(const Format &format) {
    for (uint16_t bits = 0; bits < format.infinity; bits++) {
        const auto next = static_cast<uint16_t>(bits + 1);
        const float low = format.to_f32(bits);
        const double step =
            static_cast<double>(low) - (bits ? format.to_f32(bits - 1) : -format.to_f32(1));
        const double above =
            next == format.infinity ? low + step : static_cast<double>(format.to_f32(next));
        const double middle = (low + above) / 2;
        if (middle > std::numeric_limits<float>::max()) continue;
        const auto exact = static_cast<float>(middle);
        if (static_cast<double>(exact) != middle) continue;  // bf16's subnormals: finer than f32
        const uint16_t even = bits % 2 ? next : bits;
        ASSERT_EQ(format.from_f32(exact), even) << bits;
        ASSERT_EQ(format.from_f32(std::nextafter(exact, 0.0f)), bits) << bits;
        ASSERT_EQ(format.from_f32(std::nextafter(exact, INFINITY)), next) << bits;
        ASSERT_EQ(format.from_f32(-exact), even | 0x8000) << bits;
    }
}

TEST(DataType, F16OfEveryPattern) { check_every_pattern(kF16); }
TEST(DataType, Bf16OfEveryPattern) { check_every_pattern(kBf16); }
TEST(DataType, F16RoundsToNearestEven) { check_rounding(kF16); }
TEST(DataType, Bf16RoundsToNearestEven) { check_rounding(kBf16); }

TEST(DataType, ExtremesOfF32) {
    EXPECT_EQ(f16_from_f32(std::numeric_limits<float>::max()), 0x7c00);
    EXPECT_EQ(f16_from_f32(std::numeric_limits<float>::denorm_min()), 0);
    EXPECT_EQ(f16_from_f32(-0.0f), 0x8000);
    EXPECT_EQ(bf16_from_f32(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(bf16_from_f32(-INFINITY), 0xff80);
    // A NaN whose payload lies in the bits that are cut off stays a NaN.
    const float nan = std::bit_cast<float>(0x7f800001u);
    EXPECT_TRUE(std::isnan(f32_from_bf16(bf16_from_f32(nan))));
    EXPECT_TRUE(std::isnan(f32_from_f16(f16_from_f32(nan))));
}

}  // namespace
}  // namespace hk
