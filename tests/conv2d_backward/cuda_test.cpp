// The real rows of conv2d's gradients on CUDA, launched on the software device's driver, which
// checks each launch and does not run it.

#include "tests/convolution/cuda.h"
#include "conv2d_backward/operands.h"
#include "conv2d_backward/parts.h"
#include "hk/conv2d_backward.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

using Operands = tests::ConvolutionTensors;

struct Family {
    const char *name, *pass;
    std::span<const KernelInfo> (*kernels)();
    Selection (*select)(const Conv2dProblem &, DeviceType, const DeviceLimits &, bool explain);
    void (*call)(const KernelInfo &, const Operands &, const Conv2dOptions &);
    size_t kernels_a_call;  // at most
};

void PrintTo(const Family &family, std::ostream *out) { *out << family.name; }

const Family kFamilies[] = {
    {"data", "bwd_data", conv2d_backward_data_kernels, select_conv2d_backward_data,
     [](const KernelInfo &kernel, const Operands &o, const Conv2dOptions &options) {
         conv2d_backward_data_with(kernel, o.output, o.weight, o.input, options);
     },
     1},
    {"weight", "bwd_weight", conv2d_backward_weight_kernels, select_conv2d_backward_weight,
     [](const KernelInfo &kernel, const Operands &o, const Conv2dOptions &options) {
         conv2d_backward_weight_with(kernel, o.output, o.input, o.weight, options);
     },
     2},
    {"bias", "bwd_weight", conv2d_backward_bias_kernels, select_conv2d_backward_bias,
     [](const KernelInfo &kernel, const Operands &o, const Conv2dOptions &options) {
         const Tensor bias({o.output.shape()[options.layout == Layout::nhwc ? 3 : 1]},
                           o.output.type(), kDevice);
         conv2d_backward_bias_with(kernel, o.output, bias, options.layout);
     },
     3},
};

// Into which the gradient of a filter is cut.
int64_t parts_of(const KernelInfo &kernel, const Conv2dProblem &problem) {
    if (kernel.family != std::string_view("conv2d_backward_weight")) return 1;
    return detail::WeightParts(kernel,
                               detail::normalised(problem, detail::normalise_backward_weight))
        .count();
}

class CudaConv2dBackward : public tests::CudaRows<testing::TestWithParam<Family>> {
protected:
    void SetUp() override { begin({GetParam().kernels()}); }

    // By the row, and as the row says that it is.
    static void expect_launches(const KernelInfo &kernel, const Conv2dProblem &problem) {
        const Operands operands(problem);
        driver().clear();
        GetParam().call(kernel, operands, problem.options);
        EXPECT_GE(tests::launches().size(), 1u);
        const size_t parts = static_cast<size_t>(parts_of(kernel, problem));
        const size_t sums = parts > 1 ? 3 * parts : 0;  // fewer: many parts are one sum
        // Products of matrices have the filter transposed first.
        const size_t more = kernel.algorithm == std::string_view("products") ? 1 : 0;
        EXPECT_LE(tests::launches().size(), parts * (GetParam().kernels_a_call + more) + sums);
        expect_launches_of(kernel);
    }
};

// Of strides larger than the image, too, whose phases are more than a grid has blocks.
TEST_P(CudaConv2dBackward, LaunchesOfEveryRowAreLegal) {
    std::vector<Conv2dProblem> shapes = bench::convolutions("conv_training", GetParam().pass);
    std::vector<Conv2dProblem> more = tests::ends();
    const auto depthwise = bench::convolutions("depthwise", GetParam().pass);
    more.insert(more.end(), depthwise.begin(), depthwise.end());
    more.push_back(tests::square(128, 56, 128, 3, 32, 2));
    more.push_back(tests::square(3, 224, 64, 7, 1, 2));
    more.back().options.stride = {2, 2};
    more.push_back(tests::square(8, 30, 16, 3));
    more.back().options.stride = {2000000000, 2000000000};
    shapes.insert(shapes.end(), more.begin(), more.end());
    EXPECT_EQ(tests::launch_every_rung(shapes, GetParam().select, expect_launches), built_);
}

INSTANTIATE_TEST_SUITE_P(Families, CudaConv2dBackward, testing::ValuesIn(kFamilies),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk
