// A prepared filter: what it keeps, and that the calls that share it give what a plain weight
// gives. (The random problems of the other tests have both.)

#include <gtest/gtest.h>

#include <thread>

#include "hk/conv2d.h"
#include "hk/error.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

Tensor whole(const Shape &shape, DataType type = DataType::f32) {
    Random random(7);
    return host_tensor(shape, type, whole_numbers(random, shape, -3, 3));
}

Conv2dOptions same_3x3(int64_t groups = 1, Layout layout = Layout::nhwc) {
    Conv2dOptions options;
    options.direct = true;
    options.padding = {1, 1, 1, 1};
    options.groups = groups;
    options.layout = layout;
    return options;
}

std::vector<double> values(const Tensor &tensor) { return reference::read(tensor); }

TEST(PreparedFilter, KeepsOneCopyInVectors) {
    const Tensor input = whole({1, 9, 8, 5}), weight = whole({19, 3, 3, 5});
    const Filter filter = prepare_filter(weight);
    EXPECT_TRUE(filter.is_prepared());
    EXPECT_FALSE(Filter(weight).is_prepared());
    EXPECT_EQ(filter.bytes(), 0u);
    const std::vector<double> plain = values(conv2d(input, weight, {}, {}, same_3x3()));
    EXPECT_EQ(values(conv2d(input, filter, {}, {}, same_3x3())), plain);
    // 19 filters fill up to 32.
    EXPECT_EQ(filter.bytes(), 32u * 3 * 3 * 5 * 4);
    const Filter copy = filter;
    EXPECT_EQ(values(conv2d(input, copy, {}, {}, same_3x3())), plain);
    EXPECT_EQ(copy.bytes(), 32u * 3 * 3 * 5 * 4);
}

TEST(PreparedFilter, DepthwiseKeepsGroupsNextToEachOther) {
    for (const DataType type : {DataType::f32, DataType::bf16}) {
        const Tensor input = whole({1, 9, 8, 37}, type), weight = whole({37, 3, 3, 1}, type);
        const Filter filter = prepare_filter(weight);
        EXPECT_EQ(values(conv2d(input, filter, {}, {}, same_3x3(37))),
                  values(conv2d(input, weight, {}, {}, same_3x3(37))));
        EXPECT_EQ(filter.bytes(), 37 * 9 * size_of(type));
    }
}

TEST(PreparedFilter, ServesOtherGroupsAndLayouts) {
    // One tensor, read as 4x4 filters of 4 channels in either layout.
    const Tensor weight = whole({32, 4, 4, 4});
    const Filter filter = prepare_filter(weight);
    for (const int64_t groups : {1, 2, 8}) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            const int64_t channels = 4 * groups;
            const Tensor input =
                whole(layout == Layout::nhwc ? Shape{2, 9, 8, channels} : Shape{2, channels, 9, 8});
            const Conv2dOptions options = same_3x3(groups, layout);
            EXPECT_EQ(values(conv2d(input, filter, {}, {}, options)),
                      values(conv2d(input, weight, {}, {}, options)))
                << groups << " " << name_of(layout);
        }
    }
}

// Of an image as large as the filter taps are channels, of a larger one they are not.
TEST(PreparedFilter, ServesImagesOfItsOwnSizeAndLarger) {
    const Tensor weight = whole({20, 4, 3, 8});
    const Filter filter = prepare_filter(weight);
    for (const auto &[height, width] : {std::pair{4, 3}, {5, 3}, {4, 5}, {4, 3}}) {
        const Tensor input = whole({2, height, width, 8});
        EXPECT_EQ(values(conv2d(input, filter, {}, {}, {})), values(conv2d(input, weight)))
            << height << " " << width;
    }
}

TEST(PreparedFilter, KeepsTheWeightAlive) {
    const Tensor input = whole({1, 9, 8, 5});
    std::vector<double> expected;
    Filter filter = prepare_filter(whole({4, 3, 3, 5}));
    {
        const Tensor weight = whole({4, 3, 3, 5});
        expected = values(conv2d(input, weight, {}, {}, same_3x3()));
        filter = prepare_filter(weight);
    }
    EXPECT_EQ(values(conv2d(input, filter, {}, {}, same_3x3())), expected);
}

