#include "tests/quantized_conv2d/stand_in_kernels.h"

#include <gtest/gtest.h>

#include "tests/support/called_with.h"

namespace hk::tests {

QuantizedCall last_quantized_call;
int quantized_calls = 0;

namespace {

SeenBuffer seen(const halide_buffer_t &buffer) {
    SeenBuffer result{buffer.type, buffer.host, {}, {}, {}};
    EXPECT_EQ(buffer.dim[0].stride, 1);
    int64_t elements = 1;
    for (int d = 0; d < buffer.dimensions; d++) {
        EXPECT_EQ(buffer.dim[d].min, 0);
        result.extents.push_back(buffer.dim[d].extent);
        result.strides.push_back(buffer.dim[d].stride);
        elements *= buffer.dim[d].extent;
    }
    // Vectors are packed, and there whether used or not.
    if (buffer.dimensions < 5) {
        result.bytes.assign(buffer.host, buffer.host + elements * buffer.type.bytes());
    }
    return result;
}

// The numbers of a kernel, where a call keeps them.
template<typename T>
struct Number {
    const char *name;
    T QuantizedCall::*value;
};
constexpr Number<int32_t> kIntegers[] = {
    {"stride_x", &QuantizedCall::stride_x},
    {"stride_y", &QuantizedCall::stride_y},
    {"dilation_x", &QuantizedCall::dilation_x},
    {"dilation_y", &QuantizedCall::dilation_y},
    {"padding_left", &QuantizedCall::padding_left},
    {"padding_top", &QuantizedCall::padding_top},
    {"input_flip", &QuantizedCall::input_flip},
    {"input_zero_point", &QuantizedCall::input_zero_point},
    {"weight_zero_point", &QuantizedCall::weight_zero_point},
    {"bias_kind", &QuantizedCall::bias_kind},
    {"bias_zero_point", &QuantizedCall::bias_zero_point},
    {"output_flip", &QuantizedCall::output_flip},
    {"output_zero_point", &QuantizedCall::output_zero_point},
};
constexpr Number<float> kFloats[] = {
    {"input_scale", &QuantizedCall::input_scale},
    {"scale_for_all", &QuantizedCall::scale_for_all},
    {"bias_scale_for_all", &QuantizedCall::bias_scale_for_all},
    {"output_scale", &QuantizedCall::output_scale},
    {"slope", &QuantizedCall::slope},
    {"low", &QuantizedCall::low},
    {"high", &QuantizedCall::high},
};
constexpr Number<SeenBuffer> kBuffers[] = {
    {"input", &QuantizedCall::input},           {"weight", &QuantizedCall::weight},
    {"scale", &QuantizedCall::scale},           {"bias", &QuantizedCall::bias},
    {"bias_scale", &QuantizedCall::bias_scale}, {"output", &QuantizedCall::output},
};

const std::vector<KernelArgument> &declared() {
    static const std::vector<KernelArgument> arguments = [] {
        std::vector<KernelArgument> all = {{"__user_context", sizeof(void *), {}},
                                           {"integer_output", sizeof(bool), {}}};
        for (const auto &number : kIntegers) all.push_back({number.name, sizeof(int32_t), {}});
        for (const auto &number : kFloats) all.push_back({number.name, sizeof(float), {}});
        for (const auto &buffer : kBuffers) all.push_back({buffer.name, 0, {}});
        return all;
    }();
    return arguments;
}

int note(const char *kernel, void **pointers) {
    const test::CalledWith given(declared(), pointers);
    QuantizedCall &c = last_quantized_call;
    c = {};
    c.kernel = kernel;
    quantized_calls++;
    for (const auto &number : kIntegers) given.take(number.name, c.*number.value);
    for (const auto &number : kFloats) given.take(number.name, c.*number.value);
    for (const auto &buffer : kBuffers) c.*buffer.value = seen(given.buffer(buffer.name));
    given.take("integer_output", c.integer_output);
    return 0;
}

const Constraint kToBytes[] = {{"output_bytes", Constraint::Relation::equal, 1}};
const Constraint kToWords[] = {{"output_bytes", Constraint::Relation::equal, 4}};

template<int place>
KernelInfo row(const char *name, DataType type, Layout layout, std::span<const Constraint> where) {
    static const char *noted;
    noted = name;
    KernelInfo kernel{};
    kernel.name = kernel.row = name;
    kernel.family = "quantized_conv2d";
    kernel.algorithm = kernel.schedule = kernel.knobs = "";
    kernel.type = type;
    kernel.layout = layout;
    kernel.device = DeviceType::cpu;
    kernel.where = where;
    kernel.call = [](void **pointers) { return note(noted, pointers); };
    kernel.arguments = declared();
    return kernel;
}

}  // namespace

}  // namespace hk::tests

namespace hk {

std::span<const KernelInfo> quantized_conv2d_kernels() {
    using namespace tests;
    static const KernelInfo kernels[] = {
        row<0>("to_bytes_nhwc", DataType::u8, Layout::nhwc, kToBytes),
        row<1>("to_words_nhwc", DataType::u8, Layout::nhwc, kToWords),
        row<2>("to_words_nchw", DataType::u8, Layout::nchw, kToWords),
        row<3>("real_nhwc", DataType::f32, Layout::nhwc, kToWords),
    };
    return kernels;
}

}  // namespace hk
