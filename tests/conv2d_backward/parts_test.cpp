// The gradient of a filter in few and in many parts, on tensor cores and of depthwise filters.

#include <array>

#include "tests/conv2d_backward/case.h"
#include "tests/kernels/long_sums.h"

namespace hk::test {
namespace {

// `image`: [N, H, W, C], whatever the layout.
Conv2dProblem of_3x3(const Shape &image, int64_t filters, DataType type, Conv2dOptions options) {
    options.padding = {1, 1, 1, 1};
    const int64_t channels = image[3] / options.groups;
    if (options.layout == Layout::nhwc)
        return Conv2dProblem::from_shapes(image, {filters, 3, 3, channels}, type, options);
    return Conv2dProblem::from_shapes({image[0], image[3], image[1], image[2]},
                                      {filters, channels, 3, 3}, type, options);
}

// Few and many parts are added up by kernels of their own; taps end within tiles and with them.
TEST(WeightParts, AreTheReferenceInFewAndManyParts) {
    int seed = 0;
    for (const Device device : devices_of(DeviceType::cuda)) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
                for (const auto &[size, filters, channels] :
                     {std::array{9, 24, 40}, {36, 24, 40}, {36, 48, 64}, {20, 136, 24}}) {
                    Conv2dOptions options;
                    options.layout = layout;
                    options.allow_tf32 = true;
                    BackwardWeightCase c;
                    c.problem = of_3x3({1, size, size, channels}, filters, type, options);
                    c.seed = seed++;
                    c.accumulate = seed % 2 == 0;
                    EXPECT_EQ(check(c, device), Outcome::passed);
                }
            }
        }
    }
}

// Parts of columns, of rows and of images, of one block and of several, the last one of fewer.
TEST(WeightParts, OfDepthwiseFiltersAreTheReference) {
    int seed = 0;
    for (const Device device : devices_of(DeviceType::cuda)) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            for (const auto &[images, height, width, groups] : {std::array{3, 20, 70, 40},
                                                                {1, 280, 9, 512},
                                                                {40, 9, 9, 512},
                                                                {1, 8, 300, 1024}}) {
                Conv2dOptions options;
                options.layout = layout;
                options.groups = groups;
                BackwardWeightCase c;
                c.problem = of_3x3({images, height, width, groups}, groups, DataType::f32, options);
                c.input = c.weight = Placement::aligned;
                c.seed = seed++;
                c.accumulate = seed % 2 == 0;
                EXPECT_EQ(check(c, device), Outcome::passed);
                const Selection taken =
                    select_conv2d_backward_weight(c.problem, device.type(), device.limits());
                EXPECT_STREQ(taken.kernel->algorithm, "depthwise_row_sums");
            }
        }
    }
}

// Others have rows that refuse images which begin anywhere, and groups that are no whole vectors.
TEST(WeightParts, OfDepthwiseFiltersTakeImagesAnywhere) {
    for (const Device device : devices_of(DeviceType::cuda)) {
        for (const int groups : {16, 20}) {
            BackwardWeightCase c;
            Conv2dOptions options;
            options.groups = groups;
            c.problem = Conv2dProblem::from_shapes({2, 9, 9, groups}, {groups, 3, 3, 1},
                                                   DataType::f32, options);
            c.input = c.weight = Placement::margins;
            EXPECT_EQ(check(c, device), Outcome::passed);
        }
    }
}

}  // namespace
}  // namespace hk::test
