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
    expect_other_layouts_refused<Conv2dCase>(conv2d_kernels());
}

INSTANTIATE_TEST_SUITE_P(Table, Conv2dRow, testing::ValuesIn(conv2d_kernels()), parameter_name);

}  // namespace
}  // namespace hk::test
