// Bad input: refused before any kernel runs, with both values in the message.

#include <limits>

#include "hk/conv2d.h"
#include "tests/conv2d/stand_in_kernels.h"
#include "tests/runtime/repeated.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

using tests::numbers;

// A call that is right, to be spoilt in one place.
struct Arguments {
    Tensor input = numbers({2, 6, 7, 8}, 1), weight = numbers({12, 3, 3, 8}, 2);
    Tensor bias = numbers({12}, 3), residual = numbers({2, 6, 7, 12}, 4);
    Tensor output{{2, 6, 7, 12}, DataType::f32};
    Conv2dOptions options{.padding = {1, 1, 1, 1}};
    Stream stream;

    static constexpr const char *kOperation = "conv2d: ";
    static size_t calls() { return test::noted_calls.size(); }
    void run() const { conv2d(input, weight, bias, residual, output, options, stream); }
};

TEST(Conv2dInput, TheUnspoiltCallRuns) {
    const size_t before = test::noted_calls.size();
    Arguments().run();
    EXPECT_EQ(test::noted_calls.size(), before + 1);
}

TEST(Conv2dInput, UndefinedTensors) {
    EXPECT_REFUSED("input is undefined", a.input = {});
    EXPECT_REFUSED("weight is undefined", a.weight = {});
    EXPECT_REFUSED("output is undefined", a.output = {});
    EXPECT_INVALID("weight is undefined", conv2d(numbers({1, 1, 1, 1}, 0), Tensor()));
}

TEST(Conv2dInput, Ranks) {
    EXPECT_REFUSED("input has 3 dimensions, [6, 7, 8], it needs 4",
                   a.input = numbers({6, 7, 8}, 1));
    EXPECT_REFUSED("weight has 5 dimensions", a.weight = numbers({12, 3, 3, 8, 1}, 1));
    EXPECT_REFUSED("output has shape [2, 504], it must have [2, 6, 7, 12]",
                   a.output = a.output.reshape({2, 504}));
    EXPECT_REFUSED("bias has shape [1, 12], it must have [12]", a.bias = a.bias.reshape({1, 12}));
}

TEST(Conv2dInput, Shapes) {
    EXPECT_REFUSED("weight has 64 input channels, input has 128", {
        a.input = Tensor({1, 1, 1, 128}, DataType::f32);
        a.weight = Tensor({1, 1, 1, 64}, DataType::f32);
    });
    EXPECT_REFUSED("output has shape [2, 6, 7, 11], it must have [2, 6, 7, 12]",
                   a.output = Tensor({2, 6, 7, 11}, DataType::f32));
    EXPECT_REFUSED("bias has shape [11], it must have [12]", a.bias = numbers({11}, 3));
    EXPECT_REFUSED("residual has shape [1, 6, 7, 12], it must have [2, 6, 7, 12]",
                   a.residual = numbers({1, 6, 7, 12}, 3));
    EXPECT_REFUSED("the weight's number of filters is 0", a.weight = numbers({0, 3, 3, 8}, 3));
    EXPECT_REFUSED("the input's width is 0", a.input = numbers({2, 6, 0, 8}, 3));
    EXPECT_REFUSED("the weight's height is 0", a.weight = numbers({12, 0, 3, 8}, 3));
}

