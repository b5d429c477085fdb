// hk::conv2d from its arguments to the kernel and back, over kernels that are plain functions.

#include <cmath>
#include <thread>

#include "hk/conv2d.h"
#include "tests/conv2d/reference.h"
#include "tests/conv2d/stand_in_kernels.h"
#include "tests/reference/elements.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::numbers;
using tests::values;

struct Case {
    Shape input, weight;  // n h w c, k r s c/g
    Conv2dOptions options;
};

Tensor laid_out(const Shape &shape, Layout layout, int seed) {
    if (layout == Layout::nhwc) return numbers(shape, seed);
    return numbers({shape[0], shape[3], shape[1], shape[2]}, seed);
}

void expect_reference(const Tensor &input, const Tensor &weight, const Tensor &bias,
                      const Tensor &residual, const Tensor &output, const Conv2dOptions &options) {
    conv2d(input, weight, bias, residual, output, options);
    const auto expected = reference::conv2d(input, weight, bias, residual, options).value;
    const auto actual = reference::read(reference::channels_last(output, options.layout));
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); i++) {
        ASSERT_NEAR(actual[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
    }
}

void check(const Case &c, Layout layout) {
    Conv2dOptions options = c.options;
    options.layout = layout;
    const Tensor input = laid_out(c.input, layout, 1), weight = laid_out(c.weight, layout, 2);
    const Conv2dProblem problem =
        Conv2dProblem::from_shapes(input.shape(), weight.shape(), DataType::f32, options);
    const Tensor output(problem.output_shape(), DataType::f32);
    const Tensor residual = numbers(problem.output_shape(), 3), bias = numbers({c.weight[0]}, 4);
    expect_reference(input, weight, {}, {}, output, options);
    expect_reference(input, weight, bias, residual, output, options);
    options.activation = Activation::relu;
    expect_reference(input, weight, bias, {}, output, options);
}

const Case kCases[] = {
    {{2, 5, 6, 4}, {6, 3, 3, 4}, {.padding = {1, 1, 1, 1}}},
    {{1, 7, 9, 6},
     {4, 3, 2, 3},
     {.stride = {2, 3}, .dilation = {2, 1}, .padding = {2, 0, 1, 3}, .groups = 2}},
    {{2, 4, 5, 3}, {6, 3, 3, 1}, {.padding = {1, 1, 1, 1}, .groups = 3}},
    {{3, 4, 5, 8}, {5, 1, 1, 8}, {}},
    {{3, 5, 7, 4}, {6, 1, 1, 2}, {.stride = {2, 2}, .groups = 2}},
    {{2, 8, 8, 4}, {4, 1, 1, 4}, {.stride = {2, 2}}},
    {{2, 8, 1, 4}, {4, 1, 1, 4}, {.stride = {3, 2}}},
    {{2, 1, 8, 4}, {4, 1, 1, 4}, {.stride = {3, 1}, .dilation = {5, 7}}},
    {{2, 8, 1, 4}, {4, 1, 1, 4}, {.stride = {3, 1}}},
    {{2, 8, 1, 4}, {4, 1, 1, 4}, {}},
    {{2, 3, 3, 4}, {4, 1, 1, 4}, {.padding = {1, 0, 0, 1}}},
    {{1, 2, 2, 1}, {1, 5, 5, 1}, {.padding = {2, 2, 2, 2}}},
    {{1, 2, 2, 3}, {2, 2, 2, 3}, {.stride = {9, 9}}},
    // Patches, and almost: columns that are left, an overlap, gaps, dilation, padding, groups.
    {{2, 9, 12, 5}, {4, 3, 4, 5}, {.stride = {2, 4}}},
    {{2, 8, 14, 5}, {4, 4, 4, 5}, {.stride = {4, 4}}},
    {{2, 8, 12, 5}, {4, 4, 4, 5}, {.stride = {4, 3}}},
    {{2, 8, 15, 5}, {4, 4, 4, 5}, {.stride = {4, 5}}},
    {{2, 8, 16, 5}, {4, 4, 4, 5}, {.stride = {4, 4}, .dilation = {1, 2}}},
    {{2, 8, 10, 5}, {4, 4, 4, 5}, {.stride = {4, 4}, .padding = {0, 0, 1, 1}}},
    {{2, 4, 8, 16}, {4, 2, 4, 8}, {.stride = {2, 4}, .groups = 2}},
    {{2, 12, 1, 8}, {5, 4, 1, 8}, {.stride = {4, 1}}},
    // Windows that are the image, and of a higher one.
    {{3, 5, 4, 6}, {7, 5, 4, 6}, {}},
    {{3, 6, 4, 6}, {7, 5, 4, 6}, {}},
    {{3, 5, 4, 1}, {7, 5, 4, 1}, {.stride = {3, 2}}},
};

TEST(Conv2dCall, IsTheDefinition) {
    for (size_t i = 0; i < std::size(kCases); i++) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            SCOPED_TRACE(std::to_string(i) + " " + std::string(name_of(layout)));
            check(kCases[i], layout);
        }
    }
}

