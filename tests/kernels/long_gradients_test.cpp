// Gradients of weights over millions of pixels or pairs keep an error that does not grow with their
// number, and are the reference where they are computed in parts.

#include "hk/conv2d_backward.h"
#include "hk/tensor_product_backward.h"
#include "tests/conv2d_backward/case.h"
#include "tests/kernels/family.h"
#include "tests/kernels/long_sums.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// Of the sum of magnitudes, which headers promise.
const double kBound = std::ldexp(1, -11);

struct LongConv2d {
    const char *name;
    Conv2dProblem problem;
};

Conv2dProblem problem_of(int64_t batch, int64_t height, int64_t width, int64_t channels,
                         int64_t groups, int64_t kernel) {
    Conv2dProblem p{.batch = batch,
                    .channels = channels,
                    .height = height,
                    .width = width,
                    .filters = channels,
                    .kernel_height = kernel,
                    .kernel_width = kernel,
                    .options = {}};
    const int64_t edge = kernel / 2;
    p.options.padding = {edge, edge, edge, edge};
    p.options.groups = groups;
    return p;
}

class LongWeightGradient : public testing::TestWithParam<std::tuple<LongConv2d, DataType, Layout>> {
protected:
    Conv2dProblem problem() const {
        auto [named, type, layout] = GetParam();
        named.problem.type = type;
        named.problem.options.layout = layout;
        return named.problem;
    }
};

// By channel, with as many columns as the last dimension must have.
Tensor channels_of(const Conv2dProblem &p, int64_t columns, double factor) {
    const bool nhwc = p.options.layout == Layout::nhwc;
    const int64_t row = nhwc ? 1 : columns;
    std::vector<double> values;
    for (int64_t i = 0; i < p.channels * row; i++)
        values.push_back(value(p.type, i / row) * factor);
    return host_tensor(nhwc ? Shape{1, 1, 1, p.channels} : Shape{1, p.channels, 1, columns}, p.type,
                       values);
}

// What each tap meets of the pixels of one direction.
int64_t met(int64_t size, int64_t taps, int64_t tap) { return size - std::abs(tap - taps / 2); }

TEST_P(LongWeightGradient, KeepsItsDigitsOfEqualTerms) {
    const Conv2dProblem p = problem();
    const bool nhwc = p.options.layout == Layout::nhwc;
    const Tensor of_input = channels_of(p, p.width, 1),
                 of_output = channels_of(p, p.width, kFactor);
    const int64_t per_group = p.channels / p.options.groups;
    const std::vector<double> inputs = reference::read(of_input),
                              outputs = reference::read(of_output);
    std::vector<double> wanted;
    Shape shape = input_shape(p), weight = weight_shape(p);
    for (int64_t i = 0; i < p.filters * per_group * p.kernel_height * p.kernel_width; i++) {
        const int64_t k = i / (weight[1] * weight[2] * weight[3]);
        const int64_t c = nhwc ? i % weight[3] : i / (weight[2] * weight[3]) % weight[1];
        const int64_t tap =
            nhwc ? i / weight[3] % (weight[1] * weight[2]) : i % (weight[2] * weight[3]);
        const int64_t channel = k / (p.filters / p.options.groups) * per_group + c;
        const auto at = [&](int64_t which) {
            return static_cast<size_t>(which * (nhwc ? 1 : p.width));
        };
        wanted.push_back(inputs[at(channel)] * outputs[at(k)] * static_cast<double>(p.batch) *
                         static_cast<double>(met(p.height, p.kernel_height, tap / p.kernel_width)) *
                         static_cast<double>(met(p.width, p.kernel_width, tap % p.kernel_width)));
    }
    const Tensor gradient(weight, p.type);
    conv2d_backward_weight(repeated(of_output, shape), repeated(of_input, shape), gradient,
                           p.options);
    expect_near(std::get<0>(GetParam()).name, gradient, wanted, kBound + 2 * half_ulp(p.type));
}

