// The references that bench holds results against find one wrong value.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "conv2d_check.h"
#include "quantized_conv2d_check.h"

namespace hk::bench {

namespace {

// One channel, one filter of 1 x 1: the output is the input times the weight.
TEST(Conv2dReference, FindsOneWrongValue) {
    const Conv2dProblem problem =
        Conv2dProblem::from_shapes({1, 5, 7, 1}, {1, 1, 1, 1}, DataType::f32, {});
    std::vector<float> input(35), output(35);
    for (size_t i = 0; i < input.size(); ++i) {
        input[i] = static_cast<float>(i) - 17.25f;
        output[i] = 3 * input[i];
    }
    const Conv2dReference reference(problem, input, {3});
    const auto check = [&] {
        return reference.check(reinterpret_cast<const std::byte *>(output.data()));
    };
    EXPECT_EQ(check().failure, "");
    EXPECT_EQ(check().max_error, 0);
    output[23] *= 1.0001f;
    EXPECT_NE(check().failure.find("y 3, x 2"), std::string::npos) << check().failure;
    output[23] = std::nanf("");
    EXPECT_NE(check().failure, "");
}

template<typename T>
std::string failure_of(const QuantizedConv2dData &data, const std::vector<T> &output) {
    const QuantizedConv2dReference reference(data);
    return reference.check(reinterpret_cast<const std::byte *>(output.data())).failure;
}

// One channel, filters of 1 x 1: each output is one product.
QuantizedConv2dData pointwise(DataType input, DataType output, std::vector<int> values,
                              int8_t weight) {
    QuantizedConv2dData data;
    Conv2dProblem conv = Conv2dProblem::from_shapes({1, 1, static_cast<int64_t>(values.size()), 1},
                                                    {1, 1, 1, 1}, DataType::f32, {});
    conv.type = input;
    data.problem = {conv, output};
    for (int value : values) data.input.push_back(static_cast<std::byte>(value));
    data.weight = {weight};
    data.weight_scales = {1};
    return data;
}

TEST(QuantizedConv2dReference, SumsAreExact) {
    const auto data = pointwise(DataType::s8, DataType::s32, {-128, 0, 127}, -3);
    EXPECT_EQ(failure_of(data, std::vector<int32_t>{384, 0, -381}), "");
    EXPECT_NE(failure_of(data, std::vector<int32_t>{384, 0, -380}).find("x 2"), std::string::npos);
    EXPECT_NE(failure_of(data, std::vector<int32_t>{-384, 0, -381}).find("x 0"), std::string::npos);
}

TEST(QuantizedConv2dReference, BytesAreRoundedShiftedAndSaturated) {
    auto data = pointwise(DataType::u8, DataType::u8, {0, 10, 20, 200, 12}, 2);
    data.input_scale = 0.5f;
    data.input_zero_point = 10;
    data.output_scale = 1.5f;
    data.output_zero_point = 3;
    // -10, 0, 10, 190, 2 over 1.5, plus 3: -3.67, 3, 9.67, 129.67, 4.33
    EXPECT_EQ(failure_of(data, std::vector<uint8_t>{0, 3, 10, 130, 4}), "");
    EXPECT_NE(failure_of(data, std::vector<uint8_t>{0, 3, 9, 130, 4}).find("x 2"),
              std::string::npos);
    EXPECT_NE(failure_of(data, std::vector<uint8_t>{0, 3, 10, 130, 5}).find("x 4"),
              std::string::npos);
    EXPECT_NE(failure_of(data, std::vector<uint8_t>{253, 3, 10, 130, 4}).find("x 0"),
              std::string::npos);
    data.problem.output_type = DataType::s8;
    EXPECT_EQ(failure_of(data, std::vector<int8_t>{-4, 3, 10, 127, 4}), "");
    EXPECT_NE(failure_of(data, std::vector<int8_t>{-4, 3, 10, 126, 4}), "");
}

TEST(QuantizedConv2dReference, EitherNeighbourOfATieWillDo) {
    auto data = pointwise(DataType::u8, DataType::u8, {1, 3}, 1);
    data.output_scale = 2;
    EXPECT_EQ(failure_of(data, std::vector<uint8_t>{0, 2}), "");
    EXPECT_EQ(failure_of(data, std::vector<uint8_t>{1, 1}), "");
    EXPECT_NE(failure_of(data, std::vector<uint8_t>{2, 2}), "");
}

TEST(QuantizedConv2dReference, RealOutputsAllowForRoundings) {
    auto data = pointwise(DataType::u8, DataType::f32, {7, 255}, 5);
    data.input_scale = 0.3f;
    EXPECT_EQ(failure_of(data, std::vector<float>{0.3f * 35, 0.3f * 1275}), "");
    EXPECT_NE(failure_of(data, std::vector<float>{0.3f * 35, 382.501f}).find("x 1"),
              std::string::npos);
    EXPECT_NE(failure_of(data, std::vector<float>{std::nanf(""), 0.3f * 1275}), "");
}

TEST(QuantizedConv2dReference, RandomDataUseTheStoredRange) {
    Conv2dProblem conv =
        Conv2dProblem::from_shapes({1, 9, 9, 40}, {8, 3, 3, 40}, DataType::f32, {});
    for (const DataType type : {DataType::u8, DataType::s8, DataType::f32}) {
        conv.type = type;
        const auto data = random_quantized_conv2d({conv, DataType::s8});
        EXPECT_EQ(data.input.size(), 9u * 9 * 40 * size_of(type));
        EXPECT_GT(data.output_scale, 0);
        // A kernel that makes a constant is found out.
        for (int constant : {0, 5, -128, 127}) {
            const std::vector<int8_t> output(7 * 7 * 8, static_cast<int8_t>(constant));
            EXPECT_NE(failure_of(data, output), "");
        }
    }
}

}  // namespace

}  // namespace hk::bench
