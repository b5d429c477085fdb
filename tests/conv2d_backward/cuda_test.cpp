// The real rows of conv2d's gradients on CUDA, launched on the software device's driver, which
// checks each launch and does not run it.

#include "tests/convolution/cuda.h"
#include "conv2d_backward/operands.h"
#include "conv2d_backward/parts.h"
#include "conv2d_backward/phases.h"
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

bool is_of_products(const KernelInfo &kernel) {
    return std::string_view(kernel.algorithm).starts_with("products");
}

// In which a row computes an input's gradient: phases of one that it does not take whole.
int64_t phases_of(const KernelInfo &kernel, const Conv2dProblem &problem) {
    if (kernel.family != std::string_view("conv2d_backward_data")) return 1;
    const detail::Fields whole = detail::conv2d_fields(
        detail::normalised(problem, detail::normalise_backward_data), kDevice);
    const bool takes =
        detail::select({&kernel, 1}, whole, DeviceType::cuda, kDevice.limits(), false).kernel;
    return takes ? 1 : static_cast<int64_t>(detail::data_phases(problem).phases.size());
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
        const size_t parts = static_cast<size_t>(parts_of(kernel, problem)),
                     phases = static_cast<size_t>(phases_of(kernel, problem));
        const size_t sums = parts > 1 ? 3 * parts : 0;  // fewer: many parts are one sum
        // Products have the filter transposed first, and in nchw what it is moved over,
        // and parts added up.
        const size_t more = (phases > 1 || is_of_products(kernel) ? 1 : 0) +
                            (is_of_products(kernel) && kernel.layout == Layout::nchw ? 1 : 0) +
                            (kernel.algorithm == std::string_view("products_in_parts") ? 1 : 0);
        EXPECT_LE(tests::launches().size(),
                  phases * parts * (GetParam().kernels_a_call + more) + sums);
        // Phases that another row does not take are selection's.
        if (phases == 1 || is_of_products(kernel)) expect_launches_of(kernel);
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
    more.push_back(tests::square(32, 9, 32, 3));
    more.push_back(tests::square(64, 9, 64, 1));
    more.push_back(tests::square(8, 30, 16, 3));
    more.back().options.stride = {2000000000, 2000000000};
    shapes.insert(shapes.end(), more.begin(), more.end());
    EXPECT_EQ(tests::launch_every_rung(shapes, GetParam().select, expect_launches), built_);
}

// Tensor cores have f32 where TF32 is allowed, and no row that asks for it serves others.
TEST(CudaTf32, IsTakenWhereItIsAllowed) {
    for (const Family &family : {kFamilies[0], kFamilies[1]}) {
        for (Conv2dProblem problem : {tests::square(128, 28, 128, 3, 1, 8),
                                      tests::square(64, 56, 64, 1), tests::square(32, 9, 32, 3)}) {
            for (const bool allowed : {false, true}) {
                problem.options.allow_tf32 = allowed;
                const KernelInfo *row =
                    family.select(problem, DeviceType::cuda, kDevice.limits(), false).kernel;
                ASSERT_TRUE(row);
                EXPECT_EQ(row->schedule == std::string_view("matrices"), allowed) << row->name;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Families, CudaConv2dBackward, testing::ValuesIn(kFamilies),
                         [](const auto &info) { return std::string(info.param.name); });

// What a strided problem's gradient is put on the stream as.
struct Phases {
    const char *name;
    Shape input, weight;
    Conv2dOptions options;
    size_t phases;
    bool zeros;  // of pixels without taps
};

void PrintTo(const Phases &phases, std::ostream *out) { *out << phases.name; }

class CudaPhases : public tests::CudaRows<testing::TestWithParam<Phases>> {
protected:
    void SetUp() override { begin({conv2d_backward_data_kernels()}); }

    static std::vector<std::string> entries() {
        std::vector<std::string> names;
        for (const tests::Operation &launch : tests::launches()) names.emplace_back(launch.entry);
        return names;
    }

    static const KernelInfo *row_named(std::string_view name, DataType type) {
        for (const KernelInfo &row : conv2d_backward_data_kernels())
            if (row.row == name && row.type == type && row.device == DeviceType::cuda) return &row;
        return nullptr;
    }
};

TEST_P(CudaPhases, RunOnTensorCores) {
    const Phases &p = GetParam();
    for (const DataType type : {DataType::f16, DataType::bf16}) {
        const Conv2dProblem problem =
            Conv2dProblem::from_shapes(p.input, p.weight, type, p.options);
        const Operands operands(problem);
        tests::Queue queue(kDevice);
        for (const float beta : {0.f, 1.f}) {
            driver().clear();
            conv2d_backward_data(operands.output, operands.weight, operands.input, p.options, beta,
                                 queue.stream());
            const std::vector<std::string> launched = entries();
            // The filter of f16 is transposed first.
            EXPECT_EQ(launched.size(), (type == DataType::f16 ? 2 : 1) * p.phases);
            const auto zeros = tests::operations("cuMemsetD8Async");
            EXPECT_EQ(zeros.size(), p.zeros && beta == 0 ? 1u : 0u);
            for (const tests::Operation &fill : zeros) EXPECT_EQ(fill.stream, queue.handle());
            const KernelInfo *row = row_named("matrices_apart", type);
            ASSERT_TRUE(row);
            driver().clear();
            conv2d_backward_data_with(*row, operands.output, operands.weight, operands.input,
                                      p.options, beta, queue.stream());
            EXPECT_EQ(launched, entries());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Problems, CudaPhases,
    testing::Values(
        Phases{"1x1", {2, 28, 28, 128}, {256, 1, 1, 128}, {.stride = {2, 2}}, 1, true},
        Phases{"3x3",
               {2, 28, 28, 128},
               {128, 3, 3, 128},
               {.stride = {2, 2}, .padding = {1, 1, 1, 1}},
               4,
               false},
        Phases{"3x3_of_rows",
               {2, 28, 28, 128},
               {128, 3, 3, 128},
               {.stride = {2, 1}, .padding = {1, 1, 1, 1}},
               2,
               false},
        Phases{"2x2_of_3", {2, 27, 27, 128}, {128, 2, 2, 128}, {.stride = {3, 3}}, 4, true},
        Phases{"dilated",
               {2, 27, 27, 128},
               {128, 3, 3, 128},
               {.stride = {2, 2}, .dilation = {2, 2}, .padding = {2, 2, 2, 2}},
               1,
               true}),
    [](const auto &info) { return std::string("of_") + info.param.name; });

}  // namespace
}  // namespace hk
