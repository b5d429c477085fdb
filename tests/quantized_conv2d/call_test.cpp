// What kernels of quantized_conv2d are passed.

#include <cstring>
#include <limits>

#include "hk/quantized_conv2d.h"
#include "tests/runtime/expect_error.h"
#include "tests/support/noting_kernels.h"

namespace hk {
namespace {

using test::NotedBuffer;
using test::NotedCall;
using Ints = std::vector<int32_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor zeros(const Shape &shape, DataType type) { return Tensor::zeros(shape, type); }

// Input and weight that fit, 12 filters in 3 groups.
struct Call {
    QuantizedTensor input{zeros({2, 5, 6, 9}, DataType::u8), {0.5f, 3}};
    QuantizedTensor weight{zeros({12, 3, 3, 3}, DataType::s8), {0.25f, -4}};
    QuantizedTensor bias;
    QuantizedTensor output{zeros({2, 5, 6, 12}, DataType::u8), {2, 7}};
    Conv2dOptions options{.padding = {1, 1, 1, 1}, .groups = 3};

    NotedCall run() const {
        quantized_conv2d(input, weight, bias, output, options);
        return test::noted_calls.back();
    }
};

std::vector<float> floats(const NotedBuffer &buffer) {
    std::vector<float> result(buffer.bytes.size() / sizeof(float));
    std::memcpy(result.data(), buffer.bytes.data(), buffer.bytes.size());
    return result;
}

const uint8_t *bytes_at(const void *address) { return static_cast<const uint8_t *>(address); }

Tensor counted_floats(int64_t size) {
    Tensor tensor({size}, DataType::f32);
    for (int64_t i = 0; i < size; i++) tensor.data<float>()[i] = static_cast<float>(i + 1);
    return tensor;
}

TEST(QuantizedConv2dCall, NumbersOfBytes) {
    const Call call;
    const NotedCall seen = call.run();
    EXPECT_EQ(seen.kernel, "to_bytes_nhwc");
    EXPECT_EQ(seen["input"].type, halide_type_of<uint8_t>());
    EXPECT_EQ(seen["weight"].type, halide_type_of<int8_t>());
    EXPECT_EQ(seen["output"].type, halide_type_of<uint8_t>());
    EXPECT_EQ(seen["input"].host, call.input.values.data<uint8_t>());
    EXPECT_EQ(seen["weight"].host, call.weight.values.data<uint8_t>());
    EXPECT_EQ(seen["output"].host, call.output.values.data<uint8_t>());
    EXPECT_EQ(seen["input"].extents, (Ints{3, 3, 6, 5, 2}));
    EXPECT_EQ(seen["weight"].extents, (Ints{3, 3, 3, 4, 3}));
    EXPECT_EQ(seen["output"].extents, (Ints{4, 3, 6, 5, 2}));
    EXPECT_EQ(seen.number("padding_left"), 1);
    EXPECT_EQ(seen.number("padding_top"), 1);
    EXPECT_EQ(seen.number("input_flip"), 0);
    EXPECT_EQ(seen.real("input_scale"), 0.5f);
    EXPECT_EQ(seen.number("input_zero_point"), 3);
    EXPECT_EQ(seen.real("scale_for_all"), 0.25f);
    EXPECT_EQ(seen.number("weight_zero_point"), -4);
    EXPECT_EQ(seen.real("output_scale"), 2);
    EXPECT_EQ(seen.number("output_flip"), 0);
    EXPECT_EQ(seen.number("output_zero_point"), 7);
    EXPECT_FALSE(seen.take<bool>("integer_output"));
}

TEST(QuantizedConv2dCall, SignedBytesArePassedAsUnsigned) {
    Call call;
    call.input = {zeros({2, 5, 6, 9}, DataType::s8), {0.5f, -100}};
    call.output = {zeros({2, 5, 6, 12}, DataType::s8), {2, -9}};
    const NotedCall seen = call.run();
    EXPECT_EQ(seen["input"].type, halide_type_of<uint8_t>());
    EXPECT_EQ(seen.number("input_flip"), 128);
    EXPECT_EQ(seen.number("input_zero_point"), 28);
    EXPECT_EQ(seen["output"].type, halide_type_of<uint8_t>());
    EXPECT_EQ(seen.number("output_flip"), 128);
    EXPECT_EQ(seen.number("output_zero_point"), 119);
    EXPECT_EQ(seen.real("low"), -128 + 9);
    EXPECT_EQ(seen.real("high"), 127 + 9);
}

TEST(QuantizedConv2dCall, OutputsOfFourBytes) {
    Call call;
    call.output = zeros({2, 5, 6, 12}, DataType::s32);
    const NotedCall sum = call.run();
    EXPECT_EQ(sum.kernel, "to_words_nhwc");
    EXPECT_TRUE(sum.take<bool>("integer_output"));
    EXPECT_EQ(sum["output"].type, halide_type_of<float>());
    EXPECT_EQ(sum.real("output_scale"), 1);
    call.output = zeros({2, 5, 6, 12}, DataType::f32);
    call.input = zeros({2, 5, 6, 9}, DataType::f32);
    const NotedCall real = call.run();
    EXPECT_EQ(real.kernel, "real_nhwc");
    EXPECT_FALSE(real.take<bool>("integer_output"));
    EXPECT_EQ(real["input"].type, halide_type_of<float>());
    EXPECT_EQ(real.number("input_flip"), 0);
    EXPECT_EQ(real.number("input_zero_point"), 0);
    EXPECT_EQ(real.real("low"), -kInfinity);
    EXPECT_EQ(real.real("high"), kInfinity);
}

TEST(QuantizedConv2dCall, BoundsAreInUnitsOfTheOutput) {
    const auto expect = [](Activation activation, float alpha, float beta, float scale,
                           int32_t zero_point, std::array<float, 3> expected) {
        Call call;
        call.options.activation = activation;
        call.options.alpha = alpha;
        call.options.beta = beta;
        call.output.quantization = {scale, zero_point};
        const NotedCall seen = call.run();
        EXPECT_EQ((std::array{seen.real("slope"), seen.real("low"), seen.real("high")}), expected);
    };
    expect(Activation::none, 0, 0, 2, 7, {1, -7, 248});
    expect(Activation::relu, 0, 0, 2, 7, {1, 0, 248});
    expect(Activation::leaky_relu, 0.25f, 0, 2, 255, {0.25f, -255, 0});
    expect(Activation::clamp, -3, 6, 2, 7, {1, -1.5f, 3});
    expect(Activation::clamp, -30, 600, 2, 7, {1, -7, 248});
    // Wholly outside of what the type holds: its end.
    expect(Activation::clamp, -30, -20, 2, 7, {1, -7, -7});
    expect(Activation::clamp, 600, 700, 2, 7, {1, 248, 248});
    // No bounds; the lower above the upper: the upper.
    expect(Activation::clamp, kNoLowerBound, kNoUpperBound, 2, 7, {1, -7, 248});
    expect(Activation::clamp, 6, -3, 2, 7, {1, -1.5f, -1.5f});
}

TEST(QuantizedConv2dCall, ScalesOfEachFilter) {
    Call call;
    call.weight.quantization = {counted_floats(12), 5};
    call.bias = {zeros({12}, DataType::s8), {counted_floats(24).slice(0, 23, 12, -2), 6}};
    const NotedCall seen = call.run();
    EXPECT_EQ(seen.real("scale_for_all"), 0);
    EXPECT_EQ(seen.number("weight_zero_point"), 5);
    EXPECT_EQ(seen["scale"].host, bytes_at(call.weight.quantization.scales().data<float>()));
    EXPECT_EQ(seen["scale"].extents, (Ints{4, 3}));
    EXPECT_EQ(seen["scale"].strides, (Ints{1, 4}));
    EXPECT_EQ(seen.real("bias_scale_for_all"), 0);
    EXPECT_EQ(seen.number("bias_zero_point"), 6);
    EXPECT_EQ(seen["bias_scale"].extents, (Ints{4, 3}));
    EXPECT_EQ(floats(seen["bias_scale"]),
              (std::vector<float>{24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2}));
}

TEST(QuantizedConv2dCall, AbsentVectorsAreMemoryOfTheirShape) {
    const NotedCall seen = Call().run();
    EXPECT_EQ(seen["scale"].extents, (Ints{4, 3}));
    EXPECT_EQ(seen["bias_scale"].extents, (Ints{4, 3}));
    EXPECT_EQ(seen["bias"].extents.size(), 3u);
    EXPECT_EQ(seen.number("bias_kind"), 0);
    EXPECT_GT(seen.real("bias_scale_for_all"), 0);
}

TEST(QuantizedConv2dCall, BiasIsBytes) {
    const auto run = [](const QuantizedTensor &bias) {
        Call call;
        call.bias = bias;
        return call.run();
    };
    NotedCall seen = run(counted_floats(12));
    EXPECT_EQ(seen["bias"].type, halide_type_of<int8_t>());
    EXPECT_EQ(seen["bias"].extents, (Ints{4, 4, 3}));
    EXPECT_EQ(seen["bias"].strides, (Ints{1, 4, 16}));
    EXPECT_EQ(seen.number("bias_kind"), 1);
    EXPECT_EQ(floats(seen["bias"])[11], 12);

    const Tensor bytes = zeros({20}, DataType::s8);
    seen = run({bytes.slice(0, 5, 12), {0.5f, 2}});
    EXPECT_EQ(seen["bias"].extents, (Ints{1, 4, 3}));
    EXPECT_EQ(seen["bias"].strides, (Ints{1, 1, 4}));
    EXPECT_EQ(seen["bias"].host, bytes.data<uint8_t>() + 5);
    EXPECT_EQ(seen.number("bias_kind"), 2);
    EXPECT_EQ(seen.real("bias_scale_for_all"), 0.5f);
    EXPECT_EQ(seen.number("bias_zero_point"), 2);

    const Tensor words = zeros({20}, DataType::s32);
    seen = run({words.slice(0, 5, 12), {0.5f}});
    EXPECT_EQ(seen["bias"].host, bytes_at(words.data<int32_t>() + 5));
    EXPECT_EQ(seen.number("bias_kind"), 3);
    EXPECT_EQ(run(words.slice(0, 5, 12)).number("bias_kind"), 4);
    // Apart: a packed copy.
    seen = run(counted_floats(24).slice(0, 1, 12, 2));
    EXPECT_EQ(seen["bias"].strides, (Ints{1, 4, 16}));
    EXPECT_EQ(floats(seen["bias"])[11], 24);
}

// Strides of what has one element must be those of a packed tensor.
TEST(QuantizedConv2dCall, OneFilter) {
    const QuantizedTensor input{zeros({1, 2, 2, 3}, DataType::u8), {1}};
    const QuantizedTensor weight{zeros({1, 1, 1, 3}, DataType::s8),
                                 counted_floats(8).slice(0, 4, 1, 5)};
    const QuantizedTensor bias = counted_floats(8).slice(0, 2, 1, 3);
    quantized_conv2d(input, weight, bias);
    const NotedCall &seen = test::noted_calls.back();
    EXPECT_EQ(floats(seen["scale"]), (std::vector<float>{5}));
    EXPECT_EQ(floats(seen["bias"]), (std::vector<float>{3}));
    EXPECT_EQ(seen["scale"].strides, (Ints{1, 1}));
    EXPECT_EQ(seen["bias"].strides, (Ints{1, 4, 4}));
}

TEST(QuantizedConv2dCall, Views) {
    const Tensor canvas = zeros({1, 4, 8, 20}, DataType::s8);
    const QuantizedTensor input{canvas.slice(2, 7, 8, -1).slice(3, 0, 8), {1}};
    const QuantizedTensor weight{zeros({6, 1, 1, 8}, DataType::s8), {1}};
    quantized_conv2d(input, weight, {}, {canvas.slice(3, 8, 6), {1}}, {});
    const NotedCall &seen = test::noted_calls.back();
    EXPECT_EQ(seen["input"].host, canvas.data<uint8_t>() + 7 * 20);
    EXPECT_EQ(seen["input"].strides, (Ints{1, 8, -20, 160, 640}));
    EXPECT_EQ(seen["output"].host, canvas.data<uint8_t>() + 8);
    EXPECT_EQ(seen["output"].strides, (Ints{1, 6, 20, 160, 640}));
}

TEST(QuantizedConv2dCall, PointwisePixelsBecomeOneDimension) {
    const QuantizedTensor input{zeros({1, 256, 56, 56}, DataType::u8), {0.125f}};
    const QuantizedTensor weight{zeros({512, 256, 1, 1}, DataType::s8), {1}};
    quantized_conv2d(input, weight, {}, DataType::f32, {}, {.layout = Layout::nchw});
    EXPECT_EQ(test::noted_calls.back()["input"].extents, (Ints{3136, 1, 256, 1, 1}));
    quantized_conv2d(input, weight, {}, DataType::f32, {},
                     {.layout = Layout::nchw, .stride = {2, 2}});
    EXPECT_EQ(test::noted_calls.back().kernel, "to_words_nchw");
    EXPECT_EQ(test::noted_calls.back().number("stride_x"), 2);
    const QuantizedTensor rows{zeros({2, 8, 6, 16}, DataType::u8), {0.125f}};
    const QuantizedTensor few{zeros({4, 1, 1, 16}, DataType::s8), {1}};
    quantized_conv2d(rows, few, {}, DataType::f32, {}, {.stride = {2, 2}});
    EXPECT_EQ(test::noted_calls.back().number("stride_x"), 1);
    EXPECT_EQ(test::noted_calls.back()["input"].extents, (Ints{16, 1, 3, 4, 2}));
}

TEST(QuantizedConv2dCall, EmptyBatch) {
    const size_t before = test::noted_calls.size();
    const QuantizedTensor input{zeros({0, 5, 5, 2}, DataType::u8), {1}};
    const QuantizedTensor weight{zeros({4, 3, 3, 2}, DataType::s8), {1}};
    const QuantizedTensor output = quantized_conv2d(input, weight, {}, DataType::s8, {2, 1});
    EXPECT_EQ(output.values.shape(), (Shape{0, 3, 3, 4}));
    EXPECT_EQ(output.values.type(), DataType::s8);
    EXPECT_EQ(output.quantization.scale(), 2);
    EXPECT_EQ(output.quantization.zero_point(), 1);
    EXPECT_EQ(test::noted_calls.size(), before);
}

TEST(QuantizedConv2dCall, SelectionAgreesWithTheCall) {
    for (const DataType input : {DataType::u8, DataType::s8}) {
        for (const DataType output : {DataType::u8, DataType::s32}) {
            Call call;
            call.input.values = zeros({2, 5, 6, 9}, input);
            call.output.values = zeros({2, 5, 6, 12}, output);
            if (output == DataType::s32) call.output.quantization = {};
            const auto problem = QuantizedConv2dProblem::from_shapes({2, 5, 6, 9}, {12, 3, 3, 3},
                                                                     input, output, call.options);
            const Selection selection = select_quantized_conv2d(problem, DeviceType::cpu, {}, true);
            ASSERT_NE(selection.kernel, nullptr);
            EXPECT_EQ(call.run().kernel, selection.kernel->name);
            ASSERT_EQ(selection.rejected.size(), 1u);
        }
    }
}

TEST(QuantizedConv2dCall, LogsWhatItTakes) {
    Call call;
    call.input.values = zeros({1, 7, 19, 9}, DataType::s8);
    call.output.values = zeros({1, 7, 19, 12}, DataType::u8);
    setenv("HK_LOG", "select", 1);
    ::testing::internal::CaptureStderr();
    call.run();
    const std::string told = ::testing::internal::GetCapturedStderr();
    unsetenv("HK_LOG");
    EXPECT_EQ(told,
              "hk select: cpu quantized_conv2d nhwc s8, input [1, 7, 19, 9], weight [12, 3, 3, 3], "
              "stride [1, 1], padding [1, 1, 1, 1], dilation [1, 1], groups 3, output u8: "
              "to_bytes_nhwc\n"
              "hk select:   not to_words_nhwc: the row to_bytes_nhwc comes first\n");
}

}  // namespace
}  // namespace hk
