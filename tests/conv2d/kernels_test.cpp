// Does the shipped library work: every row of the table on random problems that meet its
// conditions, and hk::conv2d with the rows that selection takes, on every device that is here.

#include "hk/conv2d.h"
#include "tests/conv2d/case.h"
#include "tests/convolution/layout_test.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// 3 types times 110 problems: more than 300 a layout and device.
constexpr int problems = 110;

class Conv2d : public LayoutTest {
protected:
    void SetUp() override { need(std::get<0>(GetParam()), conv2d_kernels()); }
};

TEST_P(Conv2d, MatchesTheReferenceOnRandomProblems) { check_problems<Conv2dCase>(problems); }
TEST_P(Conv2d, RunsInTwoThreadsAtOnce) { check_threads<Conv2dCase>(); }
INSTANTIATE_TEST_SUITE_P(All, Conv2d, layout_tests(), parameter_name);

// Padding on one side is another problem than the same on both: rows know where the left edge is.
TEST(Conv2dPadding, OfEachSideCounts) {
    for (const Padding &padding : {Padding{1, 1, 1, 1}, {1, 1, 2, 0}, {1, 1, 0, 2}, {2, 0, 1, 1}}) {
        Conv2dCase c;
        c.problem.channels = c.problem.filters = c.problem.options.groups = 16;
        c.problem.height = c.problem.width = 7;
        c.problem.kernel_height = c.problem.kernel_width = 3;
        c.problem.options.padding = padding;
        check(c, Device::cpu());
    }
}

// Rows of pixels that lie next to each other are copied as one.
TEST(Conv2dPicture, PixelsMayLieApart) {
    Random random(7);
    const Shape rgba{2, 19, 37, 4};
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        const Tensor weight =
            host_tensor({24, 3, 3, 3}, type, whole_numbers(random, {24, 3, 3, 3}, -3, 3));
        const Tensor apart =
            host_tensor(rgba, type, whole_numbers(random, rgba, -3, 3)).slice(3, 0, 3);
        for (const int64_t stride : {1, 2}) {
            Conv2dOptions options;
            options.padding = {1, 2, 2, 1};
            options.stride = {stride, stride};
            EXPECT_EQ(reference::read(conv2d(apart, weight, {}, {}, options)),
                      reference::read(conv2d(apart.to(Device::cpu()), weight, {}, {}, options)))
                << name_of(type) << " stride " << stride;
        }
    }
}

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
