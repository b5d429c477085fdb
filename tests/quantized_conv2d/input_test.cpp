// Bad input: refused before any kernel runs, with the values in the message.

#include <limits>

#include "hk/quantized_conv2d.h"
#include "tests/runtime/repeated.h"
#include "tests/support/noting_kernels.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

Tensor zeros(const Shape &shape, DataType type) { return Tensor::zeros(shape, type); }

Quantization scales(size_t count) { return std::vector<float>(count, 0.5f); }

// A call that is right, to be spoilt in one place.
struct Arguments {
    QuantizedTensor input{zeros({2, 6, 7, 8}, DataType::u8), {0.5f, 128}};
    QuantizedTensor weight{zeros({12, 3, 3, 8}, DataType::s8), scales(12)};
    QuantizedTensor bias{zeros({12}, DataType::s32), {}};
    QuantizedTensor output{zeros({2, 6, 7, 12}, DataType::u8), {0.5f, 3}};
    Conv2dOptions options{.padding = {1, 1, 1, 1}};

    static constexpr const char *kOperation = "quantized_conv2d: ";
    static size_t calls() { return test::noted_calls.size(); }
    void run() const { quantized_conv2d(input, weight, bias, output, options); }

    void real_input() {
        input = zeros({2, 6, 7, 8}, DataType::f32);
        bias = {};
    }
    void output_of(DataType type, const Quantization &quantization = {}) {
        output = {zeros({2, 6, 7, 12}, type), quantization};
    }
};

TEST(Quantization, ScalesAreFiniteAndAboveZero) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_INVALID("the scale is 0, it must be finite and above zero", Quantization(0.f));
    EXPECT_INVALID("the scale is -1e-10, it", Quantization(-1e-10f));
    EXPECT_INVALID("the scale is inf, it", Quantization{infinity});
    EXPECT_INVALID("the scale is nan, it", Quantization{nan});
    using Scales = std::vector<float>;
    EXPECT_INVALID("scale 2 is -0.5, it", Quantization(Scales{1, 2, -0.5f, 4}));
    EXPECT_INVALID("scale 0 is 0, it", Quantization(Scales{0, 2}));
    EXPECT_INVALID("scale 1 is nan, it", Quantization(Scales{1, nan}));
    EXPECT_INVALID("scale 3 is inf, it", Quantization(Scales{1, 2, 3, infinity}));
    EXPECT_TRUE(Quantization(std::numeric_limits<float>::min()).defined());
    EXPECT_FALSE(Quantization().defined());
}

TEST(Quantization, ScalesAreAVectorOfFloats) {
    EXPECT_INVALID("scales are s32, they must be f32", Quantization(zeros({4}, DataType::s32)));
    EXPECT_INVALID("scales have the shape [2, 2], it must be [K]",
                   Quantization(zeros({2, 2}, DataType::f32)));
    EXPECT_INVALID("scales are undefined", Quantization{Tensor{}});
    const Quantization each(std::vector<float>{1, 2, 3}, 4);
    EXPECT_TRUE(each.defined());
    EXPECT_TRUE(each.per_channel());
    EXPECT_EQ(each.scale(), 0);
    EXPECT_EQ(each.scales().data<float>()[2], 3);
    EXPECT_EQ(each.zero_point(), 4);
}

TEST(Quantization, ScalesOnADevice) {
    const std::vector<float> bad{1, 2, -3};
    EXPECT_INVALID("scale 2 is -3", Quantization(bad, 0, Device::opencl(0)));
    const Quantization each(std::vector<float>{1, 2}, 0, Device::opencl(0));
    EXPECT_EQ(each.scales().device(), Device::opencl(0));
}

TEST(QuantizedConv2dInput, TheUnspoiltCallRuns) {
    const size_t before = test::noted_calls.size();
    Arguments().run();
    EXPECT_EQ(test::noted_calls.size(), before + 1);
}

TEST(QuantizedConv2dInput, UndefinedTensors) {
    EXPECT_REFUSED("input is undefined", a.input = {});
    EXPECT_REFUSED("weight is undefined", a.weight = {});
    EXPECT_REFUSED("output is undefined", a.output = {});
    EXPECT_REFUSED("bias is undefined, but has a quantization", a.bias = {{}, {1}});
    EXPECT_INVALID("quantized_conv2d: weight is undefined",
                   quantized_conv2d(Arguments().input, QuantizedTensor()));
    EXPECT_INVALID("quantized_conv2d: input is undefined",
                   quantized_conv2d({}, Arguments().weight));
}

