// Bad input of conv2d's gradients: refused before any kernel runs, with both values in the message.

#include <limits>

#include "hk/conv2d_backward.h"
#include "tests/runtime/repeated.h"
#include "tests/support/noting_kernels.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

using test::noted_calls;

Tensor made(const Shape &shape) { return Tensor(shape, DataType::f32); }

// A call that is right, to be spoilt in one place.
struct Arguments {
    Tensor output = made({2, 6, 7, 12}), input = made({2, 6, 7, 8}), weight = made({12, 3, 3, 8});
    Conv2dGradients gradients{made({2, 6, 7, 8}), made({12, 3, 3, 8}), made({12})};
    Conv2dOptions options{.padding = {1, 1, 1, 1}};
    float beta = 0;

    static constexpr const char *kOperation = "conv2d_backward: ";
    static size_t calls() { return noted_calls.size(); }
    void run() const { conv2d_backward(output, input, weight, gradients, options, beta); }
};

TEST(Conv2dBackwardInput, TheUnspoiltCallRuns) {
    noted_calls.clear();
    Arguments().run();
    EXPECT_EQ(noted_calls.size(), 3u);
}

TEST(Conv2dBackwardInput, UndefinedTensors) {
    EXPECT_REFUSED("output gradient is undefined", a.output = {});
    EXPECT_REFUSED("input is undefined", a.input = {});
    EXPECT_REFUSED("weight is undefined", a.weight = {});
    const Tensor t = made({1, 1, 1, 1});
    EXPECT_INVALID("conv2d_backward_data: input gradient is undefined",
                   conv2d_backward_data(t, t, Tensor(), {}));
    EXPECT_INVALID("conv2d_backward_data: weight is undefined",
                   conv2d_backward_data(t, {}, made({1, 1, 1, 1}), {}));
    EXPECT_INVALID("conv2d_backward_weight: weight gradient is undefined",
                   conv2d_backward_weight(t, t, Tensor(), {}));
    EXPECT_INVALID("conv2d_backward_weight: input is undefined",
                   conv2d_backward_weight(t, {}, made({1, 1, 1, 1}), {}));
    EXPECT_INVALID("conv2d_backward_bias: bias gradient is undefined",
                   conv2d_backward_bias(t, {}, Layout::nhwc));
    EXPECT_INVALID("conv2d_backward_data: output gradient is undefined",
                   conv2d_backward_data({}, t, Shape{1, 1, 1, 1}));
    EXPECT_INVALID("conv2d_backward_weight: output gradient is undefined",
                   conv2d_backward_weight({}, t, Shape{1, 1, 1, 1}));
    EXPECT_INVALID("conv2d_backward_bias: output gradient is undefined",
                   conv2d_backward_bias(Tensor()));
    // Which has neither weight nor input.
    EXPECT_INVALID(
        "conv2d_backward_bias: output gradient has shape [2, 6, 7, 0], of which only the "
        "batch may be 0",
        conv2d_backward_bias(Tensor({2, 6, 7, 0}, DataType::f32)));
}

TEST(Conv2dBackwardInput, Ranks) {
    EXPECT_REFUSED("output gradient has shape [2, 504], it must have [2, 6, 7, 12]",
                   a.output = a.output.reshape({2, 504}));
    EXPECT_REFUSED("input has 3 dimensions, [6, 7, 8], it needs 4",
                   a.gradients.input = made({6, 7, 8}));
    EXPECT_REFUSED("weight has 5 dimensions", a.gradients.weight = made({12, 3, 3, 8, 1}));
    EXPECT_REFUSED("output gradient has 3 dimensions, [6, 7, 12], it needs 4", {
        a.output = made({6, 7, 12});
        a.gradients = {{}, {}, made({12})};
    });
}

