// Casts, fills and packed copies of tensors, on every device.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "counted.h"
#include "expect_error.h"
#include "hk/tensor.h"
#include "on_devices.h"

namespace hk {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template<typename T>
Tensor made(DataType type, const std::vector<T> &values) {
    Tensor tensor({static_cast<int64_t>(values.size())}, type);
    std::memcpy(tensor.data<T>(), values.data(), values.size() * sizeof(T));
    return tensor;
}

Tensor f64(const std::vector<double> &values) { return made(DataType::f64, values); }
Tensor s64(const std::vector<int64_t> &values) { return made(DataType::s64, values); }

template<typename T>
std::vector<T> read(const Tensor &tensor) {
    const Tensor packed = tensor.to(Device::cpu());
    return {packed.data<T>(), packed.data<T>() + packed.elements()};
}

template<typename T>
std::vector<T> cast(const Tensor &tensor, DataType type) {
    const Tensor result = tensor.cast(type);
    EXPECT_EQ(result.type(), type);
    EXPECT_EQ(result.shape(), tensor.shape());
    EXPECT_TRUE(result.packed());
    return read<T>(result);
}

// Every number of 16 bits, and what lies in the middle of two and next to that: one rounding finds
// the nearest, two would take what is next to the middle for the middle.
void expect_nearest(DataType type, float (*number_of)(uint16_t)) {
    std::vector<double> values;
    std::vector<uint16_t> expected;
    for (uint32_t bits = 0; std::isfinite(number_of(static_cast<uint16_t>(bits + 1))); bits++) {
        const auto lower = static_cast<uint16_t>(bits), upper = static_cast<uint16_t>(bits + 1);
        const double a = number_of(lower), b = number_of(upper), middle = (a + b) / 2;
        for (const auto &[value, nearest] : {std::pair{a, lower},
                                             {std::nextafter(middle, a), lower},
                                             {middle, bits % 2 ? upper : lower},
                                             {std::nextafter(middle, b), upper}}) {
            values.push_back(value);
            expected.push_back(nearest);
            values.push_back(-value);
            expected.push_back(nearest | 0x8000);
        }
    }
    EXPECT_EQ(cast<uint16_t>(f64(values), type), expected);
}

TEST(TensorCast, RoundsOnceToHalves) {
    expect_nearest(DataType::f16, f32_from_f16);
    expect_nearest(DataType::bf16, f32_from_bf16);
}

TEST(TensorCast, RoundsIntegersOnce) {
    // bf16 has 8 bits: the middle of 2^62 and the next number is 2^62 + 2^54.
    constexpr int64_t kLower = int64_t{1} << 62, kMiddle = kLower + (int64_t{1} << 54);
    const uint16_t lower = bf16_from_f32(0x1p62f), upper = lower + 1;
    EXPECT_EQ(cast<uint16_t>(s64({kLower, kMiddle - 1, kMiddle, kMiddle + 1}), DataType::bf16),
              (std::vector<uint16_t>{lower, lower, lower, upper}));
    EXPECT_EQ(cast<uint16_t>(s64({2049, 2051, 65519, 65520, -70000}), DataType::f16),
              (std::vector<uint16_t>{0x6800, 0x6802, 0x7bff, 0x7c00, 0xfc00}));
    // f32 has 24 bits.
    EXPECT_EQ(cast<float>(s64({(1 << 24) + 1, (1 << 24) + 3}), DataType::f32),
              (std::vector<float>{0x1p24f, 0x1p24f + 4}));
    EXPECT_EQ(cast<double>(made<uint64_t>(DataType::u64, {~uint64_t{0}}), DataType::f64),
              (std::vector<double>{0x1p64}));
}

TEST(TensorCast, FloatingNumbersToIntegers) {
    const Tensor tensor =
        f64({-kInfinity, -1e30, -200.7, -1.5, -0.9, kNaN, 0.9, 1.5, 127.9, 200.7, 1e30, kInfinity});
    EXPECT_EQ(cast<int8_t>(tensor, DataType::s8),
              (std::vector<int8_t>{-128, -128, -128, -1, 0, 0, 0, 1, 127, 127, 127, 127}));
    EXPECT_EQ(cast<uint8_t>(tensor, DataType::u8),
              (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0, 1, 127, 200, 255, 255}));
    // The largest of 32 and 64 bits are no f32.
    const Tensor ends = f64({-1e30, 1e30}).cast(DataType::f32);
    EXPECT_EQ(cast<int32_t>(ends, DataType::s32), (std::vector<int32_t>{INT32_MIN, INT32_MAX}));
    EXPECT_EQ(cast<int64_t>(ends, DataType::s64), (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
    EXPECT_EQ(cast<uint64_t>(ends, DataType::u64), (std::vector<uint64_t>{0, UINT64_MAX}));
    EXPECT_EQ(cast<uint16_t>(made<uint16_t>(DataType::bf16, {0x4120, 0xc000}), DataType::u16),
              (std::vector<uint16_t>{10, 0}));
}

TEST(TensorCast, IntegersKeepTheirLowBits) {
    EXPECT_EQ(cast<int8_t>(s64({127, 128, 200, 256, -129}), DataType::s8),
              (std::vector<int8_t>{127, -128, -56, 0, 127}));
    EXPECT_EQ(cast<int32_t>(s64({-1, 5, int64_t{1} << 32 | 7}), DataType::s32),
              (std::vector<int32_t>{-1, 5, 7}));
    EXPECT_EQ(cast<uint64_t>(s64({-1}), DataType::u64), (std::vector<uint64_t>{UINT64_MAX}));
}

// Small integers, which every type holds.
TEST(TensorCast, BetweenAllTypes) {
    const std::vector<double> numbers{0, 1, 2, 77, 127};
    for (int from = 0; from <= static_cast<int>(DataType::u64); from++) {
        const Tensor tensor = f64(numbers).cast(static_cast<DataType>(from));
        for (int to = 0; to <= static_cast<int>(DataType::u64); to++) {
            const Tensor there = tensor.cast(static_cast<DataType>(to));
            EXPECT_EQ(cast<double>(there, DataType::f64), numbers) << from << " to " << to;
        }
    }
}

TEST(TensorCast, NotANumberStaysOneAndSameTypesKeepAllBits) {
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        EXPECT_TRUE(std::isnan(cast<double>(f64({kNaN}).cast(type), DataType::f64)[0]));
    }
    const std::vector<uint16_t> signalling{0x7c01, 0xfd55, 0x8000};
    EXPECT_EQ(cast<uint16_t>(made(DataType::f16, signalling), DataType::f16), signalling);
}

class TensorOnDevice : public OnDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, TensorOnDevice, ::testing::ValuesIn(device_names()),
                         name_of_test);

