// Does the shipped library work: hk::quantized_conv2d on random problems, on every device that is
// here, with the rows that selection takes.

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

}  // namespace
}  // namespace hk::test
