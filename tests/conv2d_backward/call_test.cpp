// What kernels of conv2d's gradients are called with.

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "conv2d_backward/operands.h"
#include "hk/conv2d_backward.h"
#include "tests/runtime/expect_error.h"
#include "tests/support/noting_kernels.h"

namespace hk {
namespace {

using test::noted_calls;
using test::NotedCall;
using Sizes = std::vector<int32_t>;

Tensor made(const Shape &shape) { return Tensor(shape, DataType::f32); }

const KernelInfo &row(const std::string &name) {
    for (const KernelInfo &kernel : conv2d_backward_data_kernels()) {
        if (name == kernel.name) return kernel;
    }
    throw std::runtime_error("no row " + name);
}

// The one call of a function.
template<typename F>
NotedCall only_call(F &&run) {
    noted_calls.clear();
    run();
    EXPECT_EQ(noted_calls.size(), 1u);
    return noted_calls.empty() ? NotedCall() : noted_calls.front();
}

// With the row that takes any problem, a strided one is one call.
TEST(Conv2dBackwardCall, InputGradient) {
    const Tensor output = made({2, 5, 4, 12}), weight = made({12, 3, 2, 4}),
                 input = made({2, 9, 11, 8});
    const Conv2dOptions options{
        .stride = {2, 3}, .dilation = {3, 6}, .padding = {4, 3, 2, 3}, .groups = 2};
    const NotedCall call = only_call(
        [&] { conv2d_backward_data_with(row("data_nhwc"), output, weight, input, options, 1); });
    EXPECT_EQ(call.kernel, "data_nhwc");
    EXPECT_EQ(call["output_gradient"].extents, (Sizes{6, 2, 4, 5, 2}));
    EXPECT_EQ(call["weight"].extents, (Sizes{4, 2, 3, 6, 2}));
    EXPECT_EQ(call["weight"].strides, (Sizes{1, 4, 8, 24, 144}));
    EXPECT_EQ(call["input_gradient"].extents, (Sizes{4, 2, 11, 9, 2}));
    EXPECT_EQ(call["input_gradient"].strides, (Sizes{1, 4, 8, 88, 792}));
    EXPECT_EQ(call["input_gradient"].host, reinterpret_cast<const uint8_t *>(input.data<float>()));
    EXPECT_EQ(call["previous"].buffer, call["input_gradient"].buffer);
    EXPECT_TRUE(call.take<bool>("accumulate"));
    EXPECT_EQ(
        (Sizes{call.number("stride_x"), call.number("stride_y"), call.number("dilation_x"),
               call.number("dilation_y"), call.number("padding_left"), call.number("padding_top")}),
        (Sizes{3, 2, 6, 3, 2, 4}));
    EXPECT_EQ((Sizes{call.number("common_x"), call.number("common_y"), call.number("inverse_x"),
                     call.number("inverse_y")}),
              (Sizes{3, 1, 0, 1}));
}

TEST(Conv2dBackwardCall, WeightGradient) {
    const Tensor output = made({2, 12, 5, 4}), input = made({2, 8, 9, 11}),
                 weight = made({12, 4, 3, 2});
    const Conv2dOptions options{.layout = Layout::nchw,
                                .stride = {2, 3},
                                .dilation = {3, 6},
                                .padding = {4, 3, 2, 3},
                                .groups = 2};
    const NotedCall call =
        only_call([&] { conv2d_backward_weight(output, input, weight, options); });
    EXPECT_EQ(call.kernel, "weight_nchw");
    EXPECT_EQ(call["output_gradient"].extents, (Sizes{4, 5, 6, 2, 2}));
    EXPECT_EQ(call["input"].extents, (Sizes{11, 9, 4, 2, 2}));
    EXPECT_EQ(call["weight_gradient"].extents, (Sizes{2, 3, 4, 6, 2}));
    EXPECT_EQ(call["previous"].buffer, call["weight_gradient"].buffer);
    EXPECT_FALSE(call.take<bool>("accumulate"));
    EXPECT_EQ(
        (Sizes{call.number("stride_x"), call.number("stride_y"), call.number("dilation_x"),
               call.number("dilation_y"), call.number("padding_left"), call.number("padding_top")}),
        (Sizes{3, 2, 6, 3, 2, 4}));
}

TEST(Conv2dBackwardCall, BiasGradient) {
    const Tensor output = made({2, 5, 4, 12}).slice(1, 1, 3), bias = made({12});
    const NotedCall call = only_call([&] { conv2d_backward_bias(output, bias, Layout::nhwc, 1); });
    EXPECT_EQ(call["output_gradient"].extents, (Sizes{12, 1, 4, 3, 2}));
    EXPECT_EQ(call["bias_gradient"].extents, (Sizes{12, 1}));
    EXPECT_EQ(call["previous"].buffer, call["bias_gradient"].buffer);
    EXPECT_TRUE(call.take<bool>("accumulate"));
}

// Pixels of a 1x1 filter become one row where nothing lies between them.
TEST(Conv2dBackwardCall, PointwiseInputGradient) {
    const Tensor output = made({2, 5, 4, 12}), weight = made({12, 1, 1, 8});
    NotedCall call = only_call([&] {
        conv2d_backward_data(output, weight, made({2, 5, 4, 8}), {});
    });
    EXPECT_EQ(call.kernel, "pointwise_data");
    EXPECT_EQ(call["output_gradient"].extents, (Sizes{12, 1, 40, 1, 1}));
    EXPECT_EQ(call["input_gradient"].extents, (Sizes{8, 1, 40, 1, 1}));

    // Strided, it is written where it lands, between zeros.
    const Tensor input = made({2, 9, 8, 8});
    std::fill_n(input.data<float>(), input.elements(), 3.f);
    call = only_call([&] { conv2d_backward_data(output, weight, input, {.stride = {2, 2}}); });
    EXPECT_EQ(call.kernel, "pointwise_data");
    EXPECT_EQ(call["output_gradient"].extents, (Sizes{12, 1, 4, 5, 2}));
    EXPECT_EQ(call["input_gradient"].extents, (Sizes{8, 1, 4, 5, 2}));
    EXPECT_EQ(call["input_gradient"].strides, (Sizes{1, 8, 16, 128, 576}));
    EXPECT_EQ(call.number("stride_x"), 1);
    EXPECT_EQ(std::count(input.data<float>(), input.data<float>() + input.elements(), 0.f),
              input.elements());
}

// Of a gradient that accumulates what lies between stays; so it does where every pixel has taps.
TEST(Conv2dBackwardCall, StridesLeaveWhatTheyAccumulate) {
    const Tensor output = made({1, 2, 2, 4}), input = made({1, 4, 4, 4});
    std::fill_n(input.data<float>(), input.elements(), 3.f);
    const Conv2dOptions strided{.stride = {2, 2}};
    noted_calls.clear();
    conv2d_backward_data(output, made({4, 1, 1, 4}), input, strided, 1);
    EXPECT_EQ(noted_calls.size(), 1u);
    conv2d_backward_data(output, made({4, 2, 2, 4}), input, strided);  // a call a row of taps
    EXPECT_EQ(noted_calls.size(), 3u);
    EXPECT_EQ(std::count(input.data<float>(), input.data<float>() + input.elements(), 3.f),
              input.elements());
}

// Pixels a stride apart and the taps that meet them, without a copy.
TEST(Conv2dBackwardCall, PhasesOfAStridedInputGradient) {
    const Tensor output = made({2, 4, 3, 12}), weight = made({12, 1, 4, 4}),
                 input = made({2, 4, 8, 8});
    const Conv2dOptions options{
        .stride = {1, 3}, .dilation = {1, 2}, .padding = {0, 0, 5, 0}, .groups = 2};
    noted_calls.clear();
    conv2d_backward_data(output, weight, input, options);
    ASSERT_EQ(noted_calls.size(), 3u);
    // Tap s meets the pixels x with (x + 5 - 2 s) % 3 = 0: taps 0 and 3 those of 1, 1 of 0, 2 of 2.
    struct Phase {
        int32_t first, pixels, tap, taps, dilation, padding;
    };
    const Phase phases[] = {{1, 3, 0, 2, 2, 2}, {0, 3, 1, 1, 1, 1}, {2, 2, 2, 1, 1, 1}};
    for (int i = 0; i < 3; i++) {
        const NotedCall &call = noted_calls[static_cast<size_t>(i)];
        const Phase &phase = phases[i];
        EXPECT_EQ(call["input_gradient"].extents, (Sizes{4, 2, phase.pixels, 4, 2})) << i;
        EXPECT_EQ(call["input_gradient"].strides, (Sizes{1, 4, 24, 64, 256})) << i;
        EXPECT_EQ(call["input_gradient"].host,
                  reinterpret_cast<const uint8_t *>(input.data<float>() + 8 * phase.first))
            << i;
        EXPECT_EQ(call["weight"].extents, (Sizes{4, phase.taps, 1, 6, 2})) << i;
        EXPECT_EQ(call["weight"].host,
                  reinterpret_cast<const uint8_t *>(weight.data<float>() + 4 * phase.tap))
            << i;
        if (phase.taps > 1) {
            EXPECT_EQ(call["weight"].strides[1], 12) << i;
        }
        EXPECT_EQ(call["output_gradient"].extents, (Sizes{6, 2, 3, 4, 2})) << i;
        EXPECT_EQ((Sizes{call.number("stride_x"), call.number("dilation_x"),
                         call.number("padding_left")}),
                  (Sizes{1, phase.dilation, phase.padding}))
            << i;
    }
}

// Of patches, whose taps along a row are channels, a phase is a row of taps.
TEST(Conv2dBackwardCall, PhasesOfPatches) {
    const Tensor output = made({2, 3, 3, 6}), weight = made({6, 2, 4, 5}),
                 input = made({2, 6, 12, 5});
    const Conv2dOptions options{.stride = {2, 4}};
    noted_calls.clear();
    conv2d_backward_data(output, weight, input, options);
    ASSERT_EQ(noted_calls.size(), 2u);
    for (int64_t row = 0; row < 2; row++) {
        const NotedCall &call = noted_calls[static_cast<size_t>(row)];
        EXPECT_EQ(call.kernel, "pointwise_data");
        EXPECT_EQ(call["input_gradient"].extents, (Sizes{20, 1, 3, 3, 2})) << row;
        EXPECT_EQ(call["input_gradient"].strides, (Sizes{1, 20, 20, 120, 360})) << row;
        EXPECT_EQ(call["input_gradient"].host,
                  reinterpret_cast<const uint8_t *>(input.data<float>() + 60 * row));
        EXPECT_EQ(call["weight"].extents, (Sizes{20, 1, 1, 6, 1})) << row;
        EXPECT_EQ(call["weight"].host,
                  reinterpret_cast<const uint8_t *>(weight.data<float>() + 20 * row));
    }
    const NotedCall call =
        only_call([&] { conv2d_backward_weight(output, input, weight, options); });
    EXPECT_EQ(call["input"].extents, (Sizes{20, 1, 3, 6, 2}));
    EXPECT_EQ(call["weight_gradient"].extents, (Sizes{20, 1, 2, 6, 1}));
    // Columns that no window meets have a gradient, of zeros: nothing is folded.
    noted_calls.clear();
    conv2d_backward_data(output, weight, made({2, 6, 14, 5}), options);
    EXPECT_EQ(noted_calls.size(), 8u);
}

// Phases that a given row does not take run by others, but one it must take.
TEST(Conv2dBackwardCall, AGivenRowTakesThePhasesThatItCan) {
    const Tensor output = made({1, 3, 3, 4}), weight = made({4, 3, 3, 4}),
                 input = made({1, 6, 6, 4});
    const Conv2dOptions options{.stride = {2, 2}, .padding = {1, 1, 1, 1}};
    const KernelInfo &pointwise = row("pointwise_data");
    noted_calls.clear();
    conv2d_backward_data_with(pointwise, output, weight, input, options);
    std::string names;
    for (const NotedCall &call : noted_calls) names += call.kernel + " ";
    EXPECT_EQ(names, "data_nhwc data_nhwc data_nhwc pointwise_data ");
    EXPECT_INVALID(
        "kernel_h is 4, the row needs 1",
        conv2d_backward_data_with(pointwise, output, made({4, 4, 4, 4}), input, options));
}

// A row that was made for the strides takes their problem whole, where it takes it at all.
TEST(Conv2dBackwardCall, ARowForTheStridesTakesTheWhole) {
    const Tensor weight = made({4, 3, 3, 4}), input = made({1, 9, 10, 4});
    const auto names_of = [&](int64_t padding_top) {
        const Conv2dOptions options{.stride = {3, 5},
                                    .padding = {padding_top, 3 - padding_top, 1, 0}};
        const Conv2dProblem problem =
            Conv2dProblem::from_shapes(input.shape(), weight.shape(), DataType::f32, options);
        noted_calls.clear();
        conv2d_backward_data(made(problem.output_shape()), weight, input, options);
        std::string names = std::string(
            select_conv2d_backward_data(problem, DeviceType::cpu, Device::cpu().limits())
                .kernel->name);
        for (const NotedCall &call : noted_calls) names += " " + call.kernel;
        return names;
    };
    EXPECT_EQ(names_of(2), "strided_data strided_data");
    const std::string nine = [] {
        std::string names;
        for (int i = 0; i < 9; i++) names += " pointwise_data";
        return names;
    }();
    EXPECT_EQ(names_of(1), "pointwise_data" + nine);
}

TEST(Conv2dBackwardCall, SelectionIsThatOfTheLargestPhase) {
    const auto row_of = [](const Shape &weight, Padding padding, DeviceType device) {
        const Conv2dProblem problem = Conv2dProblem::from_shapes(
            {1, 6, 6, 4}, weight, DataType::f32, {.stride = {2, 2}, .padding = padding});
        return std::string(select_conv2d_backward_data(problem, device, {}).kernel->name);
    };
    EXPECT_EQ(row_of({4, 1, 1, 4}, {}, DeviceType::cpu), "pointwise_data");
    EXPECT_EQ(row_of({4, 2, 2, 4}, {}, DeviceType::cpu), "pointwise_data");
    EXPECT_EQ(row_of({4, 3, 3, 4}, {1, 1, 1, 1}, DeviceType::cpu), "data_nhwc");
}

// A stride is one of the input's view there; rows stay, for the sum is divided by them.
TEST(Conv2dBackwardCall, PointwiseWeightGradient) {
    const NotedCall call = only_call([&] {
        conv2d_backward_weight(made({2, 5, 4, 12}), made({2, 9, 8, 8}), made({12, 1, 1, 8}),
                               {.stride = {2, 2}});
    });
    EXPECT_EQ(call["input"].extents, (Sizes{8, 1, 4, 5, 2}));
    EXPECT_EQ(call["input"].strides, (Sizes{1, 8, 16, 128, 576}));
    EXPECT_EQ(call.number("stride_x"), 1);
    EXPECT_EQ(call.number("stride_y"), 1);
}

TEST(Conv2dBackwardCall, RunsOnlyWhatIsAskedFor) {
    const Tensor output = made({2, 6, 7, 12}), input = made({2, 6, 7, 8}),
                 weight = made({12, 3, 3, 8}), bias = made({12});
    const Conv2dOptions options{.padding = {1, 1, 1, 1}};
    const auto kernels = [&](const Conv2dGradients &gradients) {
        noted_calls.clear();
        conv2d_backward(output, input, weight, gradients, options);
        std::string names;
        for (const NotedCall &call : noted_calls) names += call.kernel + " ";
        return names;
    };
    const Tensor dx = made({2, 6, 7, 8}), dw = made({12, 3, 3, 8}), db = made({12});
    EXPECT_EQ(kernels({}), "");
    EXPECT_EQ(kernels({dx, {}, {}}), "data_nhwc ");
    EXPECT_EQ(kernels({{}, dw, db}), "weight_nhwc bias_nhwc ");
    EXPECT_EQ(kernels({dx, dw, db}), "data_nhwc weight_nhwc bias_nhwc ");
}

TEST(Conv2dBackwardCall, AnEmptyBatchHasZeroGradients) {
    const Tensor output = made({0, 6, 7, 12}), input = made({0, 6, 7, 8});
    const Tensor weight = made({12, 3, 3, 8}), bias = made({12});
    const Conv2dOptions options{.padding = {1, 1, 1, 1}};
    const auto run = [&](float beta) {
        noted_calls.clear();
        weight.data<float>()[5] = bias.data<float>()[11] = 3;
        conv2d_backward(output, input, {}, {{}, weight, bias}, options, beta);
        EXPECT_TRUE(noted_calls.empty());
        return weight.data<float>()[5] + bias.data<float>()[11];
    };
    EXPECT_EQ(run(0), 0);
    EXPECT_EQ(run(1), 6);
}

TEST(StridePhases, InverseOfTheDilation) {
    for (int64_t stride = 1; stride < 40; stride++) {
        for (int64_t dilation = 1; dilation < 90; dilation++) {
            const detail::StridePhase phase(stride, dilation);
            ASSERT_EQ(phase.common, std::gcd(stride, dilation));
            const int64_t step = stride / phase.common;
            ASSERT_EQ(phase.inverse * (dilation / phase.common) % step, 1 % step)
                << stride << ", " << dilation;
            ASSERT_TRUE(phase.inverse >= 0 && phase.inverse < step) << stride << ", " << dilation;
        }
    }
}

}  // namespace
}  // namespace hk
