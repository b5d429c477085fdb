#include "tests/conv2d_backward/stand_in_kernels.h"

#include <gtest/gtest.h>

#include "tests/support/called_with.h"

namespace hk::tests {

std::vector<BackwardCall> backward_calls;

namespace {

BackwardBuffer seen(const halide_buffer_t &buffer) {
    BackwardBuffer result{&buffer, buffer.host, {}, {}};
    EXPECT_EQ(buffer.dim[0].stride, 1);
    for (int d = 0; d < buffer.dimensions; d++) {
        EXPECT_EQ(buffer.dim[d].min, 0);
        result.extents.push_back(buffer.dim[d].extent);
        result.strides.push_back(buffer.dim[d].stride);
    }
    return result;
}

enum class Which { data, weight, bias };

constexpr KernelArgument kContext{"__user_context", sizeof(void *), {}},
    kOutput{"output_gradient", 0, {}}, kPrevious{"previous", 0, {}},
    kAccumulate{"accumulate", sizeof(bool), {}};
constexpr KernelArgument number(const char *name) { return {name, sizeof(int32_t), {}}; }

constexpr KernelArgument kData[] = {kContext,
                                    kOutput,
                                    {"weight", 0, {}},
                                    kPrevious,
                                    number("stride_x"),
                                    number("stride_y"),
                                    number("dilation_x"),
                                    number("dilation_y"),
                                    number("padding_left"),
                                    number("padding_top"),
                                    number("common_x"),
                                    number("common_y"),
                                    number("inverse_x"),
                                    number("inverse_y"),
                                    kAccumulate,
                                    {"input_gradient", 0, {}}};
constexpr KernelArgument kWeight[] = {kContext,
                                      kOutput,
                                      {"input", 0, {}},
                                      kPrevious,
                                      number("stride_x"),
                                      number("stride_y"),
                                      number("dilation_x"),
                                      number("dilation_y"),
                                      number("padding_left"),
                                      number("padding_top"),
                                      kAccumulate,
                                      {"weight_gradient", 0, {}}};
constexpr KernelArgument kBias[] = {
    kContext, kOutput, kPrevious, kAccumulate, {"bias_gradient", 0, {}}};

std::span<const KernelArgument> declared(Which which) {
    if (which == Which::data) return kData;
    if (which == Which::weight) return kWeight;
    return kBias;
}

template<Which which>
int note(const char *kernel, void **pointers) {
    const test::CalledWith given(declared(which), pointers);
    BackwardCall c;
    c.kernel = kernel;
    c.output_gradient = seen(given.buffer("output_gradient"));
    c.previous = seen(given.buffer("previous"));
    c.gradient = seen(given.buffer(declared(which).back().name));
    c.accumulate = given.take<bool>("accumulate");
    if (which != Which::bias) {
        c.factor = seen(given.buffer(which == Which::data ? "weight" : "input"));
        given.take("stride_x", c.stride_x);
        given.take("stride_y", c.stride_y);
        given.take("dilation_x", c.dilation_x);
        given.take("dilation_y", c.dilation_y);
        given.take("padding_left", c.padding_left);
        given.take("padding_top", c.padding_top);
    }
    if (which == Which::data) {
        given.take("common_x", c.common_x);
        given.take("common_y", c.common_y);
        given.take("inverse_x", c.inverse_x);
        given.take("inverse_y", c.inverse_y);
    }
    backward_calls.push_back(c);
    return 0;
}

template<Which which, typename Call>
KernelInfo row(const char *family, const char *name, Layout layout,
               std::span<const Constraint> where, Call call) {
    KernelInfo kernel{};
    kernel.name = kernel.row = name;
    kernel.family = family;
    kernel.algorithm = kernel.schedule = kernel.knobs = "";
    kernel.type = DataType::f32;
    kernel.layout = layout;
    kernel.device = DeviceType::cpu;
    kernel.where = where;
    kernel.call = call;
    kernel.arguments = declared(which);
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
        row<Which::data>("conv2d_backward_data", "pointwise_data", Layout::nhwc, kPointwise,
                         [](void **argv) { return note<Which::data>("pointwise_data", argv); }),
        row<Which::data>("conv2d_backward_data", "strided_data", Layout::nhwc, kStrided,
                         [](void **argv) { return note<Which::data>("strided_data", argv); }),
        row<Which::data>("conv2d_backward_data", "data_nhwc", Layout::nhwc, {},
                         [](void **argv) { return note<Which::data>("data_nhwc", argv); }),
        row<Which::data>("conv2d_backward_data", "data_nchw", Layout::nchw, {},
                         [](void **argv) { return note<Which::data>("data_nchw", argv); }),
    };
    return kernels;
}

std::span<const KernelInfo> conv2d_backward_weight_kernels() {
    static const KernelInfo kernels[] = {
        row<Which::weight>("conv2d_backward_weight", "weight_nhwc", Layout::nhwc, {},
                           [](void **argv) { return note<Which::weight>("weight_nhwc", argv); }),
        row<Which::weight>("conv2d_backward_weight", "weight_nchw", Layout::nchw, {},
                           [](void **argv) { return note<Which::weight>("weight_nchw", argv); }),
    };
    return kernels;
}

std::span<const KernelInfo> conv2d_backward_bias_kernels() {
    static const KernelInfo kernels[] = {
        row<Which::bias>("conv2d_backward_bias", "bias_nhwc", Layout::nhwc, {},
                         [](void **argv) { return note<Which::bias>("bias_nhwc", argv); }),
    };
    return kernels;
}

}  // namespace hk