TEST(Conv2dBackwardInput, Shapes) {
    EXPECT_REFUSED("output gradient has shape [2, 6, 7, 11], it must have [2, 6, 7, 12]",
                   a.output = made({2, 6, 7, 11}));
    EXPECT_REFUSED("output gradient has shape [2, 6, 7, 12], it must have [2, 4, 5, 12]",
                   a.options.padding = {});
    EXPECT_REFUSED("input gradient has shape [2, 7, 7, 8], it must have [2, 6, 7, 8]", {
        a.options.padding.top = 0;
        a.gradients.input = made({2, 7, 7, 8});
    });
    EXPECT_REFUSED("weight gradient has shape [12, 3, 3, 8], it must have [12, 5, 3, 8]",
                   a.weight = made({12, 5, 3, 8}));
    EXPECT_REFUSED("bias gradient has shape [11], it must have [12]",
                   a.gradients.bias = made({11}));
    EXPECT_REFUSED("weight has 6 input channels, input has 8",
                   a.weight = a.gradients.weight = made({12, 3, 3, 6}));
    EXPECT_REFUSED("the kernel reaches over 11 rows, the padded input has 8",
                   a.options.dilation = {5, 1});
    EXPECT_REFUSED("the input's width is 0", a.gradients.input = made({2, 6, 0, 8}));
}

TEST(Conv2dBackwardInput, Groups) {
    EXPECT_REFUSED("input has 8 channels, 3 groups don't divide them", a.options.groups = 3);
    EXPECT_REFUSED("weight has 12 filters, 8 groups don't divide them", a.options.groups = 8);
    EXPECT_REFUSED("weight has 8 input channels, input has 8 in 2 groups", a.options.groups = 2);
    EXPECT_REFUSED("groups is 0", a.options.groups = 0);
}

TEST(Conv2dBackwardInput, Options) {
    EXPECT_REFUSED("beta is 0.500000, it must be 0 or 1", a.beta = 0.5f);
    EXPECT_REFUSED("beta is nan", a.beta = std::numeric_limits<float>::quiet_NaN());
    EXPECT_REFUSED("the activation is relu, it must be none",
                   a.options.activation = Activation::relu);
    EXPECT_REFUSED("the layout is any, it must be nhwc or nchw", a.options.layout = Layout::any);
    EXPECT_REFUSED("the layout is unknown", a.options.layout = static_cast<Layout>(200));
    EXPECT_REFUSED("activation 200 does not exist",
                   a.options.activation = static_cast<Activation>(200));
    EXPECT_REFUSED("stride of y is 0", a.options.stride[0] = 0);
    EXPECT_REFUSED("dilation of x is -2", a.options.dilation[1] = -2);
    EXPECT_REFUSED("padding at the left is -1", a.options.padding.left = -1);
}

TEST(Conv2dBackwardInput, PaddedInputsBeyondWhatKernelsCount) {
    EXPECT_REFUSED("the padded input's number of rows is 2147483654", {
        a.options.padding.top = std::numeric_limits<int32_t>::max();
        a.options.stride = {1 << 30, 1};
    });
}

TEST(Conv2dBackwardInput, Types) {
    EXPECT_REFUSED("weight is f16, output gradient is f32",
                   a.weight = Tensor({12, 3, 3, 8}, DataType::f16));
    EXPECT_REFUSED("bias gradient is bf16, output gradient is f32",
                   a.gradients.bias = Tensor({12}, DataType::bf16));
    EXPECT_REFUSED("the type is s32, it must be f32, f16 or bf16", {
        a.output = Tensor({2, 6, 7, 12}, DataType::s32);
        a.gradients = {{}, {}, Tensor({12}, DataType::s32)};
    });
}

TEST(Conv2dBackwardInput, Devices) {
    EXPECT_REFUSED("input is on opencl:0, output gradient is on cpu",
                   a.input = a.input.to(Device::opencl(0)));
    EXPECT_REFUSED("weight gradient is on opencl:0, output gradient is on cpu",
                   a.gradients.weight = a.gradients.weight.to(Device::opencl(0)));
}