TEST(Conv2dCall, Activations) {
    const Tensor input = numbers({1, 3, 4, 4}, 1), weight = numbers({4, 1, 1, 4}, 2);
    const Tensor output({1, 3, 4, 4}, DataType::f32);
    const Conv2dOptions options[] = {{.activation = Activation::none},
                                     {.activation = Activation::relu},
                                     {.activation = Activation::clamp, .alpha = -3, .beta = 6},
                                     {.activation = Activation::clamp},
                                     {.activation = Activation::clamp, .alpha = 2},
                                     {.activation = Activation::clamp, .beta = 2},
                                     {.activation = Activation::clamp, .alpha = 6, .beta = -3},
                                     {.activation = Activation::leaky_relu, .alpha = 0.1f},
                                     {.activation = Activation::silu},
                                     {.activation = Activation::gelu}};
    for (const Conv2dOptions &o : options) expect_reference(input, weight, {}, {}, output, o);
}

TEST(Conv2dCall, ReturnsATensor) {
    const Tensor input = numbers({2, 3, 4, 4}, 1), weight = numbers({5, 1, 1, 4}, 2);
    const Tensor output = conv2d(input, weight, numbers({5}, 3));
    EXPECT_EQ(output.shape(), (Shape{2, 3, 4, 5}));
    const Tensor expected({2, 3, 4, 5}, DataType::f32);
    conv2d(input, weight, numbers({5}, 3), {}, expected, {});
    EXPECT_EQ(values(output), values(expected));

    const Tensor residual = numbers({2, 3, 4, 5}, 4);
    const Conv2dOptions relu{.activation = Activation::relu};
    conv2d(input, weight, {}, residual, expected, relu);
    EXPECT_EQ(values(conv2d(input, weight, {}, residual, relu)), values(expected));
}

TEST(Conv2dCall, EmptyBatch) {
    const size_t before = test::noted_calls.size();
    const Tensor weight = numbers({4, 3, 3, 2}, 1);
    EXPECT_EQ(conv2d(Tensor({0, 5, 5, 2}, DataType::f32), weight).shape(), (Shape{0, 3, 3, 4}));
    EXPECT_INVALID("3 input channels, input has 2",
                   conv2d(Tensor({0, 5, 5, 2}, DataType::f32), numbers({4, 3, 3, 3}, 1)));
    EXPECT_EQ(test::noted_calls.size(), before);
}

TEST(Conv2dCall, Views) {
    const Tensor whole = numbers({2, 8, 9, 12}, 1), filters = numbers({16, 4, 3, 3}, 2);
    const Tensor canvas = numbers({2, 8, 9, 20}, 3);
    const Tensor input = whole.slice(1, 1, 6).slice(2, 8, 7, -1).slice(3, 4, 8);
    const Tensor weight = numbers({16, 3, 3, 10}, 2).slice(0, 0, 6, 2).slice(3, 1, 8);
    const Tensor bias = numbers({12}, 4).slice(0, 10, 6, -2);
    const Tensor output = canvas.slice(1, 0, 6).slice(2, 1, 7).slice(3, 3, 6);
    const Tensor residual = numbers({2, 6, 7, 9}, 5).slice(3, 2, 6);
    const std::vector<float> before = values(canvas);
    expect_reference(input, weight, bias, residual, output, {.padding = {1, 1, 1, 1}});
    // Only the view's elements changed.
    Tensor copy = canvas.to(Device::cpu());
    copy.slice(1, 0, 6).slice(2, 1, 7).slice(3, 3, 6).copy_from(
        Tensor::borrow(const_cast<float *>(before.data()), DataType::f32, {2, 8, 9, 20})
            .slice(1, 0, 6)
            .slice(2, 1, 7)
            .slice(3, 3, 6));
    EXPECT_EQ(values(copy), before);
}