// The weight as other libraries have it, told so; turned round as the message says it fits.
TEST(Conv2dInput, WeightsInAnotherOrder) {
    const auto expect = [](const std::string &told, const std::vector<int> &order, Layout layout,
                           const Shape &input, const Shape &weight, int64_t groups = 1) {
        const Conv2dOptions options{.layout = layout, .groups = groups};
        const Tensor image = numbers(input, 1), filters = numbers(weight, 2);
        const std::string message =
            tests::message_of<InvalidArgument>([&] { conv2d(image, filters, {}, {}, options); });
        EXPECT_TRUE(tests::has(message, told)) << message;
        const Tensor turned = filters.permute(order).contiguous();
        EXPECT_NO_THROW(conv2d(image, turned, {}, {}, options)) << told;
    };
    expect(
        "weight has 3 input channels, input has 8; the weight [12, 8, 3, 3] would fit as OIHW, "
        "layout nhwc takes OHWI: weight.permute({0, 2, 3, 1}).contiguous()",
        {0, 2, 3, 1}, Layout::nhwc, {2, 6, 7, 8}, {12, 8, 3, 3});
    expect("would fit as HWIO, layout nhwc takes OHWI: weight.permute({3, 0, 1, 2}).contiguous()",
           {3, 0, 1, 2}, Layout::nhwc, {2, 6, 7, 8}, {3, 3, 8, 12});
    expect(
        "the kernel reaches over 8 columns, the padded input has 7; the weight [3, 3, 8, 8] "
        "would fit as HWIO",
        {3, 0, 1, 2}, Layout::nhwc, {2, 6, 7, 8}, {3, 3, 8, 8});
    expect("would fit as OHWI, layout nchw takes OIHW: weight.permute({0, 3, 1, 2}).contiguous()",
           {0, 3, 1, 2}, Layout::nchw, {2, 8, 6, 7}, {12, 3, 3, 8});
    expect("would fit as HWIO, layout nchw takes OIHW: weight.permute({3, 2, 0, 1}).contiguous()",
           {3, 2, 0, 1}, Layout::nchw, {2, 8, 6, 7}, {3, 3, 8, 12});
    // Depthwise.
    expect("would fit as OIHW", {0, 2, 3, 1}, Layout::nhwc, {2, 6, 7, 8}, {8, 1, 3, 3}, 8);
    expect("would fit as HWOI", {2, 0, 1, 3}, Layout::nhwc, {2, 6, 7, 8}, {3, 3, 8, 1}, 8);
    expect("would fit as IHWO", {3, 1, 2, 0}, Layout::nhwc, {2, 6, 7, 8}, {1, 3, 3, 8}, 8);
    // One that fits in no order.
    const std::string message = tests::message_of<InvalidArgument>([] {
        conv2d(numbers({2, 6, 7, 8}, 1), numbers({12, 3, 3, 5}, 2));
    });
    EXPECT_EQ(message, "conv2d: weight has 5 input channels, input has 8");
}

TEST(Conv2dInput, Groups) {
    EXPECT_REFUSED("input has 8 channels, 3 groups don't divide them", a.options.groups = 3);
    EXPECT_REFUSED("weight has 12 filters, 8 groups don't divide them", a.options.groups = 8);
    EXPECT_REFUSED("weight has 8 input channels, input has 8 in 2 groups", a.options.groups = 2);
    EXPECT_REFUSED("groups is 0", a.options.groups = 0);
    EXPECT_REFUSED("groups is -4", a.options.groups = -4);
}

TEST(Conv2dInput, Options) {
    EXPECT_REFUSED("the layout is any, it must be nhwc or nchw", a.options.layout = Layout::any);
    EXPECT_REFUSED("the layout is unknown", a.options.layout = static_cast<Layout>(200));
    EXPECT_REFUSED("activation 200 does not exist",
                   a.options.activation = static_cast<Activation>(200));
    EXPECT_REFUSED("stride of y is 0, it must be 1", a.options.stride[0] = 0);
    EXPECT_REFUSED("stride of x is -1", a.options.stride[1] = -1);
    EXPECT_REFUSED("dilation of y is 0", a.options.dilation[0] = 0);
    EXPECT_REFUSED("dilation of x is -2", a.options.dilation[1] = -2);
    EXPECT_REFUSED("padding at the top is -1", a.options.padding.top = -1);
    EXPECT_REFUSED("padding at the right is -1", a.options.padding.right = -1);
    EXPECT_REFUSED("clamp goes from nan to 6.000000", {
        a.options.activation = Activation::clamp;
        a.options.alpha = std::numeric_limits<float>::quiet_NaN();
        a.options.beta = 6;
    });
    EXPECT_REFUSED("leaky_relu's slope is -inf, it must be finite",
                   a.options.activation = Activation::leaky_relu);
    EXPECT_REFUSED("slope is nan", {
        a.options.activation = Activation::leaky_relu;
        a.options.alpha = std::numeric_limits<float>::quiet_NaN();
    });
}

TEST(Conv2dInput, OverflowingSizes) {
    constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
    EXPECT_REFUSED("padding at the left is 9223372036854775807", a.options.padding.left = kHuge);
    EXPECT_REFUSED("dilation of y is 9223372036854775807", a.options.dilation[0] = kHuge);
    EXPECT_REFUSED("stride of x is 4294967296", a.options.stride[1] = 1LL << 32);
    EXPECT_REFUSED("the kernel reaches over 4294967295 rows, the padded input has 8",
                   a.options.dilation[0] = std::numeric_limits<int32_t>::max());
    EXPECT_REFUSED("the output's number of columns is 2147483653",
                   a.options.padding.left = std::numeric_limits<int32_t>::max());
    float value = 0;
    const Shape zeros(4, 0);
    EXPECT_REFUSED("input spans this many bytes: 4294967300", {
        a.input = Tensor::borrow(&value, DataType::f32, {1, 1 << 16, 1 << 15, 1});
        a.weight = numbers({1, 1, 1, 1}, 1);
        a.bias = a.residual = {};
        a.options = {.stride = {1 << 15, 1 << 15}};
        a.output = Tensor({1, 2, 1, 1}, DataType::f32);
    });
    EXPECT_REFUSED("the batch is 4294967296",
                   a.input = Tensor::borrow(&value, DataType::f32, {1LL << 32, 6, 7, 8}, zeros));
}

