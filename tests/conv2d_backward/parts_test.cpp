// The gradient of a filter in few and in many parts, on tensor cores.

#include <array>

#include "tests/conv2d_backward/case.h"
#include "tests/kernels/long_sums.h"

namespace hk::test {
namespace {

// Few and many parts are added up by kernels of their own; taps end within tiles and with them.
TEST(WeightParts, AreTheReferenceInFewAndManyParts) {
    int seed = 0;
    for (const Device device : devices_of(DeviceType::cuda)) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
                for (const auto &[size, filters, channels] :
                     {std::array{9, 24, 40}, {36, 24, 40}, {36, 48, 64}, {20, 136, 24}}) {
                    BackwardWeightCase c;
                    Conv2dOptions options;
                    options.padding = {1, 1, 1, 1};
                    options.layout = layout;
                    options.allow_tf32 = true;
                    const bool nhwc = layout == Layout::nhwc;
                    const Shape image =
                        nhwc ? Shape{1, size, size, channels} : Shape{1, channels, size, size};
                    const Shape filter =
                        nhwc ? Shape{filters, 3, 3, channels} : Shape{filters, channels, 3, 3};
                    c.problem = Conv2dProblem::from_shapes(image, filter, type, options);
                    c.seed = seed++;
                    c.accumulate = seed % 2 == 0;
                    EXPECT_EQ(check(c, device), Outcome::passed);
                }
            }
        }
    }
}

}  // namespace
}  // namespace hk::test
