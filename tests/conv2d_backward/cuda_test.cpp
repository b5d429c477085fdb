// The real rows of conv2d's gradients on CUDA, launched against a stand-in for the driver, which
// checks each launch and does not run it.

#include "conv2d_backward/operands.h"
#include "conv2d_backward/parts.h"
#include "families/convolution/convolution.h"
#include "hk/conv2d_backward.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

// Not written to, so that large ones take no memory.
struct Operands {
    Tensor output, input, weight;

    explicit Operands(const Conv2dProblem &p) {
        const bool nhwc = p.options.layout == Layout::nhwc;
        const int64_t depth = p.channels / p.options.groups;
        output = Tensor(p.output_shape(), p.type, kDevice);
        input = Tensor(nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                            : Shape{p.batch, p.channels, p.height, p.width},
                       p.type, kDevice);
        weight = Tensor(nhwc ? Shape{p.filters, p.kernel_height, p.kernel_width, depth}
                             : Shape{p.filters, depth, p.kernel_height, p.kernel_width},
                        p.type, kDevice);
    }
};

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
        driver().launches.clear();
        GetParam().call(kernel, operands, problem.options);
        EXPECT_GE(driver().launches.size(), 1u);
        const size_t parts = static_cast<size_t>(parts_of(kernel, problem));
        const size_t sums = parts > 1 ? 3 * parts : 0;  // fewer: many parts are one sum
        EXPECT_LE(driver().launches.size(), parts * GetParam().kernels_a_call + sums);
        expect_launches_of(kernel);
    }
};

Conv2dProblem shape(int64_t batch, int64_t channels, int64_t size, int64_t filters, int64_t kernel,
                    int64_t groups = 1, int64_t stride = 1) {
    Conv2dProblem shape;
    shape.batch = batch;
    shape.channels = channels;
    shape.height = shape.width = size;
    shape.filters = filters;
    shape.kernel_height = shape.kernel_width = kernel;
    shape.options.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    shape.options.groups = groups;
    shape.options.stride = {stride, stride};
    return shape;
}

// The shapes of the list at the batch of training, and some at the ends of what kernels take: many
// images, long rows, strides larger than the image, whose phases are more than a grid has blocks.
std::vector<Conv2dProblem> shapes(const char *pass) {
    std::vector<Conv2dProblem> result = bench::convolutions("conv_training", pass);
    const std::vector<Conv2dProblem> ends = {shape(1, 1, 1, 1, 1),
                                             shape(1, 3, 40, 1, 31),
                                             shape(1, 4096, 1, 4096, 3),
                                             shape(70000, 1, 3, 2, 3),
                                             shape(1, 1, 20000, 1, 3),
                                             shape(5, 4099, 9, 4099, 5, 4099),
                                             shape(2, 128, 56, 128, 3, 32),
                                             shape(2, 3, 224, 64, 7, 1, 2),
                                             shape(1, 8, 30, 16, 3, 1, 2000000000)};
    result.insert(result.end(), ends.begin(), ends.end());
    return result;
}

// Every rung that takes a shape, not just the first.
TEST_P(CudaConv2dBackward, LaunchesOfEveryRowAreLegal) {
    const DeviceLimits limits = kDevice.limits();
    std::set<std::string> launched;
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            for (const Conv2dProblem &s : shapes(GetParam().pass)) {
                const Conv2dProblem problem = bench::in(s, type, layout);
                const Selection selection =
                    GetParam().select(problem, DeviceType::cuda, limits, true);
                for (const Rung &rung : selection.ladder) {
                    SCOPED_TRACE(rung.kernel->name + (": " + bench::name_of(s)));
                    expect_launches(*rung.kernel, problem);
                    launched.insert(rung.kernel->name);
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

INSTANTIATE_TEST_SUITE_P(Families, CudaConv2dBackward, testing::ValuesIn(kFamilies),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk
