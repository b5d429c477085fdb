// Does the shipped object work: every row of the table, on every device that it runs on here, on
// random problems that meet its conditions.

#include "tests/conv2d/check.h"
#include "tests/convolution/layout_test.h"

namespace hk::test {
namespace {

using Conv2dRow = LayoutRowTest<Conv2dCase>;

TEST_P(Conv2dRow, IsExactOnIntegers) { check_row(Data::integers, 24); }

TEST_P(Conv2dRow, IsCloseOnReals) { check_row(Data::reals, 12); }

TEST_P(Conv2dRow, PassesOnNanAndInfinity) {
    check_row(Data::one_nan, 4);
    check_row(Data::one_infinity, 3);
}

TEST(Conv2dRows, RefuseTheOtherLayout) {
    for (const KernelInfo &kernel : conv2d_kernels()) {
        const Layout other = kernel.layout == Layout::nhwc ? Layout::nchw : Layout::nhwc;
        const auto c = random_case<Conv2dCase>(1, {kernel.type, other, Data::integers, {}, 1e5});
        ASSERT_TRUE(c);
        for (const Device device : devices_of(kernel.device)) {
            EXPECT_EQ(check(*c, device, &kernel), Outcome::refused) << kernel.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Conv2dRow,
                         testing::ValuesIn(conv2d_kernels().begin(), conv2d_kernels().end()),
                         parameter_name);

}  // namespace
}  // namespace hk::test