std::string name_of_parameter(const LongConv2d &named) { return named.name; }

INSTANTIATE_TEST_SUITE_P(
    Cpu, LongWeightGradient,
    testing::Combine(testing::Values(LongConv2d{"pointwise", problem_of(8, 512, 1024, 16, 1, 1)},
                                     LongConv2d{"line", problem_of(1, 1, 2000000, 8, 1, 3)},
                                     LongConv2d{"dense", problem_of(1, 2000, 1030, 8, 1, 3)},
                                     LongConv2d{"grouped", problem_of(40, 250, 250, 16, 2, 3)},
                                     LongConv2d{"depthwise", problem_of(200, 112, 112, 16, 16, 3)},
                                     LongConv2d{"tiny", problem_of(100000, 2, 2, 4, 1, 3)}),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16),
                     testing::Values(Layout::nhwc, Layout::nchw)),
    parameter_name);

// A first image of ones, then terms of which a tile is less than half an ulp of its sum.
TEST(LongWeightGradients, KeepWhatALargeSumWouldLose) {
    constexpr int64_t kBatch = 1000, kSize = 64, kPixels = kSize * kSize;
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const double tiny = std::ldexp(0.98, -20);
        std::vector<double> terms(kBatch * kPixels, tiny);
        std::fill_n(terms.begin(), kPixels, 1);
        const Shape shape = layout == Layout::nhwc ? Shape{kBatch, kSize, kSize, 1}
                                                   : Shape{kBatch, 1, kSize, kSize};
        const Tensor gradient = host_tensor(shape, DataType::f32, terms);
        const Tensor one = host_tensor({1, 1, 1, layout == Layout::nhwc ? 1 : kSize}, DataType::f32,
                                       std::vector<double>(layout == Layout::nhwc ? 1 : kSize, 1));
        const Tensor result = conv2d_backward_weight(gradient, repeated(one, shape), {1, 1, 1, 1},
                                                     {.layout = layout});
        const double wanted = kPixels + (kBatch - 1) * kPixels * tiny;
        expect_near(name_of(layout), result, {wanted}, kBound);
    }
}

// Whole numbers are added up exactly: each part meets its own pixels, and the padding around them.
TEST(LongWeightGradients, AreTheReferenceInParts) {
    const auto check_all = [](Conv2dProblem p, const KernelInfo *row, Device device) {
        int variant = 0;
        for (const Placement placement :
             {Placement::packed, Placement::steps, Placement::margins}) {
            BackwardWeightCase c;
            c.seed = 7 + variant;
            c.problem = p;
            c.accumulate = variant++ % 2 == 0;
            c.output = placement;
            EXPECT_EQ(check(c, device, row), Outcome::passed);
        }
    };
    const auto all_ways = [&](int64_t pixels, Layout layout, const KernelInfo *row, Device device) {
        Conv2dProblem images = problem_of(pixels / 12, 4, 3, 2, 1, 3);
        Conv2dProblem rows = problem_of(1, pixels / 50, 101, 2, 1, 3);
        rows.options.stride = {1, 2};
        rows.options.dilation = {3, 1};
        Conv2dProblem columns = problem_of(1, 2, pixels, 2, 2, 3);
        columns.options.padding = {1, 0, 0, 40};
        columns.options.stride = {1, 2};
        for (Conv2dProblem p : {images, rows, columns, problem_of(1, 1, pixels, 3, 1, 1)}) {
            p.options.layout = layout;
            check_all(p, row, device);
        }
    };
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        all_ways(500000, layout, nullptr, Device::cpu());
        for (const KernelInfo &row : conv2d_backward_weight_kernels()) {
            // One part of the sum, so that parts are few pixels.
            const bool one = std::string_view(row.knobs).find("parts") == std::string_view::npos;
            if (row.device != DeviceType::opencl || row.layout != layout || !one ||
                row.type != DataType::f32)
                continue;
            for (const Device device : devices_of(row.device)) all_ways(9000, layout, &row, device);
        }
    }
}

