// Bad input: refused before any kernel runs, with the values in the message.

#include <limits>

#include "tests/runtime/expect_error.h"
#include "hk/quantized_conv2d.h"
#include "tests/quantized_conv2d/stand_in_kernels.h"
#include "tests/runtime/repeated.h"

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

    void run() const { quantized_conv2d(input, weight, bias, output, options); }

    void real_input() {
        input = zeros({2, 6, 7, 8}, DataType::f32);
        bias = {};
    }
    void output_of(DataType type, const Quantization &quantization = {}) {
        output = {zeros({2, 6, 7, 12}, type), quantization};
    }
};

template<typename F>
void expect_refused(const std::string &part, F &&spoil) {
    Arguments arguments;
    spoil(arguments);
    const int before = tests::quantized_calls;
    EXPECT_INVALID("quantized_conv2d: ", arguments.run());
    EXPECT_INVALID(part, arguments.run());
    EXPECT_EQ(tests::quantized_calls, before) << part;
}

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
    const int before = tests::quantized_calls;
    Arguments().run();
    EXPECT_EQ(tests::quantized_calls, before + 1);
}

TEST(QuantizedConv2dInput, UndefinedTensors) {
    expect_refused("input is undefined", [](Arguments &a) { a.input = {}; });
    expect_refused("weight is undefined", [](Arguments &a) { a.weight = {}; });
    expect_refused("output is undefined", [](Arguments &a) { a.output = {}; });
    expect_refused("bias is undefined, but has a quantization", [](Arguments &a) {
        a.bias = {{}, {1}};
    });
    EXPECT_INVALID("quantized_conv2d: weight is undefined",
                   quantized_conv2d(Arguments().input, {}));
    EXPECT_INVALID("quantized_conv2d: input is undefined",
                   quantized_conv2d({}, Arguments().weight));
}

TEST(QuantizedConv2dInput, Types) {
    expect_refused("input is f16, it must be u8, s8 or f32", [](Arguments &a) {
        a.input = zeros({2, 6, 7, 8}, DataType::f16);
    });
    expect_refused("weight is u8, it must be s8", [](Arguments &a) {
        a.weight.values = zeros({12, 3, 3, 8}, DataType::u8);
    });
    expect_refused("bias is s16, it must be f32, s8 or s32",
                   [](Arguments &a) { a.bias.values = zeros({12}, DataType::s16); });
    expect_refused("output is bf16, it must be u8, s8, f32 or s32",
                   [](Arguments &a) { a.output_of(DataType::bf16); });
    EXPECT_INVALID("quantized_conv2d: output is f64",
                   quantized_conv2d(Arguments().input, Arguments().weight, {}, DataType::f64));
}

TEST(QuantizedConv2dInput, MissingQuantizations) {
    expect_refused("input is u8 and needs a quantization",
                   [](Arguments &a) { a.input.quantization = {}; });
    expect_refused("input is s8 and needs a quantization", [](Arguments &a) {
        a.input = zeros({2, 6, 7, 8}, DataType::s8);
    });
    expect_refused("weight is s8 and needs a quantization",
                   [](Arguments &a) { a.weight.quantization = {}; });
    expect_refused("bias is s8 and needs a quantization",
                   [](Arguments &a) { a.bias = zeros({12}, DataType::s8); });
    expect_refused("output is u8 and needs a quantization",
                   [](Arguments &a) { a.output.quantization = {}; });
    expect_refused("bias is s32 without a quantization, input is f32", [](Arguments &a) {
        const QuantizedTensor bias = a.bias;
        a.real_input();
        a.bias = bias;
    });
}

