// No shape fails for lack of shared memory: on devices of any size selection finds a row, the row
// fits the device, and what it computes is the same.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "families/convolution/convolution.h"
#include "hk/conv2d_backward.h"
#include "hk/tensor_product.h"
#include "lists.h"
#include "tests/conv2d/case.h"
#include "tests/kernels/family.h"
#include "tests/quantized_conv2d/check.h"
#include "tests/support/environment.h"

namespace hk::test {
namespace {

constexpr DataType kTypes[] = {DataType::f32, DataType::bf16};
constexpr Layout kLayouts[] = {Layout::nhwc, Layout::nchw};

// A convolution over the same number of rows and columns, its output as large as its input.
std::string shape(int64_t channels, int64_t size, int64_t filters, int64_t kernel,
                  int64_t dilation = 1, int64_t groups = 1) {
    const auto by = [](std::initializer_list<int64_t> extents) {
        std::string text;
        for (const int64_t extent : extents)
            text += (text.empty() ? "" : "x") + std::to_string(extent);
        return text;
    };
    return "input=" + by({1, size, size, channels}) +
           ",weight=" + by({filters, kernel, kernel, channels / groups}) +
           ",padding=" + by({dilation * (kernel / 2)}) + ",dilation=" + by({dilation}) +
           ",groups=" + by({groups});
}

// Of a folder of families: what is hard on staging, windows larger than any tile, long sums, and
// nearly nothing to compute.
std::vector<std::string> adversarial(const std::string &folder) {
    std::vector<std::string> sizes;
    if (folder == "convolution") {
        return {shape(3, 40, 1, 31),         shape(64, 512, 64, 31),
                shape(2, 40, 3, 3, 16),      shape(2, 300, 3, 31, 16),
                shape(64, 56, 1, 3),         shape(4096, 7, 16, 1),
                shape(4096, 1, 5, 3),        shape(16, 1, 4096, 1),
                shape(4096, 14, 4096, 3),    shape(1, 1, 1, 1),
                shape(33, 9, 33, 5, 1, 33),  shape(4096, 9, 4096, 3, 16, 4096),
                shape(96, 7, 160, 3, 1, 32), shape(62, 17, 2, 31, 1, 2)};
    }
    if (folder == "tensor_product") {
        for (const char *c : {"1", "16", "64", "200", "4096"}) {
            for (const char *m : {"1", "32", "64", "200", "4096"}) {
                for (const char *mode : {"deterministic", "atomic"}) {
                    sizes.push_back(std::string("voxels=100,c=") + c + ",m=" + m + ",mode=" + mode);
                }
            }
        }
    }
    if (folder == "softmax_cross_entropy") {
        for (const char *classes : {"1", "10", "256", "257", "1000", "32000", "128000"})
            sizes.push_back(std::string("input=64x") + classes);
    }
    return sizes;
}

struct Problem {
    std::string name;
    std::unique_ptr<bench::Problem> of;
};

// Of all lists, types and layouts.
std::vector<Problem> problems_of(const bench::Family &family) {
    std::vector<Problem> problems;
    const auto add = [&](const std::string &list, const bench::Settings &settings) {
        for (const bench::CaseInfo &info : family.cases(list, settings)) {
            problems.push_back({info.name + " " + std::string(hk::name_of(settings.type)) + " to " +
                                    std::string(hk::name_of(settings.output_type)) + " " +
                                    std::string(name_of(settings.layout)),
                                info.problem()});
        }
    };
    std::vector<std::string> lists = adversarial(family.folder);
    for (const std::string &list : bench::embedded_lists(family.folder)) lists.push_back(list);
    for (const bench::Settings &settings : family.settings()) {
        for (const std::string &list : lists) add(list, settings);
    }
    return problems;
}

// Those whose rows of a GPU share memory.
std::vector<std::string> families_that_share() {
    std::vector<std::string> names;
    for (const bench::Family &family : bench::families()) {
        const std::unique_ptr<bench::Problem> any = family.problem();
        if (std::ranges::any_of(any->kernels(), [](const KernelInfo &kernel) {
                return kernel.device != DeviceType::cpu && kernel.resources.shared_bytes() > 0;
            })) {
            names.push_back(family.name);
        }
    }
    return names;
}

class Budget : public testing::TestWithParam<std::tuple<std::string, DeviceType>> {
protected:
    void SetUp() override {
        for (const KernelInfo &kernel : kernels()) {
            if (kernel.device == device()) return;
        }
        GTEST_SKIP() << "built without " << name_of(device());
    }

