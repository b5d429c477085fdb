// Does the shipped library work: every row of the table on random problems that meet its
// conditions, and hk::quantized_conv2d with the rows that selection takes, on every device that is
// here.

#include "tests/convolution/layout_test.h"
#include "tests/quantized_conv2d/check.h"

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
TEST_P(QuantizedConv2dRow, IsExactOnIntegers) { check_row(Data::integers, 24); }

TEST_P(QuantizedConv2dRow, IsCloseOnReals) {
    if (GetParam().type == DataType::f32) {
        check_row(Data::reals, 12);
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

}  // namespace
}  // namespace hk::test