TEST(Conv2dCall, InPlaceOfTheResidual) {
    const Tensor input = numbers({2, 6, 7, 8}, 1), weight = numbers({12, 3, 3, 8}, 2);
    for (const bool view : {false, true}) {
        const auto values_of_residual = [&] {
            return view ? numbers({2, 9, 7, 20}, 4).slice(1, 7, 6, -1).slice(3, 3, 12)
                        : numbers({2, 6, 7, 12}, 4);
        };
        const Tensor residual = values_of_residual(), output({2, 6, 7, 12}, DataType::f32);
        const Conv2dOptions options{.padding = {1, 1, 1, 1}, .activation = Activation::relu};
        conv2d(input, weight, numbers({12}, 3), residual, output, options);
        conv2d(input, weight, numbers({12}, 3), residual, inplace(residual), options);
        EXPECT_EQ(values(residual), values(output));
        EXPECT_NE(values(residual), values(values_of_residual()));
    }
}

// DenseNet's way: the output is the next slice of channels of the tensor that the input lies in.
TEST(Conv2dCall, OutputInterleavesWithInput) {
    const Tensor whole = numbers({2, 5, 5, 12}, 1);
    expect_reference(whole.slice(3, 0, 8), numbers({4, 3, 3, 8}, 2), {}, {}, whole.slice(3, 8, 4),
                     {.padding = {1, 1, 1, 1}});
}

TEST(Conv2dCall, NchwViews) {
    const Tensor whole = numbers({2, 10, 6, 9}, 1), canvas = numbers({2, 9, 7, 12}, 3);
    expect_reference(whole.slice(1, 9, 4, -2).slice(3, 1, 7), numbers({6, 4, 3, 3}, 2), {}, {},
                     canvas.slice(1, 2, 6).slice(2, 1, 6).slice(3, 3, 7),
                     {.layout = Layout::nchw, .padding = {1, 1, 1, 1}});
}

// What kernels see of 1x1 convolutions.
TEST(Conv2dCall, PointwisePixelsBecomeOneDimension) {
    const auto run = [](const Tensor &input, const Tensor &weight, Conv2dOptions options) {
        conv2d(input, weight, {}, {}, options);
        return test::noted_calls.back();
    };
    test::NotedCall call = run(numbers({2, 4, 5, 8}, 1), numbers({6, 1, 1, 8}, 2), {});
    EXPECT_EQ(call.kernel, "pointwise_nhwc");
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{8, 1, 40, 1, 1}));
    EXPECT_EQ(call["output"].extents, (std::vector<int32_t>{6, 1, 40, 1, 1}));
    EXPECT_EQ(call["input"].strides[2], 8);
    // Rows of a wider tensor: rows stay.
    call = run(numbers({2, 4, 7, 8}, 1).slice(2, 0, 5), numbers({6, 1, 1, 8}, 2), {});
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{8, 1, 5, 4, 2}));
    EXPECT_EQ(call["input"].strides, (std::vector<int32_t>{1, 8, 8, 56, 224}));
    // A stride becomes one of the view.
    call = run(numbers({2, 4, 6, 8}, 1), numbers({6, 1, 1, 8}, 2), {.stride = {2, 3}});
    EXPECT_EQ(call.kernel, "pointwise_nhwc");
    EXPECT_EQ(call.number("stride_x"), 1);
    EXPECT_EQ(call.number("stride_y"), 1);
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{8, 1, 2, 2, 2}));
    EXPECT_EQ(call["input"].strides, (std::vector<int32_t>{1, 8, 24, 96, 192}));
    // With padding nothing is folded.
    call = run(numbers({2, 4, 5, 8}, 1), numbers({6, 1, 1, 8}, 2), {.padding = {1, 0, 0, 0}});
    EXPECT_EQ(call.kernel, "any_nhwc");
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{8, 1, 5, 4, 2}));
    // nchw: images stay apart, columns stay next to each other.
    call = run(numbers({2, 8, 4, 5}, 1), numbers({6, 8, 1, 1}, 2), {.layout = Layout::nchw});
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{20, 1, 8, 1, 2}));
    call = run(numbers({2, 8, 4, 6}, 1), numbers({6, 8, 1, 1}, 2),
               {.layout = Layout::nchw, .stride = {2, 2}});
    EXPECT_EQ(call.kernel, "any_nchw");
    EXPECT_EQ(call.number("stride_x"), 2);
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{6, 4, 8, 1, 2}));
}