TEST(QuantizedConv2dInput, Types) {
    EXPECT_REFUSED("input is f16, it must be u8, s8 or f32",
                   a.input = zeros({2, 6, 7, 8}, DataType::f16));
    EXPECT_REFUSED("weight is u8, it must be s8",
                   a.weight.values = zeros({12, 3, 3, 8}, DataType::u8));
    EXPECT_REFUSED("bias is s16, it must be f32, s8 or s32",
                   a.bias.values = zeros({12}, DataType::s16));
    EXPECT_REFUSED("output is bf16, it must be u8, s8, f32 or s32", a.output_of(DataType::bf16));
    EXPECT_INVALID("quantized_conv2d: output is f64",
                   quantized_conv2d(Arguments().input, Arguments().weight, {}, DataType::f64));
}

TEST(QuantizedConv2dInput, MissingQuantizations) {
    EXPECT_REFUSED("input is u8 and needs a quantization", a.input.quantization = {});
    EXPECT_REFUSED("input is s8 and needs a quantization",
                   a.input = zeros({2, 6, 7, 8}, DataType::s8));
    EXPECT_REFUSED("weight is s8 and needs a quantization", a.weight.quantization = {});
    EXPECT_REFUSED("bias is s8 and needs a quantization", a.bias = zeros({12}, DataType::s8));
    EXPECT_REFUSED("output is u8 and needs a quantization", a.output.quantization = {});
    EXPECT_REFUSED("bias is s32 without a quantization, input is f32", {
        const QuantizedTensor bias = a.bias;
        a.real_input();
        a.bias = bias;
    });
}

TEST(QuantizedConv2dInput, SuperfluousQuantizations) {
    EXPECT_REFUSED("input is f32, it can't have a quantization", {
        a.real_input();
        a.input.quantization = {1};
    });
    EXPECT_REFUSED("bias is f32, it can't have a quantization",
                   a.bias = {zeros({12}, DataType::f32), {1}});
    for (const DataType type : {DataType::f32, DataType::s32}) {
        EXPECT_REFUSED("output is " + std::string(name_of(type)) + ", it can't have a quantization",
                       a.output_of(type, {1}));
    }
}

TEST(QuantizedConv2dInput, NumberOfScales) {
    EXPECT_REFUSED("input has 8 scales, it must have one", a.input.quantization = scales(8));
    EXPECT_REFUSED("weight has 8 scales, the weight has 12 filters",
                   a.weight.quantization = scales(8));
    EXPECT_REFUSED("weight has 0 scales, the weight has 12 filters",
                   a.weight.quantization = scales(0));
    EXPECT_REFUSED("bias has 1 scales, the weight has 12 filters", a.bias.quantization = scales(1));
    EXPECT_REFUSED("output has 12 scales, it must have one", a.output.quantization = scales(12));
}

TEST(QuantizedConv2dInput, ZeroPoints) {
    EXPECT_REFUSED("input's zero point is 256, u8 holds 0 to 255",
                   a.input.quantization = {0.5f, 256});
    EXPECT_REFUSED("input's zero point is -1, u8 holds 0 to 255",
                   a.input.quantization = {0.5f, -1});
    EXPECT_REFUSED("input's zero point is 128, s8 holds -128 to 127",
                   a.input.values = zeros({2, 6, 7, 8}, DataType::s8));
    EXPECT_REFUSED("weight's zero point is -129, s8 holds -128 to 127",
                   a.weight.quantization = {std::vector<float>(12, 1.f), -129});
    EXPECT_REFUSED("bias's zero point is 200, s8 holds -128 to 127",
                   a.bias = {zeros({12}, DataType::s8), {1, 200}});
    EXPECT_REFUSED("output's zero point is 2147483647, u8 holds 0 to 255",
                   a.output.quantization = {1, 2147483647});
    Arguments ends;
    ends.input.quantization = {1, 255};
    ends.weight.quantization = {1, -128};
    ends.bias.quantization = {1, std::numeric_limits<int32_t>::min()};
    ends.output.quantization = {1, 0};
    ends.run();
}

TEST(QuantizedConv2dInput, IntegerOutput) {
    EXPECT_REFUSED("output is s32, input is f32, it must be u8 or s8", {
        a.real_input();
        a.output_of(DataType::s32);
    });
    EXPECT_REFUSED("output is s32, activation is relu, it must be none", {
        a.output_of(DataType::s32);
        a.options.activation = Activation::relu;
    });
    EXPECT_REFUSED("bias is f32, with output s32 it must be s32 without", {
        a.output_of(DataType::s32);
        a.bias = zeros({12}, DataType::f32);
    });
    EXPECT_REFUSED("bias is s32 with a quantization, with output s32", {
        a.output_of(DataType::s32);
        a.bias.quantization = {1};
    });
}

TEST(QuantizedConv2dInput, Activations) {
    EXPECT_REFUSED("activation is silu, it must be none, relu, clamp or leaky_relu",
                   a.options.activation = Activation::silu);
    EXPECT_REFUSED("activation 200 does not exist",
                   a.options.activation = static_cast<Activation>(200));
    EXPECT_REFUSED("activation is gelu, it must be", a.options.activation = Activation::gelu);
    EXPECT_REFUSED("clamp goes from 6.000000 to nan", {
        a.options.activation = Activation::clamp;
        a.options.alpha = 6;
        a.options.beta = std::numeric_limits<float>::quiet_NaN();
    });
    EXPECT_REFUSED("leaky_relu's slope is inf", {
        a.options.activation = Activation::leaky_relu;
        a.options.alpha = std::numeric_limits<float>::infinity();
    });
}