// Rows of a GPU that have one part of the sum.
class LongWeightGradientRow : public testing::TestWithParam<KernelInfo> {};
TEST_P(LongWeightGradientRow, KeepsItsDigitsOfEqualTerms) {
    const KernelInfo &row = GetParam();
    Conv2dProblem p = problem_of(10, 80, 80, 4, 1, 1);
    p.type = row.type;
    p.options.layout = row.layout;
    const Tensor of_input = channels_of(p, p.width, 1),
                 of_output = channels_of(p, p.width, kFactor);
    std::vector<double> wanted;
    for (int64_t i = 0; i < 16; i++) {
        wanted.push_back(value(p.type, i % 4) *
                         reference::rounded(p.type, value(p.type, i / 4) * kFactor) * 64000);
    }
    for (const Device device : devices_of(row.device)) {
        const Tensor gradient(weight_shape(p), p.type, device);
        conv2d_backward_weight_with(row, repeated_on(of_output, input_shape(p), device),
                                    repeated_on(of_input, input_shape(p), device), gradient,
                                    p.options);
        expect_near(row.name, gradient, wanted, kBound + 2 * half_ulp(p.type));
    }
}

std::vector<KernelInfo> undivided_rows() {
    std::vector<KernelInfo> rows;
    for (const KernelInfo &row : conv2d_backward_weight_kernels()) {
        if (row.device != DeviceType::cpu && row.type != DataType::bf16 && row.where.empty())
            rows.push_back(row);
    }
    return rows;
}

INSTANTIATE_TEST_SUITE_P(Table, LongWeightGradientRow, testing::ValuesIn(undivided_rows()),
                         parameter_name);

// Pairs of the lists of offsets, one after the other, as maps of one output row.
struct PairLists {
    std::vector<double> imap, omap, starts = {0};

    void add(int64_t count, int64_t source, int64_t target = 0) {
        imap.insert(imap.end(), static_cast<size_t>(count), static_cast<double>(source));
        omap.insert(omap.end(), static_cast<size_t>(count), static_cast<double>(target));
    }
    void end_offset() { starts.push_back(static_cast<double>(imap.size())); }

    TensorProductMaps maps(int64_t input_rows, int64_t output_rows) const {
        const auto tensor = [](const std::vector<double> &values) {
            return host_tensor({static_cast<int64_t>(values.size())}, DataType::s32, values);
        };
        return {tensor(imap), tensor(omap), input_rows, output_rows, tensor(starts)};
    }
};

class LongPairs : public testing::TestWithParam<DataType> {};

// Large terms, then those of which 256 are less than half an ulp of their sum.
TEST_P(LongPairs, KeepWhatALargeSumWouldLose) {
    constexpr int64_t kLarge = 65536, kSmall = 4000000;
    const double large = std::ldexp(1, -4), tiny = std::ldexp(0.9375, -20);
    PairLists pairs;
    pairs.add(kLarge, 0);
    pairs.add(kSmall, 1);
    pairs.end_offset();
    const Tensor gradient({1, 1, 1}, GetParam());
    tensor_product_backward_weight(host_tensor({2, 1}, GetParam(), {large, tiny}),
                                   host_tensor({1, 1}, GetParam(), {1}), pairs.maps(2, 1),
                                   gradient);
    expect_near(name_of(GetParam()), gradient, {kLarge * large + kSmall * tiny},
                kBound + half_ulp(GetParam()));
}

