#include "tests/conv2d_backward/stand_in_kernels.h"

#include <gtest/gtest.h>

namespace hk::tests {

std::vector<BackwardCall> backward_calls;

namespace {

// Takes a kernel's arguments one after the other.
class Reader {
public:
    explicit Reader(void **argv) : argv_(argv + 1) {}

    template<typename T>
    void take(T &value) {
        value = *static_cast<T *>(*argv_++);
    }

    void take(BackwardBuffer &seen) {
        const auto &buffer = *static_cast<halide_buffer_t *>(*argv_++);
        seen = {&buffer, buffer.host, {}, {}};
        EXPECT_EQ(buffer.dim[0].stride, 1);
        for (int d = 0; d < buffer.dimensions; d++) {
            EXPECT_EQ(buffer.dim[d].min, 0);
            seen.extents.push_back(buffer.dim[d].extent);
            seen.strides.push_back(buffer.dim[d].stride);
        }
    }

private:
    void **argv_;
};

enum class Which { data, weight, bias };

template<Which which>
int note(const char *kernel, void **argv) {
    BackwardCall c;
    c.kernel = kernel;
    Reader reader(argv);
    reader.take(c.output_gradient);
    if (which != Which::bias) reader.take(c.factor);
    reader.take(c.previous);
    if (which != Which::bias) {
        for (int32_t *number : {&c.stride_x, &c.stride_y, &c.dilation_x, &c.dilation_y,
                                &c.padding_left, &c.padding_top}) {
            reader.take(*number);
        }
    }
    if (which == Which::data) {
        for (int32_t *number : {&c.common_x, &c.common_y, &c.inverse_x, &c.inverse_y}) {
            reader.take(*number);
        }
    }
    reader.take(c.accumulate);
    reader.take(c.gradient);
    backward_calls.push_back(c);
    return 0;
}

KernelInfo row(const char *family, const char *name, Layout layout,
               std::span<const Constraint> where, int (*call)(void **)) {
    KernelInfo kernel{};
    kernel.name = kernel.row = name;
    kernel.family = family;
    kernel.algorithm = kernel.schedule = kernel.knobs = "";
    kernel.type = DataType::f32;
    kernel.layout = layout;
    kernel.device = DeviceType::cpu;
    kernel.where = where;
    kernel.call = call;
    return kernel;
}

const Constraint kPointwise[] = {{"kernel_h", Constraint::Relation::equal, 1},
                                 {"kernel_w", Constraint::Relation::equal, 1},
                                 {"stride_y", Constraint::Relation::equal, 1}};
const Constraint kStrided[] = {{"stride_x", Constraint::Relation::equal, 5},
                               {"padding_top", Constraint::Relation::equal, 2}};

}  // namespace

}  // namespace hk::tests

namespace hk {

using namespace tests;

std::span<const KernelInfo> conv2d_backward_data_kernels() {
    static const KernelInfo kernels[] = {
        row("conv2d_backward_data", "pointwise_data", Layout::nhwc, kPointwise,
            [](void **argv) { return note<Which::data>("pointwise_data", argv); }),
        row("conv2d_backward_data", "strided_data", Layout::nhwc, kStrided,
            [](void **argv) { return note<Which::data>("strided_data", argv); }),
        row("conv2d_backward_data", "data_nhwc", Layout::nhwc, {},
            [](void **argv) { return note<Which::data>("data_nhwc", argv); }),
        row("conv2d_backward_data", "data_nchw", Layout::nchw, {},
            [](void **argv) { return note<Which::data>("data_nchw", argv); }),
    };
    return kernels;
}

std::span<const KernelInfo> conv2d_backward_weight_kernels() {
    static const KernelInfo kernels[] = {
        row("conv2d_backward_weight", "weight_nhwc", Layout::nhwc, {},
            [](void **argv) { return note<Which::weight>("weight_nhwc", argv); }),
        row("conv2d_backward_weight", "weight_nchw", Layout::nchw, {},
            [](void **argv) { return note<Which::weight>("weight_nchw", argv); }),
    };
    return kernels;
}

std::span<const KernelInfo> conv2d_backward_bias_kernels() {
    static const KernelInfo kernels[] = {
        row("conv2d_backward_bias", "bias_nhwc", Layout::nhwc, {},
            [](void **argv) { return note<Which::bias>("bias_nhwc", argv); }),
    };
    return kernels;
}

}  // namespace hk