TEST(Conv2dBackwardInput, Overlaps) {
    EXPECT_REFUSED(
        "input gradient and input overlap: input gradient has shape [2, 6, 7, 8], strides [336, "
        "56, 8, 1]; input has shape [2, 6, 7, 8], strides [336, 56, 8, 1], and begins where input "
        "gradient does",
        a.gradients.input = a.input);
    EXPECT_REFUSED("weight gradient and weight overlap", a.gradients.weight = a.weight);
    EXPECT_REFUSED(
        "bias gradient and output gradient overlap",
        a.gradients.bias = a.output.slice(0, 0, 1).slice(1, 0, 1).slice(2, 0, 1).reshape({12}));
    EXPECT_REFUSED("bias gradient and input gradient overlap",
                   a.gradients.bias = a.gradients.input.reshape({672}).slice(0, 100, 12));
    EXPECT_REFUSED(
        "elements of the weight gradient overlap",
        a.gradients.weight = Tensor::borrow(a.gradients.weight.data<float>(), DataType::f32,
                                            {12, 3, 3, 8}, {0, 24, 8, 1}));
}

// What no gradient needs may be anything.
TEST(Conv2dBackwardInput, UnneededTensors) {
    Arguments a;
    a.gradients = {{}, {}, a.gradients.bias};
    a.input = a.gradients.bias;
    a.weight = {};
    noted_calls.clear();
    a.run();
    EXPECT_EQ(noted_calls.size(), 1u);
}

TEST(Conv2dBackwardInput, Strides) {
    EXPECT_REFUSED("input gradient's channels have the stride 2, no kernel takes another than 1",
                   a.gradients.input = made({2, 6, 7, 16}).slice(3, 0, 8, 2));
    EXPECT_REFUSED("bias gradient's elements have the stride -1",
                   a.gradients.bias = a.gradients.bias.slice(0, 11, 12, -1));
}

TEST(Conv2dBackwardInput, GivenRows) {
    const Arguments a;
    for (const KernelInfo &kernel : conv2d_backward_data_kernels()) {
        const std::string name = kernel.name;
        const auto run = [&] {
            conv2d_backward_data_with(kernel, a.output, a.weight, a.gradients.input, a.options);
        };
        if (name == "data_nhwc") {
            run();
        } else if (name == "pointwise_data") {
            EXPECT_INVALID("kernel_h is 3, the row needs 1", run());
        } else if (name == "strided_data") {
            EXPECT_INVALID("stride_x is 1, the row needs 5", run());
        } else {
            EXPECT_INVALID(
                "conv2d_backward_data: kernel data_nchw is for cpu f32 nchw, the "
                "problem is cpu f32 nhwc",
                run());
        }
    }
}

TEST(Conv2dBackwardInput, RepeatedElements) {
    const std::string refused = " has this many elements, repeated ones counted: 4294967296";
    const Tensor many = repeated({1 << 16, 1 << 8, 1 << 8, 1}), bias = made({1});
    EXPECT_INVALID("conv2d_backward_bias: output" + refused,
                   conv2d_backward_bias(many, bias, Layout::nhwc));
    EXPECT_INVALID("conv2d_backward_weight: input" + refused,
                   conv2d_backward_weight(many, many, made({1, 1, 1, 1}), {}));
}

TEST(Conv2dBackwardInput, LayoutOfABias) {
    EXPECT_INVALID("conv2d_backward_bias: the layout is any, it must be nhwc or nchw",
                   conv2d_backward_bias(made({1, 4, 5, 5}), Layout::any));
    EXPECT_INVALID("conv2d_backward_bias: the layout is any, it must be nhwc or nchw",
                   conv2d_backward_bias(made({1, 4, 5, 5}), made({5}), Layout::any));
}

// The last one asked for has no row: nothing before it has run.
TEST(Conv2dBackwardInput, NoRowTakesIt) {
    noted_calls.clear();
    EXPECT_INVALID("conv2d_backward_bias: no row takes the problem on cpu",
                   conv2d_backward(made({1, 4, 5, 5}), made({1, 2, 5, 5}), made({4, 2, 1, 1}),
                                   {made({1, 2, 5, 5}), made({4, 2, 1, 1}), made({4})},
                                   {.layout = Layout::nchw}));
    EXPECT_TRUE(noted_calls.empty());
}

}  // namespace
}  // namespace hk