TEST(Conv2dInput, TheKernelMustFit) {
    EXPECT_REFUSED("the kernel reaches over 11 rows, the padded input has 8",
                   a.options.dilation = {5, 1});
    EXPECT_REFUSED("the kernel reaches over 3 columns, the padded input has 2", {
        a.options.padding = {};
        a.input = a.input.slice(2, 0, 2);
    });
}

TEST(Conv2dInput, Types) {
    EXPECT_REFUSED("weight is f16, input is f32", a.weight = Tensor({12, 3, 3, 8}, DataType::f16));
    EXPECT_REFUSED("output is bf16, input is f32",
                   a.output = Tensor({2, 6, 7, 12}, DataType::bf16));
    EXPECT_REFUSED("bias is f64, input is f32", a.bias = Tensor({12}, DataType::f64));
    EXPECT_REFUSED("the type is s32, it must be f32, f16 or bf16", {
        a = {};
        a.input = Tensor({2, 6, 7, 8}, DataType::s32);
        a.weight = Tensor({12, 3, 3, 8}, DataType::s32);
        a.output = Tensor({2, 6, 7, 12}, DataType::s32);
        a.bias = a.residual = {};
    });
}

TEST(Conv2dInput, Devices) {
    EXPECT_REFUSED("weight is on opencl:0, input is on cpu",
                   a.weight = a.weight.to(Device::opencl(0)));
    EXPECT_REFUSED("residual is on opencl:0, input is on cpu",
                   a.residual = a.residual.to(Device::opencl(0)));
}

TEST(Conv2dInput, Overlaps) {
    EXPECT_REFUSED("output and residual overlap", a.residual = a.output);
    EXPECT_REFUSED("output and input overlap", {
        a.options.padding = {};
        a.residual = {};
        a.input = numbers({2, 6, 7, 12}, 1).slice(3, 0, 8);
        a.output = Tensor::from_dlpack(a.input.to_dlpack()).slice(1, 0, 4).slice(2, 0, 5);
        a.weight = a.weight.slice(0, 0, 8);
        a.bias = a.bias.slice(0, 0, 8);
    });
    EXPECT_REFUSED("output and bias overlap",
                   a.bias = a.output.slice(0, 0, 1).slice(1, 0, 1).slice(2, 0, 1).reshape({12}));
    EXPECT_REFUSED("elements of the output overlap",
                   a.output = Tensor::borrow(a.output.data<float>(), DataType::f32, {2, 6, 7, 12},
                                             {0, 84, 12, 1}));
}

// What the output takes over is the residual, whole and as it is.
TEST(Conv2dInput, InPlace) {
    const auto expect_refused_in_place = [](const std::string &part, const Arguments &a) {
        const size_t before = test::noted_calls.size();
        const auto run = [&] {
            conv2d(a.input, a.weight, a.bias, a.residual, inplace(a.output), a.options);
        };
        EXPECT_INVALID("conv2d: ", run());
        EXPECT_INVALID(part, run());
        EXPECT_EQ(test::noted_calls.size(), before) << part;
    };
    const std::string not_residual = "output is inplace(), but it is not the same view as residual";
    Arguments a;
    expect_refused_in_place(not_residual, a);
    a.residual = {};
    expect_refused_in_place(not_residual, a);

    // Other views of the residual's storage.
    const Tensor twice = numbers({2, 6, 8, 12}, 4);
    a.residual = twice.slice(2, 0, 7);
    a.output = twice.slice(2, 1, 7);
    expect_refused_in_place("output and residual overlap", a);
    a.output = a.residual.slice(1, 5, 6, -1);
    expect_refused_in_place("output and residual overlap", a);
    const Tensor apart = Tensor({4, 6, 7, 12}, DataType::f32);
    a.output = apart.slice(0, 2, 2);
    a.residual = apart.slice(0, 0, 2);
    expect_refused_in_place(not_residual, a);

    // The residual is another input too.
    a = {};
    a.options = {};
    a.input = a.residual = a.output = numbers({2, 6, 7, 12}, 1);
    a.weight = numbers({12, 1, 1, 12}, 2);
    expect_refused_in_place("output and input overlap", a);
    a.residual = numbers({2, 6, 7, 12}, 2);
    expect_refused_in_place("output and input overlap", a);
    a.output = a.residual;
    a.bias = a.residual.slice(0, 0, 1).slice(1, 0, 1).slice(2, 0, 1).reshape({12});
    expect_refused_in_place("output and bias overlap", a);
}