// The rest is checked as for conv2d, in messages of this operation.
TEST(QuantizedConv2dInput, Geometry) {
    EXPECT_REFUSED("the layout is any, it must be nhwc or nchw", a.options.layout = Layout::any);
    EXPECT_REFUSED("the layout is unknown", a.options.layout = static_cast<Layout>(200));
    EXPECT_REFUSED("input has 3 dimensions, [6, 7, 8], it needs 4",
                   a.input.values = zeros({6, 7, 8}, DataType::u8));
    EXPECT_REFUSED("weight has 8 input channels, input has 8 in 2 groups", a.options.groups = 2);
    EXPECT_REFUSED("stride of y is 0", a.options.stride[0] = 0);
    EXPECT_REFUSED("the kernel reaches over 11 rows, the padded input has 8",
                   a.options.dilation = {5, 1});
    EXPECT_REFUSED("output has shape [2, 6, 7, 11], it must have [2, 6, 7, 12]",
                   a.output.values = zeros({2, 6, 7, 11}, DataType::u8));
    EXPECT_REFUSED("bias has shape [11], it must have [12]",
                   a.bias.values = zeros({11}, DataType::s32));
    EXPECT_REFUSED("input's channels have the stride 2",
                   a.input.values = zeros({2, 6, 7, 16}, DataType::u8).slice(3, 0, 8, 2));
}

TEST(QuantizedConv2dInput, RepeatedElements) {
    EXPECT_REFUSED("input has this many elements, repeated ones counted: 4294967296", {
        a.options = {.stride = {1 << 16, 1 << 16}};
        a.input.values = repeated({1, 1 << 16, 1 << 16, 1}, DataType::u8);
        a.weight.values = zeros({12, 1, 3, 1}, DataType::s8);
        a.output.values = zeros({1, 1, 1, 12}, DataType::u8);
    });
    // Few bytes, but a row's size times its stride is more than kernels count.
    EXPECT_REFUSED("input has a size whose product with its stride is 4294967292", {
        static uint8_t byte = 0;
        a.options = {};
        a.input.values =
            Tensor::borrow(&byte, DataType::u8, {1, 2, 1, 1}, {0, (int64_t{1} << 31) - 2, 0, 1});
        a.weight.values = zeros({12, 1, 1, 1}, DataType::s8);
        a.output.values = zeros({1, 2, 1, 12}, DataType::u8);
    });
}

TEST(QuantizedConv2dInput, Places) {
    EXPECT_REFUSED("weight is on opencl:0, input is on cpu",
                   a.weight.values = a.weight.values.to(Device::opencl(0)));
    EXPECT_REFUSED("weight scale is on opencl:0, input is on cpu",
                   a.weight.quantization = {std::vector<float>(12, 1.f), 0, Device::opencl(0)});
    EXPECT_REFUSED("bias scale is on opencl:0, input is on cpu",
                   a.bias.quantization = {std::vector<float>(12, 1.f), 0, Device::opencl(0)});
    EXPECT_REFUSED("output and input overlap", {
        const Tensor whole = zeros({2, 6, 7, 16}, DataType::u8);
        a.input.values = whole.slice(3, 0, 8);
        a.output.values = whole.slice(3, 4, 12);
    });
    EXPECT_REFUSED("output and weight scale overlap", {
        const Tensor scale = a.weight.quantization.scales();
        a.input.values = zeros({1, 3, 3, 8}, DataType::u8);
        a.output.values = Tensor::borrow(scale.data<float>(), DataType::u8, {1, 1, 1, 12});
        a.options.padding = {};
    });
}

TEST(QuantizedConv2dInput, GivenRows) {
    const Arguments a;
    for (const KernelInfo &kernel : quantized_conv2d_kernels()) {
        const std::string name = kernel.name;
        const auto run = [&] {
            quantized_conv2d_with(kernel, a.input, a.weight, a.bias, a.output, a.options);
        };
        if (name == "to_bytes_nhwc") {
            run();
        } else if (name == "to_words_nhwc") {
            EXPECT_INVALID("output_bytes is 1, the row needs 4", run());
        } else {
            EXPECT_INVALID("quantized_conv2d: kernel " + name + " is for ", run());
            EXPECT_INVALID("the problem is cpu u8 nhwc", run());
        }
    }
}

TEST(QuantizedConv2dInput, NoRowTakesIt) {
    EXPECT_REFUSED("no row takes the problem on cpu", a.real_input());
}

}  // namespace
}  // namespace hk