TEST(QuantizedConv2dInput, SuperfluousQuantizations) {
    expect_refused("input is f32, it can't have a quantization", [](Arguments &a) {
        a.real_input();
        a.input.quantization = {1};
    });
    expect_refused("bias is f32, it can't have a quantization", [](Arguments &a) {
        a.bias = {zeros({12}, DataType::f32), {1}};
    });
    for (const DataType type : {DataType::f32, DataType::s32}) {
        expect_refused("output is " + std::string(name_of(type)) + ", it can't have a quantization",
                       [&](Arguments &a) { a.output_of(type, {1}); });
    }
}

TEST(QuantizedConv2dInput, NumberOfScales) {
    expect_refused("input has 8 scales, it must have one",
                   [](Arguments &a) { a.input.quantization = scales(8); });
    expect_refused("weight has 8 scales, the weight has 12 filters",
                   [](Arguments &a) { a.weight.quantization = scales(8); });
    expect_refused("weight has 0 scales, the weight has 12 filters",
                   [](Arguments &a) { a.weight.quantization = scales(0); });
    expect_refused("bias has 1 scales, the weight has 12 filters",
                   [](Arguments &a) { a.bias.quantization = scales(1); });
    expect_refused("output has 12 scales, it must have one",
                   [](Arguments &a) { a.output.quantization = scales(12); });
}

TEST(QuantizedConv2dInput, ZeroPoints) {
    expect_refused("input's zero point is 256, u8 holds 0 to 255", [](Arguments &a) {
        a.input.quantization = {0.5f, 256};
    });
    expect_refused("input's zero point is -1, u8 holds 0 to 255", [](Arguments &a) {
        a.input.quantization = {0.5f, -1};
    });
    expect_refused("input's zero point is 128, s8 holds -128 to 127", [](Arguments &a) {
        a.input.values = zeros({2, 6, 7, 8}, DataType::s8);
    });
    expect_refused("weight's zero point is -129, s8 holds -128 to 127", [](Arguments &a) {
        a.weight.quantization = {std::vector<float>(12, 1.f), -129};
    });
    expect_refused("bias's zero point is 200, s8 holds -128 to 127", [](Arguments &a) {
        a.bias = {zeros({12}, DataType::s8), {1, 200}};
    });
    expect_refused("output's zero point is 2147483647, u8 holds 0 to 255", [](Arguments &a) {
        a.output.quantization = {1, 2147483647};
    });
    Arguments ends;
    ends.input.quantization = {1, 255};
    ends.weight.quantization = {1, -128};
    ends.bias.quantization = {1, std::numeric_limits<int32_t>::min()};
    ends.output.quantization = {1, 0};
    ends.run();
}

TEST(QuantizedConv2dInput, IntegerOutput) {
    expect_refused("output is s32, input is f32, it must be u8 or s8", [](Arguments &a) {
        a.real_input();
        a.output_of(DataType::s32);
    });
    expect_refused("output is s32, activation is relu, it must be none", [](Arguments &a) {
        a.output_of(DataType::s32);
        a.options.activation = Activation::relu;
    });
    expect_refused("bias is f32, with output s32 it must be s32 without", [](Arguments &a) {
        a.output_of(DataType::s32);
        a.bias = zeros({12}, DataType::f32);
    });
    expect_refused("bias is s32 with a quantization, with output s32", [](Arguments &a) {
        a.output_of(DataType::s32);
        a.bias.quantization = {1};
    });
}

TEST(QuantizedConv2dInput, Activations) {
    expect_refused("activation is silu, it must be none, relu, clamp or leaky_relu",
                   [](Arguments &a) { a.options.activation = Activation::silu; });
    expect_refused("activation 200 does not exist",
                   [](Arguments &a) { a.options.activation = static_cast<Activation>(200); });
    expect_refused("activation is gelu, it must be",
                   [](Arguments &a) { a.options.activation = Activation::gelu; });
    expect_refused("clamp goes from 6.000000 to nan", [](Arguments &a) {
        a.options.activation = Activation::clamp;
        a.options.alpha = 6;
        a.options.beta = std::numeric_limits<float>::quiet_NaN();
    });
    expect_refused("leaky_relu's slope is inf", [](Arguments &a) {
        a.options.activation = Activation::leaky_relu;
        a.options.alpha = std::numeric_limits<float>::infinity();
    });
}

