// The references that bench holds results against find one wrong value.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "conv2d_check.h"
#include "conv2d_data.h"
#include "hk/conv2d_backward.h"
#include "hk/tensor_product_backward.h"
#include "kernel_map_check.h"
#include "quantized_conv2d_check.h"
#include "tensor_product_check.h"
#include "topk_check.h"

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

struct GradientProblem {
    Gradient gradient;
    Layout layout;
    DataType type;
};

class Gradients : public testing::TestWithParam<GradientProblem> {};

// Both strides, dilation, padding of four kinds and groups with several filters.
TEST_P(Gradients, OneWrongValueIsFound) {
    const auto [gradient, layout, type] = GetParam();
    const bool of_input = gradient == Gradient::input;
    Conv2dOptions options;
    options.layout = layout;
    options.stride = {2, 3};
    options.dilation = {2, 1};
    options.padding = {3, 1, 0, 2};
    options.groups = 2;
    const Conv2dProblem p = Conv2dProblem::from_shapes(
        shape_of(layout, {2, 9, 11, 6}), shape_of(layout, {8, 3, 2, 3}), type, options);
    const auto data = [&](const Place &extents, uint32_t seed) {
        return random_data(shape_of(layout, extents), type, seed, 5);
    };
    const Data output_gradient = data(output_extents(p), 1);
    const Data other = data(of_input ? weight_extents(p) : input_extents(p), 2);
    const GradientReference reference(p, gradient, output_gradient.values, other.values);
    const Tensor result =
        of_input ? conv2d_backward_data(output_gradient.tensor, other.tensor,
                                        shape_of(layout, input_extents(p)), options)
                 : conv2d_backward_weight(output_gradient.tensor, other.tensor,
                                          shape_of(layout, weight_extents(p)), options);
    EXPECT_EQ(reference.check(bytes_of(result)).failure, "");

    // As if the sum lacked one product of the smallest size.
    const Place at{1, 2, 1, 2};
    const Place extents = of_input ? input_extents(p) : weight_extents(p);
    const int64_t index = index_of(layout, extents, at);
    const std::string name =
        of_input ? "input_gradient(n 1, y 2, x 1, c 2)" : "weight_gradient(k 1, r 2, s 1, c 2)";
    if (type == DataType::f32) {
        result.data<float>()[index] += 0x1p-8f;
    } else {
        result.data<uint16_t>()[index] += 2;  // units in the last place
    }
    EXPECT_EQ(reference.check(bytes_of(result)).failure.rfind(name, 0), 0u)
        << reference.check(bytes_of(result)).failure;
    poison(result);
    EXPECT_NE(reference.check(bytes_of(result)).failure, "");
}

INSTANTIATE_TEST_SUITE_P(
    Bench, Gradients,
    testing::Values(GradientProblem{Gradient::input, Layout::nhwc, DataType::f32},
                    GradientProblem{Gradient::input, Layout::nchw, DataType::f16},
                    GradientProblem{Gradient::weight, Layout::nhwc, DataType::bf16},
                    GradientProblem{Gradient::weight, Layout::nchw, DataType::f32}),
    [](const auto &info) {
        return std::string(info.param.gradient == Gradient::input ? "input_" : "weight_") +
               std::string(name_of(info.param.layout)) + "_" +
               std::string(name_of(info.param.type));
    });

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

TEST(TopKReference, FindsWhatIsWrong) {
    const TopKProblem p{.type = DataType::s32, .rows = 2, .columns = 4, .k = 2};
    Tensor input({2, 4}, DataType::s32);
    const int32_t elements[] = {5, 9, 9, 1, -3, -1, -1, -2};
    std::memcpy(input.data<int32_t>(), elements, sizeof elements);
    const TopKReference reference(p, input);
    int32_t values[] = {9, 9, -1, -1};
    int64_t indices[] = {1, 2, 1, 2};
    const auto failure = [&](bool with_values = true, bool with_indices = true) {
        const auto bytes = [](auto *data) { return reinterpret_cast<const std::byte *>(data); };
        return reference
            .check(with_values ? bytes(values) : nullptr, with_indices ? bytes(indices) : nullptr)
            .failure;
    };
    EXPECT_EQ(failure(), "");
    std::swap(indices[2], indices[3]);
    EXPECT_EQ(failure(), "indices(1, 0) is 2, must be 1");
    EXPECT_EQ(failure(true, false), "");
    std::swap(indices[2], indices[3]);
    values[1] = 5;
    EXPECT_EQ(failure(), "values(0, 1) is not element 2");
    EXPECT_EQ(failure(false, true), "");
}

