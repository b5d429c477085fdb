#include "tests/quantized_conv2d/stand_in_kernels.h"

#include <gtest/gtest.h>

namespace hk::tests {

QuantizedCall last_quantized_call;
int quantized_calls = 0;

namespace {

// Takes a kernel's arguments one after the other.
class Reader {
public:
    explicit Reader(void **argv) : argv_(argv + 1) {}

    template<typename T>
    void take(T &value) {
        value = *static_cast<T *>(*argv_++);
    }

    void take(SeenBuffer &seen) {
        const auto &buffer = *static_cast<halide_buffer_t *>(*argv_++);
        seen = {buffer.type, buffer.host, {}, {}, {}};
        EXPECT_EQ(buffer.dim[0].stride, 1);
        int64_t elements = 1;
        for (int d = 0; d < buffer.dimensions; d++) {
            EXPECT_EQ(buffer.dim[d].min, 0);
            seen.extents.push_back(buffer.dim[d].extent);
            seen.strides.push_back(buffer.dim[d].stride);
            elements *= buffer.dim[d].extent;
        }
        // Vectors are packed, and there whether used or not.
        if (buffer.dimensions < 5) {
            seen.bytes.assign(buffer.host, buffer.host + elements * buffer.type.bytes());
        }
    }

private:
    void **argv_;
};

int note(const char *kernel, void **argv) {
    QuantizedCall &c = last_quantized_call;
    c = {};
    c.kernel = kernel;
    quantized_calls++;
    Reader reader(argv);
    for (SeenBuffer *buffer : {&c.input, &c.weight, &c.scale, &c.bias, &c.bias_scale}) {
        reader.take(*buffer);
    }
    for (int32_t *number : {&c.stride_x, &c.stride_y, &c.dilation_x, &c.dilation_y, &c.padding_left,
                            &c.padding_top, &c.input_flip}) {
        reader.take(*number);
    }
    reader.take(c.input_scale);
    reader.take(c.input_zero_point);
    reader.take(c.scale_for_all);
    reader.take(c.weight_zero_point);
    reader.take(c.bias_kind);
    reader.take(c.bias_scale_for_all);
    reader.take(c.bias_zero_point);
    reader.take(c.output_scale);
    reader.take(c.output_flip);
    reader.take(c.output_zero_point);
    reader.take(c.integer_output);
    for (float *number : {&c.slope, &c.low, &c.high}) reader.take(*number);
    reader.take(c.output);
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
    kernel.call = [](void **argv) { return note(noted, argv); };
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