// The rest is checked as for conv2d, in messages of this operation.
TEST(QuantizedConv2dInput, Geometry) {
    expect_refused("the layout is any, it must be nhwc or nchw",
                   [](Arguments &a) { a.options.layout = Layout::any; });
    expect_refused("the layout is unknown",
                   [](Arguments &a) { a.options.layout = static_cast<Layout>(200); });
    expect_refused("input has 3 dimensions, [6, 7, 8], it needs 4", [](Arguments &a) {
        a.input.values = zeros({6, 7, 8}, DataType::u8);
    });
    expect_refused("weight has 8 input channels, input has 8 in 2 groups",
                   [](Arguments &a) { a.options.groups = 2; });
    expect_refused("stride of y is 0", [](Arguments &a) { a.options.stride[0] = 0; });
    expect_refused("the kernel reaches over 11 rows, the padded input has 8", [](Arguments &a) {
        a.options.dilation = {5, 1};
    });
    expect_refused("output has shape [2, 6, 7, 11], it must have [2, 6, 7, 12]", [](Arguments &a) {
        a.output.values = zeros({2, 6, 7, 11}, DataType::u8);
    });
    expect_refused("bias has shape [11], it must have [12]",
                   [](Arguments &a) { a.bias.values = zeros({11}, DataType::s32); });
    expect_refused("input's channels have the stride 2", [](Arguments &a) {
        a.input.values = zeros({2, 6, 7, 16}, DataType::u8).slice(3, 0, 8, 2);
    });
}

TEST(QuantizedConv2dInput, RepeatedElements) {
    expect_refused("input has this many elements, repeated ones counted: 4294967296",
                   [](Arguments &a) {
                       a.options = {.stride = {1 << 16, 1 << 16}};
                       a.input.values = repeated({1, 1 << 16, 1 << 16, 1}, DataType::u8);
                       a.weight.values = zeros({12, 1, 3, 1}, DataType::s8);
                       a.output.values = zeros({1, 1, 1, 12}, DataType::u8);
                   });
    // Few bytes, but a row's size times its stride is more than kernels count.
    expect_refused("input has a size whose product with its stride is 4294967292",
                   [](Arguments &a) {
                       static uint8_t byte = 0;
                       a.options = {};
                       a.input.values = Tensor::borrow(&byte, DataType::u8, {1, 2, 1, 1},
                                                       {0, (int64_t{1} << 31) - 2, 0, 1});
                       a.weight.values = zeros({12, 1, 1, 1}, DataType::s8);
                       a.output.values = zeros({1, 2, 1, 12}, DataType::u8);
                   });
}

TEST(QuantizedConv2dInput, Places) {
    expect_refused("weight is on opencl:0, input is on cpu",
                   [](Arguments &a) { a.weight.values = a.weight.values.to(Device::opencl(0)); });
    expect_refused("weight scale is on opencl:0, input is on cpu", [](Arguments &a) {
        a.weight.quantization = {std::vector<float>(12, 1.f), 0, Device::opencl(0)};
    });
    expect_refused("bias scale is on opencl:0, input is on cpu", [](Arguments &a) {
        a.bias.quantization = {std::vector<float>(12, 1.f), 0, Device::opencl(0)};
    });
    expect_refused("output and input overlap", [](Arguments &a) {
        const Tensor whole = zeros({2, 6, 7, 16}, DataType::u8);
        a.input.values = whole.slice(3, 0, 8);
        a.output.values = whole.slice(3, 4, 12);
    });
    expect_refused("output and weight scale overlap", [](Arguments &a) {
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
    expect_refused("no row takes the problem on cpu", [](Arguments &a) { a.real_input(); });
}

}  // namespace
}  // namespace hk