TEST(TopKReference, DataHaveNoNegativeZero) {
    for (const DataType type : {DataType::f16, DataType::bf16}) {
        const Tensor rows = random_rows(type, 1, 100000);
        const uint16_t *bits = rows.data<uint16_t>();
        EXPECT_EQ(std::count(bits, bits + 100000, 0x8000), 0);
        EXPECT_GT(std::count_if(bits, bits + 100000, [](uint16_t b) { return b > 0x8000; }), 40000);
    }
}

class TensorProductReferences : public testing::TestWithParam<Role> {
protected:
    // On the host, by our own kernels.
    static Tensor computed(const TensorProductData &data) {
        const TensorProductMaps maps(data.map);
        const auto of = [&](Role role) { return data[role].tensor; };
        switch (data.result) {
            case Role::input:
                tensor_product_backward_data(of(Role::output), of(Role::weight), maps,
                                             of(Role::input));
                break;
            case Role::weight:
                tensor_product_backward_weight(of(Role::input), of(Role::output), maps,
                                               of(Role::weight));
                break;
            case Role::output:
                tensor_product(of(Role::input), of(Role::weight), maps, of(Role::output));
                break;
        }
        return of(data.result);
    }
};

TEST_P(TensorProductReferences, OneWrongValueIsFoundInEveryType) {
    const KernelMap map = map_of(cloud_of(300), {300, 3, 1});
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16, DataType::f64}) {
        const TensorProductData data(map, 3, 3, type, GetParam());
        const TensorProductReference reference(data);
        const Tensor result = computed(data);
        EXPECT_EQ(reference.check(bytes_of(result)).failure, "");
        EXPECT_EQ(reference.check(bytes_of(result)).max_error, 0);
        bytes_of(result)[(7 * 3 + 2) * size_of(type)] ^= std::byte{1};
        EXPECT_EQ(reference.check(bytes_of(result))
                      .failure.rfind(data.name_of(GetParam()) + "(7, 2) ", 0),
                  0u);
        poison(result);
        EXPECT_NE(reference.check(bytes_of(result)).failure, "");
    }
}

TEST_P(TensorProductReferences, TheLastRowOfManyIsLookedAt) {
    const KernelMap map = map_of(cloud_of(2000), {2000, 2, 2});
    const TensorProductData data(map, 256, 512, DataType::f32, GetParam());
    const TensorProductReference reference(data);
    const Tensor result = computed(data);
    EXPECT_EQ(reference.check(bytes_of(result)).failure, "");
    result.data<float>()[result.elements() - 1] += 0x1p-8f;
    EXPECT_NE(reference.check(bytes_of(result)).failure, "");
}

INSTANTIATE_TEST_SUITE_P(Bench, TensorProductReferences,
                         testing::Values(Role::input, Role::weight, Role::output),
                         [](const auto &info) {
                             return std::string(info.param == Role::input    ? "backward_data"
                                                : info.param == Role::weight ? "backward_weight"
                                                                             : "forward");
                         });

TEST(KernelMapReference, FindsWhatIsWrong) {
    for (const CloudShape shape : {CloudShape{300, 3, 1}, {300, 2, 2}, {300, 3, 2}}) {
        const Tensor coordinates = cloud_of(shape.voxels);
        const KernelMapReference reference(coordinates, shape);
        const KernelMap map = map_of(coordinates, shape);
        std::vector<int32_t> imap(map.imap.data<int32_t>(), map.imap.data<int32_t>() + map.pairs());
        std::vector<int32_t> omap(map.omap.data<int32_t>(), map.omap.data<int32_t>() + map.pairs());
        std::vector<int64_t> starts(map.starts.data<int64_t>(),
                                    map.starts.data<int64_t>() + map.offsets + 1);
        EXPECT_EQ(reference.check(imap, omap, starts).failure, "");
        // The order within an offset is free.
        const auto longer = std::adjacent_find(starts.begin(), starts.end(),
                                               [](int64_t a, int64_t b) { return b - a > 1; });
        ASSERT_NE(longer, starts.end());
        const auto at = static_cast<size_t>(*longer);
        std::swap(imap[at], imap[at + 1]);
        EXPECT_NE(reference.check(imap, omap, starts).failure, "");
        std::swap(omap[at], omap[at + 1]);
        EXPECT_EQ(reference.check(imap, omap, starts).failure, "");
        ++*longer;
        EXPECT_NE(reference.check(imap, omap, starts).failure, "");
        --*longer;
        imap.pop_back();
        omap.pop_back();
        EXPECT_NE(reference.check(imap, omap, starts).failure, "");
        --starts.back();
        EXPECT_NE(reference.check(imap, omap, starts).failure, "");
    }
}

}  // namespace

}  // namespace hk::bench
