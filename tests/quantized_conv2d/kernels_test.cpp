// Does the shipped library work: every row of the table on random problems that meet its
// conditions, hk::quantized_conv2d with the rows that selection takes, on every device that is
// here, and layers of networks by name, at the sizes that they have there.

#include <algorithm>

#include "tests/convolution/layout_test.h"
#include "tests/kernels/family.h"
#include "tests/quantized_conv2d/check.h"
#include "tests/support/environment.h"

namespace hk::test {
namespace {

// 2 types of input times 160 problems: more than 300 a layout and device.
constexpr int problems = 160;

class QuantizedConv2d : public LayoutTest {
protected:
    void SetUp() override { need(std::get<0>(GetParam()), quantized_conv2d_kernels()); }
};

TEST_P(QuantizedConv2d, MatchesTheReferenceOnRandomProblems) {
    check_problems<QuantizedConv2dCase>(problems, std::get<2>(GetParam()) == DataType::f32);
}
TEST_P(QuantizedConv2d, RunsInTwoThreadsAtOnce) { check_threads<QuantizedConv2dCase>(); }
INSTANTIATE_TEST_SUITE_P(All, QuantizedConv2d, layout_tests({DataType::u8, DataType::f32}),
                         parameter_name);

using QuantizedConv2dRow = LayoutRowTest<QuantizedConv2dCase>;

// Sums in s32, and those of whole numbers in f32.
TEST_P(QuantizedConv2dRow, IsExactOnIntegers) {
    check_row(Data::integers, 16);
    check_several_tiles();
    check_last_vectors(Data::integers);
    check_whole_tiles(Data::integers, {Activation::clamp, Activation::leaky_relu});
}

TEST_P(QuantizedConv2dRow, IsCloseOnReals) {
    if (GetParam().type == DataType::f32) {
        check_row(Data::reals, 8);
    }
}

TEST_P(QuantizedConv2dRow, PassesOnNanAndInfinity) {
    const auto &where = GetParam().where;
    const bool to_bytes = std::ranges::any_of(where, [](const Constraint &constraint) {
        return std::string_view(constraint.field) == "output_bytes" && constraint.value == 1;
    });
    if (GetParam().type == DataType::f32 && !to_bytes) {
        check_row(Data::one_nan, 4);
        check_row(Data::one_infinity, 3);
    }
}

TEST(QuantizedConv2dRows, RefuseTheOtherLayout) {
    expect_other_layouts_refused<QuantizedConv2dCase>(quantized_conv2d_kernels());
}

// A kernel that writes words would write beside bytes, and the other way round.
TEST(QuantizedConv2dRows, RefuseTheOtherSizeOfOutput) {
    const auto takes = [](const KernelInfo &kernel, int64_t bytes) {
        return std::ranges::all_of(kernel.where, [&](const Constraint &constraint) {
            return std::string_view(constraint.field) != "output_bytes" ||
                   constraint.value == bytes;
        });
    };
    for (const KernelInfo &kernel : quantized_conv2d_kernels()) {
        EXPECT_NE(takes(kernel, 1), takes(kernel, 4)) << kernel.name;
        const Constraint other{"output_bytes", Constraint::Relation::equal,
                               takes(kernel, 1) ? 4 : 1};
        const auto cases = random_cases<QuantizedConv2dCase>(
            2, {kernel.type, kernel.layout, Data::integers, {&other, 1}, 1e5});
        ASSERT_EQ(cases.size(), 2u);
        for (const Device device : devices_of(kernel.device)) {
            for (const QuantizedConv2dCase &c : cases) {
                EXPECT_EQ(check(c, device, &kernel), Outcome::refused) << kernel.name;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, QuantizedConv2dRow, testing::ValuesIn(quantized_conv2d_kernels()),
                         parameter_name);

std::vector<Device> devices_with_rows() {
    return test::devices_with_rows({quantized_conv2d_kernels()});
}

// A quantised ResNet's downsample block: u8 [1, channels, size, size] times 0.125, a 1x1 filter to
// twice the channels, stride 2.
QuantizedConv2dCase downsample(Layout layout, int64_t channels, int64_t size, DataType output) {
    QuantizedConv2dCase c;
    c.problem.type = DataType::u8;
    c.problem.channels = channels;
    c.problem.filters = 2 * channels;
    c.problem.height = c.problem.width = size;
    c.problem.options.layout = layout;
    c.problem.options.stride = {2, 2};
    c.output_type = output;
    c.bias = QuantizedBias::sum_s32;
    c.scale_per_filter = true;
    c.input_scale = 0.125f;
    c.weight_scale = 0.004f;
    // Bytes are uniform, their root mean square 148 and 74.
    const double sum = std::sqrt(static_cast<double>(channels)) * 148 * 74;
    c.unit = static_cast<float>(sum * c.input_scale * c.weight_scale / 60);
    c.output_scale = c.requantized() ? c.unit : 1;
    c.output_zero_point = c.requantized() ? 120 : 0;
    return c;
}

// The dequantised convolution that a compiler fused into 606208 bytes of shared memory: f32 input,
// weight and bias s8, both with scale and zero point.
QuantizedConv2dCase dequantized(int64_t size) {
    QuantizedConv2dCase c;
    c.data = Data::reals;
    c.problem.channels = 64;
    c.problem.filters = 256;
    c.problem.height = c.problem.width = size;
    c.problem.kernel_height = c.problem.kernel_width = 3;
    c.problem.options.layout = Layout::nchw;
    c.problem.options.padding = {1, 1, 1, 1};
    c.bias = QuantizedBias::quantized_s8;
    c.weight_scale = 0.01f;
    c.weight_zero_point = 3;
    c.bias_scale = 0.05f;
    c.bias_zero_point = -2;
    return c;
}

class Downsample : public testing::TestWithParam<std::tuple<Layout, DataType>> {};

TEST_P(Downsample, ReducedOnEveryDevice) {
    const auto [layout, output] = GetParam();
    for (const Device device : devices_with_rows()) {
        check(downsample(layout, 32, 14, output), device);
        check(downsample(layout, 24, 13, output), device);
    }
}

TEST_P(Downsample, FullOnTheCpu) {
    const auto [layout, output] = GetParam();
    check(downsample(layout, 256, 56, output), Device::cpu());
}

INSTANTIATE_TEST_SUITE_P(All, Downsample,
                         testing::Combine(testing::Values(Layout::nhwc, Layout::nchw),
                                          testing::Values(DataType::u8, DataType::f32)),
                         parameter_name);

// Layers of channels that are no vectors of tensor cores: what their windows meet is copied.
class FewChannels : public testing::TestWithParam<std::tuple<DataType, DataType>> {};

QuantizedConv2dCase few_channels(int64_t channels, int64_t kernel, int64_t stride,
                                 const std::tuple<DataType, DataType> &types) {
    QuantizedConv2dCase c;
    Conv2dProblem &p = c.problem;
    const bool even = channels % 2 == 0;
    p.type = std::get<0>(types);
    p.batch = 2;
    p.options.groups = even ? 1 : 2;
    p.channels = channels * p.options.groups;
    p.filters = 16 * p.options.groups;
    p.height = 9;
    p.width = 10;
    p.kernel_height = 3;
    p.kernel_width = kernel;
    p.options.stride = {1, stride};
    p.options.dilation = {2, 1};
    p.options.padding = {1, 0, 2, 1};
    c.output_type = std::get<1>(types);
    c.bias = QuantizedBias::sum_s32;
    c.scale_per_filter = c.output_type != DataType::s32;
    c.stored = stride == 1 ? Stored::ends : Stored::any;
    c.input_zero_point = stride == 2 ? 0 : p.type == DataType::u8 ? 255 : -128;
    c.weight_zero_point = kernel == 3 ? 0 : -77;
    c.unit = 1e4;
    c.output_scale = c.requantized() ? c.unit : 1;
    c.output_zero_point = c.requantized() ? 3 : 0;
    c.input = c.weight = Placement::flipped;
    c.output = Placement::aligned;
    return c;
}

TEST_P(FewChannels, AreProductsOfMatricesOnCuda) {
    const auto rows = quantized_conv2d_kernels();
    const auto windows = [](const KernelInfo &row) {
        return std::string_view(row.name).find("matrices_windows") != std::string_view::npos;
    };
    if (std::ranges::none_of(rows, windows)) GTEST_SKIP() << "no such row is built";
    for (const Device device : devices_with_rows()) {
        for (const int64_t channels : {1, 3, 4, 5, 8, 15, 17}) {
            for (const int64_t kernel : {1, 2, 3, 7}) {
                for (const int64_t stride : {1, 2, 3}) {
                    const QuantizedConv2dCase c =
                        few_channels(channels, kernel, stride, GetParam());
                    check(c, device);
                    if (device.type() != DeviceType::cuda) continue;
                    const Selection taken = select_quantized_conv2d({c.problem, c.output_type},
                                                                    device.type(), device.limits());
                    EXPECT_TRUE(windows(*taken.kernel)) << taken.kernel->name << to_string(c);
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, FewChannels,
                         testing::Combine(testing::Values(DataType::u8, DataType::s8),
                                          testing::Values(DataType::u8, DataType::s8, DataType::f32,
                                                          DataType::s32)),
                         parameter_name);

// Runs the case and compares the corners, the middle and a random part of its output.
void check_parts(const QuantizedConv2dCase &c, Device device) {
    const QuantizedConv2dOperands operands = quantized_conv2d_operands(c);
    const QuantizedHostTensors host(c, operands);
    const Quantizations q(c, operands, device);
    const Tensor output(c.problem.output_shape(), c.output_type, device);
    quantized_conv2d({host.input.values.to(device), q.input},
                     {host.weight.values.to(device), q.weight},
                     {host.bias.values.to(device), q.bias}, {output, q.output}, c.problem.options);
    const Tensor result = output.to(Device::cpu());
    const int64_t side = 5, h = c.problem.output_height(), w = c.problem.output_width();
    Random random(c.seed);
    const std::pair<int64_t, int64_t> corners[] = {
        {0, 0},         {0, w - side},
        {h - side, 0},  {h - side, w - side},
        {h / 2, w / 2}, {uniform(random, 0, h - side), uniform(random, 0, w - side)}};
    for (const auto &[y, x] : corners) {
        EXPECT_EQ(compare_part(c, host, result, {y, x, side, side}), "")
            << "from y " << y << " x " << x << " of " << to_string(c);
    }
}

// At each rung: devices of 1 GiB, 48, 32 and 16 KiB of shared memory, and of none.
TEST(Dequantized, CropOnEveryDevice) {
    const Environment quiet("HK_LOG", "off");
    for (const char *bytes : {"1073741824", "49152", "32768", "16384", "8192", "0"}) {
        const Environment limit("HK_SHARED_LIMIT", bytes);
        for (const Device device : devices_with_rows()) check_parts(dequantized(64), device);
    }
}

TEST(Dequantized, FullOnTheCpu) { check_parts(dequantized(512), Device::cpu()); }

}  // namespace
}  // namespace hk::test