TEST(Conv2dInput, Strides) {
    EXPECT_REFUSED("input's channels have the stride 2, no kernel takes another than 1",
                   a.input = numbers({2, 6, 7, 16}, 1).slice(3, 0, 8, 2));
    EXPECT_REFUSED("weight's channels have the stride -1", a.weight = a.weight.slice(3, 7, 8, -1));
    EXPECT_REFUSED("output's columns have the stride 12", {
        a.options.layout = Layout::nchw;
        a.input = numbers({2, 8, 6, 7}, 1);
        a.weight = numbers({12, 8, 3, 3}, 2);
        a.residual = {};
        a.output = a.output.permute({0, 3, 1, 2});
    });
    float values[2] = {};
    EXPECT_REFUSED(
        "input has the stride 3000000000",
        a.input = Tensor::borrow(values, DataType::f32, {2, 6, 7, 8}, {3000000000, 0, 0, 1}));
}

TEST(Conv2dInput, RepeatedElements) {
    const auto refused = [](const char *operand) {
        return std::string(operand) + " has this many elements, repeated ones counted: 4294967296";
    };
    Arguments large;
    large.options = {.stride = {1 << 16, 1 << 16}};
    large.input = repeated({1, 1 << 16, 1 << 16, 1});
    large.weight = repeated({12, 1, 3, 1});
    large.residual = {};
    large.output = numbers({1, 1, 1, 12}, 0);
    EXPECT_INVALID(refused("conv2d: input"), large.run());
    large.input = numbers({1, 1 << 10, 1 << 10, 1}, 0);
    large.weight = repeated({1 << 12, 1 << 10, 1 << 10, 1});
    large.bias = {};
    large.output = numbers({1, 1, 1, 1 << 12}, 0);
    EXPECT_INVALID(refused("conv2d: weight"), large.run());
}

TEST(Conv2dInput, DataIsCheckedWhenItIsBorrowed) {
    EXPECT_INVALID("data is null", Tensor::borrow(nullptr, DataType::f32, {1, 2, 2, 1}));
    alignas(4) char bytes[20] = {};
    EXPECT_INVALID("f32 needs a multiple of 4",
                   Tensor::borrow(bytes + 1, DataType::f32, {1, 2, 2, 1}));
}

TEST(Conv2dInput, GivenRows) {
    const Arguments a;
    for (const KernelInfo &kernel : conv2d_kernels()) {
        const std::string name = kernel.name;
        const auto run = [&] {
            conv2d_with(kernel, a.input, a.weight, a.bias, a.residual, a.output, a.options);
        };
        if (name == "any_nhwc") {
            run();
        } else if (name == "pointwise_nhwc") {
            EXPECT_INVALID("kernel_h is 3, the row needs 1", run());
        } else {
            EXPECT_INVALID("conv2d: kernel " + name + " is for ", run());
            EXPECT_INVALID("the problem is cpu f32 nhwc", run());
        }
    }
}

TEST(Conv2dInput, NoRowTakesIt) {
    const Device device = Device::opencl(0);
    const Tensor input({1, 4, 4, 4}, DataType::f32, device),
        weight({4, 1, 1, 2}, DataType::f32, device);
    EXPECT_INVALID("groups is 2, the row needs 1", conv2d(input, weight, {}, {}, {.groups = 2}));
    const Tensor half({1, 4, 4, 4}, DataType::bf16), filter({4, 1, 1, 4}, DataType::bf16);
    EXPECT_INVALID("no row takes the problem on cpu", conv2d(half, filter));
}

TEST(Conv2dInput, Activations) {
    EXPECT_EQ(activation_of("leaky_relu"), Activation::leaky_relu);
    EXPECT_EQ(name_of(Activation::gelu), "gelu");
    EXPECT_INVALID("\"swish\", not none, relu", activation_of("swish"));
}

}  // namespace
}  // namespace hk