// What kernels see of patches: taps of nhwc that follow each other are channels of one.
TEST(Conv2dCall, TapsBecomeChannels) {
    const auto run = [](const Tensor &input, const Tensor &weight, Conv2dOptions options) {
        conv2d(input, weight, {}, {}, options);
        return test::noted_calls.back();
    };
    test::NotedCall call =
        run(numbers({2, 6, 12, 5}, 1), numbers({7, 3, 4, 5}, 2), {.stride = {3, 4}});
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{20, 1, 3, 6, 2}));
    EXPECT_EQ(call["input"].strides, (std::vector<int32_t>{1, 20, 20, 60, 360}));
    EXPECT_EQ(call["weight"].extents, (std::vector<int32_t>{20, 1, 3, 7, 1}));
    EXPECT_EQ(call["output"].extents, (std::vector<int32_t>{7, 1, 3, 2, 2}));
    EXPECT_EQ(call.number("stride_x"), 1);
    EXPECT_EQ(call.number("stride_y"), 3);
    // The image is one window: a product of matrices, of either layout.
    call = run(numbers({3, 4, 5, 6}, 1), numbers({7, 4, 5, 6}, 2), {});
    EXPECT_EQ(call.kernel, "pointwise_nhwc");
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{120, 1, 3, 1, 1}));
    call = run(numbers({3, 6, 4, 5}, 1), numbers({7, 6, 4, 5}, 2), {.layout = Layout::nchw});
    EXPECT_EQ(call.kernel, "pointwise_nhwc");
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{120, 1, 3, 1, 1}));
    EXPECT_EQ(call["weight"].extents, (std::vector<int32_t>{120, 1, 1, 7, 1}));
    // Few are left to rows of pictures; pixels with others between their channels stay pixels.
    call = run(numbers({2, 6, 12, 3}, 1), numbers({7, 3, 4, 3}, 2), {.stride = {3, 4}});
    EXPECT_EQ(call["weight"].extents, (std::vector<int32_t>{3, 4, 3, 7, 1}));
    call =
        run(numbers({2, 6, 12, 9}, 1).slice(3, 2, 5), numbers({7, 3, 4, 5}, 2), {.stride = {3, 4}});
    EXPECT_EQ(call["weight"].extents, (std::vector<int32_t>{5, 4, 3, 7, 1}));
    call =
        run(numbers({2, 6, 12, 5}, 1), numbers({7, 3, 4, 9}, 2).slice(3, 2, 5), {.stride = {3, 4}});
    EXPECT_EQ(call["weight"].extents, (std::vector<int32_t>{5, 4, 3, 7, 1}));
}