// The same, of channels; on GPUs added atomically too.
TEST_P(LongPairs, OfManyChannelsKeepWhatALargeSumWouldLose) {
    constexpr int64_t kLarge = 4096, kSmall = 60000, kChannels = kLarge + kSmall;
    const double large = std::ldexp(1, -4), tiny = std::ldexp(0.9375, -17);
    const int64_t parts = GetParam() == DataType::bf16 ? kChannels >> 16 : kChannels / 7168;
    PairLists pairs;
    pairs.add(1, 0);
    pairs.end_offset();
    std::vector<double> terms(kChannels, tiny);
    std::fill_n(terms.begin(), kLarge, large);
    for (const Device device : Device::all()) {
        const Tensor input = host_tensor({1, kChannels}, GetParam(), terms).to(device);
        const Tensor ones =
            host_tensor({1, kChannels, 1}, GetParam(), std::vector<double>(kChannels, 1))
                .to(device);
        for (const Summation summation : {Summation::deterministic, Summation::atomic}) {
            const Tensor output({1, 1}, GetParam(), device);
            tensor_product(input, ones, pairs.maps(1, 1), output, {.summation = summation});
            expect_near(device.name(), output, {kLarge * large + kSmall * tiny},
                        kBound + static_cast<double>(parts + 1) * half_ulp(GetParam()));
        }
    }
}

// More sums than memory is for: one offset with many pairs, of as many offsets as fill it.
class LongPairsOnADevice : public LongPairs {};
TEST_P(LongPairsOnADevice, KeepWhatALargeSumWouldLose) {
    constexpr int64_t kLarge = 4096, kSmall = 60000, kOffsets = 255, kChannels = 128;
    const double large = std::ldexp(1, -4), tiny = std::ldexp(0.9375, -17);
    PairLists pairs;
    pairs.add(kLarge, 0);
    pairs.add(kSmall, 1);
    pairs.end_offset();
    for (int64_t n = 1; n < kOffsets; n++) {
        pairs.add(1, 0);
        pairs.end_offset();
    }
    std::vector<double> rows(2 * kChannels, large);
    std::fill_n(rows.begin() + kChannels, kChannels, tiny);
    const Shape shape = {kOffsets, kChannels, kChannels};
    std::vector<double> wanted(kOffsets * kChannels * kChannels, large);
    std::fill_n(wanted.begin(), kChannels * kChannels, kLarge * large + kSmall * tiny);
    for (const Device device : devices_of(DeviceType::opencl)) {
        const Tensor input = host_tensor({2, kChannels}, GetParam(), rows).to(device);
        const Tensor ones =
            host_tensor({1, kChannels}, GetParam(), std::vector<double>(kChannels, 1)).to(device);
        const Tensor gradient(shape, GetParam(), device);
        tensor_product_backward_weight(input, ones, pairs.maps(2, 1), gradient);
        expect_near(device.name(), gradient, wanted, kBound + 2 * half_ulp(GetParam()));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, LongPairs,
                         testing::Values(DataType::f32, DataType::f16, DataType::bf16),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Types, LongPairsOnADevice, testing::Values(DataType::f32, DataType::f16),
                         parameter_name);

// Sums that leave memory for one slice, of which an offset with a pair in each of many blocks of
// rows needs two.
TEST(LongSlices, AreAddedUpSliceAfterSlice) {
    constexpr int64_t kOffsets = 4096, kFilters = 512, kBlocks = 8000, kRows = kBlocks * 64;
    PairLists pairs;
    for (int64_t b = 0; b < kBlocks; b++) pairs.add(1, 0, b * 64);
    pairs.end_offset();
    for (int64_t n = 1; n < kOffsets; n++) {
        pairs.add(1, 0, kRows - 1);
        pairs.end_offset();
    }
    const Tensor row = host_tensor({1, kFilters}, DataType::f32, std::vector<double>(kFilters, 3));
    std::vector<double> wanted(kOffsets * kFilters, 4);
    std::fill_n(wanted.begin(), kFilters, 3 * kBlocks + 1);
    const Tensor gradient({kOffsets, 1, kFilters}, DataType::f32);
    gradient.fill(1);
    tensor_product_backward_weight(host_tensor({1, 1}, DataType::f32, {1}),
                                   repeated(row, {kRows, kFilters}), pairs.maps(1, kRows), gradient,
                                   {.accumulate = true});
    expect_near("cpu", gradient, wanted, 0);
}

}  // namespace
}  // namespace hk::test