TEST(PreparedFilter, TakesViews) {
    const Tensor input = whole({1, 9, 8, 5}), all = whole({19, 3, 3, 11});
    const Tensor weight = all.slice(3, 2, 5);
    EXPECT_EQ(values(conv2d(input, prepare_filter(weight), {}, {}, same_3x3())),
              values(conv2d(input, weight.to(Device::cpu()), {}, {}, same_3x3())));
    const Tensor wide = whole({1, 9, 8, 19}), one = all.slice(3, 3, 1);
    EXPECT_EQ(values(conv2d(wide, prepare_filter(one), {}, {}, same_3x3(19))),
              values(conv2d(wide, one.to(Device::cpu()), {}, {}, same_3x3(19))));
}

TEST(PreparedFilter, IsSharedByThreads) {
    const Tensor input = whole({1, 9, 8, 64}), weight = whole({64, 3, 3, 64});
    const std::vector<double> expected = values(conv2d(input, weight, {}, {}, same_3x3()));
    const Filter filter = prepare_filter(weight);
    std::vector<std::vector<double>> got(4);
    std::vector<std::thread> threads;
    for (std::vector<double> &result : got)
        threads.emplace_back([&] { result = values(conv2d(input, filter, {}, {}, same_3x3())); });
    for (std::thread &thread : threads) thread.join();
    for (const std::vector<double> &result : got) EXPECT_EQ(result, expected);
    EXPECT_EQ(filter.bytes(), 64u * 3 * 3 * 64 * 4);
}

// Both forms beside each other: each call reads its own.
TEST(PreparedFilter, KeepsOneCopyForWinograd) {
    const Tensor input = whole({1, 32, 32, 16}), weight = whole({28, 3, 3, 16});
    const Filter filter = prepare_filter(weight);
    Conv2dOptions options = same_3x3();
    options.direct = false;
    const auto expected = reference::bits(conv2d(input, weight, {}, {}, options));
    EXPECT_EQ(reference::bits(conv2d(input, filter, {}, {}, options)), expected);
    EXPECT_EQ(filter.bytes(), 32u * 6 * 6 * 16 * 4);
    EXPECT_EQ(values(conv2d(input, filter, {}, {}, same_3x3())),
              values(conv2d(input, weight, {}, {}, same_3x3())));
    EXPECT_EQ(filter.bytes(), 32u * (6 * 6 + 3 * 3) * 16 * 4);
    EXPECT_EQ(reference::bits(conv2d(input, filter, {}, {}, options)), expected);
    EXPECT_EQ(filter.bytes(), 32u * (6 * 6 + 3 * 3) * 16 * 4);
}

TEST(PreparedFilter, IsTheWeightOnADevice) {
    for (const Device device : Device::all()) {
        if (device.is_cpu()) continue;
        const Tensor input = whole({1, 9, 8, 5}), weight = whole({19, 3, 3, 5});
        const Filter filter = prepare_filter(weight.to(device));
        EXPECT_EQ(values(conv2d(input.to(device), filter, {}, {}, same_3x3()).to(Device::cpu())),
                  values(conv2d(input, weight, {}, {}, same_3x3())));
        EXPECT_EQ(filter.bytes(), 0u);
    }
}

TEST(PreparedFilter, IsCheckedAsAWeight) {
    const Tensor input = whole({1, 9, 8, 5});
    EXPECT_THROW(conv2d(input, prepare_filter(Tensor()), {}, {}, same_3x3()), InvalidArgument);
    EXPECT_THROW(conv2d(input, prepare_filter(whole({4, 3, 3, 6})), {}, {}, same_3x3()),
                 InvalidArgument);
}

// Rows that read a weight as it is are for those that change.
TEST(PreparedFilter, IsLeftOutByRowsOfPlainOnes) {
    Conv2dProblem problem;
    problem.channels = problem.filters = 512;
    problem.height = problem.width = 2;
    const DeviceLimits limits = Device::cpu().limits();
    const auto algorithm = [&] {
        return std::string(select_conv2d(problem, DeviceType::cpu, limits).kernel->algorithm);
    };
    EXPECT_EQ(algorithm(), "dot");
    problem.prepared_filter = true;
    EXPECT_EQ(algorithm(), "packed");
}

}  // namespace
}  // namespace hk::test