std::vector<Tensor> views(const Tensor &t) {
    return {t,
            t.slice(0, 4, 5, -1),
            t.slice(2, 4, 3, -2),
            t.permute({2, 0, 1}),
            t.slice(0, 3, 2, -3).slice(1, 6, 3, -2).slice(2, 1, 2).permute({1, 0, 2}),
            t.slice(0, 1, 1).slice(1, 1, 1).slice(2, 1, 1),
            t.slice(1, 3, 0)};
}

TEST_P(TensorOnDevice, CastsAndPacksViews) {
    for (const Tensor &view : views(counted({5, 7, 6}).to(device()))) {
        const std::vector<int32_t> expected = values(view);
        const Tensor real = view.cast(DataType::f32);
        EXPECT_EQ(real.device(), device());
        EXPECT_EQ(real.shape(), view.shape());
        EXPECT_EQ(read<float>(real), std::vector<float>(expected.begin(), expected.end()));
        const Tensor packed = view.contiguous();
        EXPECT_TRUE(packed.packed());
        EXPECT_EQ(packed.device(), device());
        EXPECT_EQ(values(packed), expected);
        EXPECT_EQ(view.packed() && view.elements() > 0, packed.overlaps(view));
    }
    EXPECT_EQ(values(Tensor(counted({})).cast(DataType::s16).cast(DataType::s32)),
              (std::vector<int32_t>{0}));
}

TEST_P(TensorOnDevice, FillsViewsAlone) {
    int32_t nine = -9;
    const size_t count = views(counted({5, 7, 6})).size();
    for (size_t i = 0; i < count; i++) {
        const Tensor expected = counted({5, 7, 6}), actual = expected.to(device());
        const Tensor target = views(expected)[i];
        const Shape strides(target.shape().size(), 0);
        target.copy_from(Tensor::borrow(&nine, DataType::s32, target.shape(), strides));
        views(actual)[i].fill(-9);
        EXPECT_EQ(values(actual), values(expected)) << i;
    }
    const Tensor halves({3}, DataType::bf16, device());
    halves.fill(-0.0);
    EXPECT_EQ(read<uint16_t>(halves), std::vector<uint16_t>(3, 0x8000));
    halves.fill(0);
    EXPECT_EQ(read<uint16_t>(halves), std::vector<uint16_t>(3, 0));
    const Tensor bytes({3}, DataType::u8, device());
    bytes.fill(300.5);
    EXPECT_EQ(read<uint8_t>(bytes), std::vector<uint8_t>(3, 255));
}

TEST(TensorCast, RepeatedElements) {
    int32_t value = 7;
    const Tensor repeated = Tensor::borrow(&value, DataType::s32, {2, 3}, {0, 0});
    EXPECT_EQ(cast<float>(repeated, DataType::f32), std::vector<float>(6, 7));
    EXPECT_EQ(values(repeated.contiguous()), std::vector<int32_t>(6, 7));
}

TEST(TensorCast, Undefined) {
    EXPECT_INVALID("cast: the tensor is undefined", Tensor().cast(DataType::f32));
    EXPECT_INVALID("contiguous: the tensor is undefined", Tensor().contiguous());
    EXPECT_INVALID("fill: the tensor is undefined", Tensor().fill(1));
}

}  // namespace
}  // namespace hk
