// hk::quantized_conv2d through compiled kernels, with values computed by hand.

#include <gtest/gtest.h>

#include <initializer_list>

#include "hk/quantized_conv2d.h"

namespace hk {
namespace {

template<typename T>
Tensor tensor(const Shape &shape, DataType type, std::initializer_list<T> values) {
    Tensor result(shape, type);
    EXPECT_EQ(static_cast<size_t>(result.elements()), values.size());
    std::copy(values.begin(), values.end(), result.data<T>());
    return result;
}

Tensor u8(const Shape &shape, std::initializer_list<uint8_t> values) {
    return tensor(shape, DataType::u8, values);
}
Tensor s8(const Shape &shape, std::initializer_list<int8_t> values) {
    return tensor(shape, DataType::s8, values);
}
Tensor s32(const Shape &shape, std::initializer_list<int32_t> values) {
    return tensor(shape, DataType::s32, values);
}
Tensor f32(const Shape &shape, std::initializer_list<float> values) {
    return tensor(shape, DataType::f32, values);
}

template<typename T>
std::vector<T> values(const QuantizedTensor &result) {
    const Tensor &tensor = result.values;
    return {tensor.data<T>(), tensor.data<T>() + tensor.elements()};
}

// Two pixels of two channels, two filters: the integer sums are -2, -14 and 254, 508.
const QuantizedTensor kPixels{u8({1, 1, 2, 2}, {130, 126, 128, 255}), {0.5f, 128}};
const QuantizedTensor kFilters{s8({2, 1, 1, 2}, {1, 2, -3, 4}), {0.25f}};

using U8 = std::vector<uint8_t>;
using S8 = std::vector<int8_t>;
using S32 = std::vector<int32_t>;
using F32 = std::vector<float>;

TEST(QuantizedConv2dValues, ConvInteger) {
    EXPECT_EQ(values<int32_t>(quantized_conv2d(kPixels, kFilters, {}, DataType::s32)),
              (S32{-2, -14, 254, 508}));
    EXPECT_EQ(values<int32_t>(
                  quantized_conv2d(kPixels, kFilters, s32({2}, {100, -1000000000}), DataType::s32)),
              (S32{98, -1000000014, 354, -999999492}));
}

TEST(QuantizedConv2dValues, RoundsHalfToEvenAndSaturates) {
    // 0.5 * 0.25 / 0.25 * sum: -1, -7, 127, 254.
    EXPECT_EQ(values<uint8_t>(quantized_conv2d(kPixels, kFilters, {}, DataType::u8, {0.25f, 3})),
              (U8{2, 0, 130, 255}));
    EXPECT_EQ(values<int8_t>(quantized_conv2d(kPixels, kFilters, {}, DataType::s8, {0.25f, -1})),
              (S8{-2, -8, 126, 127}));
    // With a bias in units of the products: -0.5, -6.5, 127.5, 254.5.
    const Tensor bias = s32({2}, {1, 1});
    EXPECT_EQ(values<uint8_t>(quantized_conv2d(kPixels, kFilters, bias, DataType::u8, {0.25f, 7})),
              (U8{7, 1, 135, 255}));
    EXPECT_EQ(
        values<int8_t>(quantized_conv2d(kPixels, kFilters, bias, DataType::s8, {0.25f, -128})),
        (S8{-128, -128, 0, 126}));
}

TEST(QuantizedConv2dValues, RealOutput) {
    EXPECT_EQ(values<float>(quantized_conv2d(kPixels, kFilters)),
              (F32{-0.25f, -1.75f, 31.75f, 63.5f}));
    EXPECT_EQ(values<float>(quantized_conv2d(kPixels, kFilters, {}, DataType::f32, {},
                                             {.activation = Activation::relu})),
              (F32{0, 0, 31.75f, 63.5f}));
    const QuantizedTensor filters{kFilters.values, std::vector<float>{0.25f, 2}};
    EXPECT_EQ(values<float>(quantized_conv2d(kPixels, filters)), (F32{-0.25f, -14, 31.75f, 508}));
}

TEST(QuantizedConv2dValues, EveryKindOfBias) {
    const auto with = [](const QuantizedTensor &bias) {
        return values<float>(quantized_conv2d(kPixels, kFilters, bias));
    };
    EXPECT_EQ(with(f32({2}, {0.5f, -3})), (F32{0.25f, -4.75f, 32.25f, 60.5f}));
    const F32 expected{1.75f, 2.25f, 33.75f, 67.5f};  // 2 and 4 more
    EXPECT_EQ(with({s8({2}, {-2, 2}), {0.5f, -6}}), expected);
    EXPECT_EQ(with({s32({2}, {65538, 65540}), {1, 65536}}), expected);
    EXPECT_EQ(with({s32({2}, {65538, 65537}), {std::vector<float>{1, 4}, 65536}}), expected);
    EXPECT_EQ(with(s32({2}, {16, 32})), expected);
}

// The image is one pixel; the filter's other taps meet padding, which is zero whatever the weight.
TEST(QuantizedConv2dValues, PaddingIsTheZeroPoint) {
    const QuantizedTensor filter{s8({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), {1, 2}};
    const Conv2dOptions same{.padding = {1, 1, 1, 1}};
    const auto run = [&](const QuantizedTensor &input, DataType type) {
        return quantized_conv2d(input, filter, {}, type, {}, same);
    };
    EXPECT_EQ(values<int32_t>(run({u8({1, 1, 1, 1}, {250}), {1, 200}}, DataType::s32)), (S32{150}));
    EXPECT_EQ(values<int32_t>(run({s8({1, 1, 1, 1}, {-28}), {1, -128}}, DataType::s32)),
              (S32{300}));
    EXPECT_EQ(values<float>(run(f32({1, 1, 1, 1}, {1.5f}), DataType::f32)), (F32{4.5f}));
}

TEST(QuantizedConv2dValues, SignedInputInPlainLayout) {
    // Columns and rows of two channels, stride 2.
    const QuantizedTensor input{s8({1, 2, 1, 3}, {-128, 0, 127, 1, 2, 3}), {2, -1}};
    const QuantizedTensor weight{s8({2, 2, 1, 1}, {127, -128, 1, 0}),
                                 {std::vector<float>{1, 0.5f}, 1}};
    // input + 1: -127, 128 and 2, 4; weight - 1: 126, -129 and 0, -1
    EXPECT_EQ(values<float>(quantized_conv2d(input, weight, {}, DataType::f32, {},
                                             {.layout = Layout::nchw, .stride = {1, 2}})),
              (F32{-32520, 31224, -2, -4}));
}

TEST(QuantizedConv2dValues, WeightsOnly) {
    const Tensor input = f32({1, 1, 2, 2}, {1, 2, 0.5f, -1});
    const QuantizedTensor weight{kFilters.values, {0.5f, 1}};  // (0 0.5) and (-2 1.5)
    const QuantizedTensor bias{s8({2}, {10, 20}), {0.125f, 12}};
    EXPECT_EQ(values<float>(quantized_conv2d(input, weight, bias)), (F32{0.75f, 2, -0.75f, -1.5f}));
    // In units of 0.5: 1.5, 4, -1.5, -3.
    EXPECT_EQ(values<uint8_t>(quantized_conv2d(input, weight, bias, DataType::u8, {0.5f, 2})),
              (U8{4, 6, 0, 0}));
}

TEST(QuantizedConv2dValues, ActivationsInUnitsOfTheOutput) {
    const auto run = [](Conv2dOptions options, const Quantization &output) {
        return values<uint8_t>(
            quantized_conv2d(kPixels, kFilters, {}, DataType::u8, output, options));
    };
    // Reals are -0.25, -1.75, 31.75, 63.5.
    const Conv2dOptions clamp{.activation = Activation::clamp, .alpha = -1, .beta = 6};
    EXPECT_EQ(run(clamp, {0.25f, 10}), (U8{9, 6, 34, 34}));
    const Conv2dOptions crossed{.activation = Activation::clamp, .alpha = 6, .beta = -1};
    EXPECT_EQ(run(crossed, {0.25f, 10}), (U8{6, 6, 6, 6}));
    EXPECT_EQ(run({.activation = Activation::clamp}, {0.25f, 10}), (U8{9, 3, 137, 255}));
    const Conv2dOptions leaky{.activation = Activation::leaky_relu, .alpha = 0.5f};
    EXPECT_EQ(run(leaky, {0.125f, 10}), (U8{9, 3, 255, 255}));
    // Bounds beyond what the type holds saturate.
    const Conv2dOptions below{.activation = Activation::clamp, .alpha = -8, .beta = -6};
    EXPECT_EQ(run(below, {1, 5}), (U8{0, 0, 0, 0}));
    const Conv2dOptions above{.activation = Activation::clamp, .alpha = 300, .beta = 400};
    EXPECT_EQ(run(above, {1, 5}), (U8{255, 255, 255, 255}));
}

}  // namespace
}  // namespace hk