TEST(Conv2dCall, GroupsAreADimension) {
    conv2d(numbers({1, 4, 5, 12}, 1), numbers({6, 3, 3, 4}, 2), {}, {}, {.groups = 3});
    const test::NotedCall &call = test::noted_calls.back();
    EXPECT_EQ(call["input"].extents, (std::vector<int32_t>{4, 3, 5, 4, 1}));
    EXPECT_EQ(call["input"].strides, (std::vector<int32_t>{1, 4, 12, 60, 240}));
    EXPECT_EQ(call["weight"].extents, (std::vector<int32_t>{4, 3, 3, 2, 3}));
    EXPECT_EQ(call["weight"].strides, (std::vector<int32_t>{1, 4, 12, 36, 72}));
    EXPECT_EQ(call["bias"].extents, (std::vector<int32_t>{2, 3}));
    EXPECT_EQ(call["residual"].extents, call["output"].extents);
    conv2d(numbers({1, 4, 5, 3}, 1), numbers({3, 3, 3, 1}, 2), {}, {}, {.groups = 3});
    EXPECT_EQ(test::noted_calls.back()["input"].strides[0], 1);
    EXPECT_EQ(test::noted_calls.back()["input"].strides[1], 1);
}

// Selection without tensors agrees with the call on packed ones.
TEST(Conv2dCall, SelectionAgreesWithTheCall) {
    for (const Case &c : kCases) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            Conv2dOptions options = c.options;
            options.layout = layout;
            const Tensor input = laid_out(c.input, layout, 1),
                         weight = laid_out(c.weight, layout, 2);
            conv2d(input, weight, {}, {}, options);
            const Selection selection = select_conv2d(
                Conv2dProblem::from_shapes(input.shape(), weight.shape(), DataType::f32, options),
                DeviceType::cpu, {}, true);
            ASSERT_NE(selection.kernel, nullptr);
            EXPECT_EQ(test::noted_calls.back().kernel, selection.kernel->name);
            EXPECT_EQ(selection.rejected.size(), 1u);
        }
    }
}

TEST(Conv2dCall, Operations) {
    const Conv2dProblem problem = Conv2dProblem::from_shapes(
        {1, 56, 56, 64}, {32, 3, 3, 16}, DataType::f32, {.padding = {1, 1, 1, 1}, .groups = 4});
    EXPECT_EQ(problem.operations(), 2.0 * 56 * 56 * 32 * 16 * 9);
}

TEST(Conv2dCall, FailingKernelsThrow) {
    const Tensor input({1, 4, 4, 2}, DataType::f16), weight({2, 1, 1, 2}, DataType::f16);
    const auto run = [&](int status, const char *message) {
        tests::failure = {status, message};
        conv2d(input, weight);
    };
    EXPECT_ERROR(KernelFailure, "conv2d: kernel failing on cpu: the extent is odd",
                 run(halide_error_code_constraint_violated, "the extent is odd"));
    EXPECT_ERROR(
        OutOfMemory, "no memory left",
        run(halide_error_code_out_of_memory, "Out of memory (halide_malloc returned nullptr)"));
    EXPECT_ERROR(OutOfMemory, "allocation for buffer padded",
                 run(halide_error_code_buffer_allocation_too_large,
                     "Total allocation for buffer padded is 2147483648"));
}

TEST(Conv2dCall, LogsEachNewProblemOnce) {
    const Tensor input = numbers({1, 17, 19, 3}, 1), weight = numbers({5, 3, 3, 3}, 2);
    setenv("HK_LOG", "select", 1);
    ::testing::internal::CaptureStderr();
    conv2d(input, weight);
    const std::string first = ::testing::internal::GetCapturedStderr();
    ::testing::internal::CaptureStderr();
    conv2d(input, weight);
    const std::string second = ::testing::internal::GetCapturedStderr();
    unsetenv("HK_LOG");
    EXPECT_EQ(first,
              "hk select: cpu conv2d nhwc f32, input [1, 17, 19, 3], weight [5, 3, 3, 3], stride "
              "[1, 1], padding [0, 0, 0, 0], dilation [1, 1], groups 1: any_nhwc\n"
              "hk select:   not pointwise_nhwc: kernel_h is 3, the row needs 1\n");
    EXPECT_EQ(second, "");
}

TEST(Conv2dCall, FromManyThreads) {
    const Tensor input = numbers({1, 6, 6, 4}, 1), weight = numbers({4, 3, 3, 4}, 2);
    const std::vector<float> expected = values(conv2d(input, weight));
    const auto work = [&] {
        for (int i = 0; i < 20; i++) EXPECT_EQ(values(conv2d(input, weight)), expected);
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(work);
    for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace hk