    std::span<const KernelInfo> kernels() const { return family_.problem()->kernels(); }
    DeviceType device() const { return std::get<1>(GetParam()); }

    const bench::Family family_ = bench::family_named(std::get<0>(GetParam()));

    // A device with so many bytes of shared memory a block.
    DeviceLimits limits(int64_t bytes) const {
        if (device() == DeviceType::opencl) return {bytes, bytes, 256, 0, 0};
        return {std::min<int64_t>(bytes, 48 * 1024), bytes, 1024, 65536, 80};
    }
};

TEST_P(Budget, EveryProblemHasARowOnEveryDevice) {
    int fallbacks = 0;
    for (const Problem &problem : problems_of(family_)) {
        for (const int64_t kib : {0, 16, 32, 48, 64, 99, 227}) {
            SCOPED_TRACE(problem.name + " with " + std::to_string(kib) + " KiB");
            const Selection selection = problem.of->select(device(), limits(kib * 1024), false);
            ASSERT_NE(selection.kernel, nullptr);
            const KernelResources &used = selection.kernel->resources;
            EXPECT_GE(used.shared_bytes(), 0);
            EXPECT_LE(used.shared_bytes(), kib * 1024);
            EXPECT_LE(used.stack_bytes, 0);
            EXPECT_LE(used.spill_bytes, 0);
            fallbacks += selection.fell_back();
        }
    }
    EXPECT_GT(fallbacks, 0) << "no limit asked for another row";
}

// The stated budgets bound every kernel of the table; nothing asks for more than a device may have.
TEST_P(Budget, NoRowNeedsMoreThanTheLargestDevice) {
    for (const KernelInfo &kernel : kernels()) {
        if (kernel.device != device()) continue;
        EXPECT_GE(kernel.resources.shared_bytes(), 0) << kernel.name;
        EXPECT_LE(kernel.resources.shared_bytes(), 227 * 1024) << kernel.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Families, Budget,
                         testing::Combine(testing::ValuesIn(families_that_share()),
                                          testing::Values(DeviceType::cuda, DeviceType::opencl)),
                         parameter_name);

// Integers to integers and to reals, and a quantised weight alone.
struct Types {
    DataType first, second;  // of the input and the output
};
std::string name_of_parameter(const Types &types) {
    return std::string(hk::name_of(types.first)) + "_to_" + std::string(hk::name_of(types.second));
}
constexpr Types kQuantizedTypes[] = {{DataType::u8, DataType::u8},
                                     {DataType::s8, DataType::f32},
                                     {DataType::f32, DataType::f32},
                                     {DataType::f32, DataType::s8}};

Conv2dProblem one(const std::string &sizes) { return bench::convolutions(sizes).front(); }

// The convolution of a dequantised filter that was seen to ask for 606208 bytes: tiles within what
// every CUDA device has without asking, each rung smaller than the one before, the last of none.
TEST(DequantizedFilter, HasALadderOfSmallTiles) {
    for (const DeviceType device : {DeviceType::cuda, DeviceType::opencl}) {
        for (const Layout layout : kLayouts) {
            const QuantizedConv2dProblem problem{
                bench::in(one(shape(64, 512, 256, 3)), DataType::f32, layout), DataType::f32};
            const DeviceLimits largest{48 * 1024, 227 * 1024, 1024, 65536, 90};
            const Selection selection = select_quantized_conv2d(problem, device, largest, true);
            if (!selection.kernel) continue;  // built without the device
            EXPECT_LE(selection.kernel->resources.shared_bytes(), 48 * 1024);
            int before = 48 * 1024 + 1;
            for (const Rung &rung : selection.ladder) {
                EXPECT_LT(rung.kernel->resources.shared_bytes(), before) << rung.kernel->name;
                before = rung.kernel->resources.shared_bytes();
            }
            EXPECT_EQ(before, 0);
            EXPECT_GE(selection.ladder.size(), 3u);
        }
    }
}

// The grouped input gradient that was seen to ask for 592944 bytes, the whole flipped filter.
TEST(GroupedInputGradient, HasALadderOfSmallTiles) {
    for (const DeviceType device : {DeviceType::cuda, DeviceType::opencl}) {
        for (const DataType type : kTypes) {
            const Conv2dProblem problem = Conv2dProblem::from_shapes(
                {128, 24, 48, 384}, {384, 1, 3, 128}, type, {.padding = {0, 0, 1, 1}, .groups = 3});
            const DeviceLimits largest{48 * 1024, 227 * 1024, 1024, 65536, 90};
            const Selection selection = select_conv2d_backward_data(problem, device, largest, true);
            if (!selection.kernel) continue;  // built without the device
            const char *products = type == DataType::f32 ? "products" : "matrices";
            EXPECT_STREQ(selection.kernel->row, device == DeviceType::cuda ? products : "1x3");
            int before = 48 * 1024;
            for (const Rung &rung : selection.ladder) {
                if (std::string_view(rung.kernel->algorithm).starts_with("expand_flip")) continue;
                EXPECT_LE(rung.kernel->resources.shared_bytes(), before) << rung.kernel->name;
                before = rung.kernel->resources.shared_bytes();
            }
            EXPECT_EQ(before, 0);
            EXPECT_GE(selection.ladder.size(), 4u);
        }
    }
}

// 64 to 64 channels: the weight's tile is 32 by 16 floats, and nothing else is shared.
TEST(AtomicTensorProduct, SharesThe512FloatsOfTheWeight) {
    TensorProductProblem problem;
    problem.input_channels = problem.output_channels = 64;
    problem.summation = Summation::atomic;
    for (const DeviceType device : {DeviceType::cuda, DeviceType::opencl}) {
        for (const int64_t bytes : {16 * 1024, 48 * 1024, 227 * 1024}) {
            const DeviceLimits limits{std::min<int64_t>(bytes, 48 * 1024), bytes, 1024, 65536, 80};
            const Selection selection = select_tensor_product(problem, device, limits);
            if (!selection.kernel) continue;  // built without the device
            EXPECT_STREQ(selection.kernel->family, "tensor_product_atomic");
            EXPECT_EQ(selection.kernel->resources.shared_bytes(), 512 * 4);
        }
    }
}

// Those of the shapes that PoCL computes in the time of a test, and a piece of the shape case.
std::vector<Conv2dProblem> small_shapes() {
    std::vector<Conv2dProblem> shapes = bench::convolutions("conv_training", "fwd", 1);
    for (const std::string &sizes : adversarial("convolution")) shapes.push_back(one(sizes));
    std::erase_if(shapes, [](const Conv2dProblem &s) { return s.operations() > 4e6; });
    shapes.push_back(one(shape(64, 10, 256, 3)));
    return shapes;
}

std::vector<Device> gpus() {
    std::vector<Device> devices = Device::all();
    std::erase(devices, Device::cpu());
    return devices;
}

// CUDA in software runs the small ones.
std::vector<Device> gpus_of(const Conv2dProblem &s) {
    std::vector<Device> devices = gpus();
    if (s.operations() > 3e5)
        std::erase_if(devices, [](Device d) { return d.type() == DeviceType::cuda; });
    return devices;
}

class SmallDevice : public testing::TestWithParam<std::tuple<int, DataType, Layout>> {};

TEST_P(SmallDevice, ComputesTheSame) {
    if (gpus().empty()) GTEST_SKIP() << "no GPU";
    const auto [bytes, type, layout] = GetParam();
    const Environment limit("HK_SHARED_LIMIT", std::to_string(bytes).c_str());
    const Environment quiet("HK_LOG", "off");
    uint64_t seed = 1;
    const std::vector<Conv2dProblem> shapes = small_shapes();
    EXPECT_GE(shapes.size(), 16u);
    for (const Conv2dProblem &s : shapes) {
        Conv2dCase c;
        c.seed = seed++;
        c.problem = bench::in(s, type, layout);
        c.bias = true;
        c.data = c.seed % 2 ? Data::reals : Data::integers;
        for (const Device device : gpus_of(s)) check(c, device);
    }
}

// Zero points that are 0 and others, one scale and many, every kind of bias, by the seed.
QuantizedConv2dCase quantized(const Conv2dProblem &s, const Types &types, Layout layout,
                              uint64_t seed) {
    using enum QuantizedBias;
    QuantizedConv2dCase c;
    c.seed = seed;
    c.problem = bench::in(s, DataType::f32, layout);
    c.problem.type = types.first;
    c.output_type = types.second;
    c.data = c.integer() || seed % 2 ? Data::integers : Data::reals;
    const QuantizedBias kinds[] = {none, real_f32, quantized_s8,
                                   c.integer() ? sum_s32 : quantized_s32};
    c.bias = kinds[seed % 4];
    c.scale_per_filter = seed % 3 == 0;
    c.input_scale = c.integer() ? 0.02f : 1;
    c.input_zero_point = c.integer() && seed % 3 ? 100 : 0;
    c.weight_scale = 0.01f;
    c.weight_zero_point = seed % 5 < 3 ? -7 : 0;
    const auto terms = static_cast<double>(c.problem.channels / c.problem.options.groups *
                                           c.problem.kernel_height * c.problem.kernel_width);
    const double step = std::sqrt(terms) * 74 * (c.integer() ? 100 : 1);
    c.unit = static_cast<float>(step * c.input_scale * c.weight_scale / 60);
    c.output_scale = c.requantized() ? c.unit : 1;
    c.output_zero_point = c.requantized() ? 50 : 0;
    c.bias_scale = c.unit / (c.bias == quantized_s8 ? 10 : 5000);
    c.bias_zero_point = static_cast<int32_t>(seed % 3);
    return c;
}

class SmallQuantizedDevice : public testing::TestWithParam<std::tuple<int, Types, Layout>> {};

TEST_P(SmallQuantizedDevice, ComputesTheSame) {
    if (gpus().empty()) GTEST_SKIP() << "no GPU";
    const auto [bytes, types, layout] = GetParam();
    const Environment limit("HK_SHARED_LIMIT", std::to_string(bytes).c_str());
    const Environment quiet("HK_LOG", "off");
    uint64_t seed = 1;
    for (const Conv2dProblem &s : small_shapes()) {
        const QuantizedConv2dCase c = quantized(s, types, layout, seed++);
        for (const Device device : gpus_of(s)) check(c, device);
    }
}

INSTANTIATE_TEST_SUITE_P(Limits, SmallDevice,
                         testing::Combine(testing::Values(0, 16384), testing::ValuesIn(kTypes),
                                          testing::ValuesIn(kLayouts)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Limits, SmallQuantizedDevice,
                         testing::Combine(testing::Values(0, 16384),
                                          testing::ValuesIn(kQuantizedTypes),
                                          testing::ValuesIn(kLayouts)),
                         parameter_name);

}  // namespace
}  // namespace hk::test
