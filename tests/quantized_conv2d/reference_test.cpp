// Is the definition ONNX's: the reference against DequantizeLinear followed by Conv. (tests/onnx
// has QLinearConv and ConvInteger.)

#include "tests/quantized_conv2d/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/quantized_conv2d/check.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr int cases = 60;

// Calls visit(case, operands, result) on random cases with one of these outputs and no activation,
// which ONNX's operators don't have.
template<typename Wanted, typename Visit>
void for_each_case(DataType type, Layout layout, Wanted wanted, Visit visit) {
    int visited = 0;
    for (auto &c : random_cases<QuantizedConv2dCase>(40 * cases, {type, layout, {}, {}, 2e4})) {
        c.problem.options.activation = Activation::none;
        if (!wanted(c)) {
            continue;
        }
        SCOPED_TRACE(to_string(c) + "\nrepeat  " + repeat_command(c.seed));
        const QuantizedConv2dOperands operands = quantized_conv2d_operands(c);
        const QuantizedHostTensors t(c, operands);
        visit(c, operands, t,
              reference::quantized_conv2d(t.input, t.weight, t.bias, t.output, c.problem.options));
        if (testing::Test::HasFailure() || ++visited == cases) {
            return;
        }
    }
    EXPECT_TRUE(visited == cases || std::getenv("HK_SEED")) << visited;
}

// Of packed elements: (x - zero point) * scale, `scales` one for all or one for each slice of the
// outermost dimension.
Tensor dequantize_linear(const Tensor &x, const std::vector<float> &scales, int32_t zero_point) {
    std::vector<double> values = reference::read(x);
    const size_t slice = values.size() / scales.size();
    for (size_t i = 0; i < values.size(); i++)
        values[i] = (values[i] - zero_point) * scales[i / slice];
    return host_tensor(x.shape(), DataType::f32, values);
}

class QuantizedConv2dReference : public testing::TestWithParam<Layout> {};

// In exact arithmetic they are equal; here the dequantised numbers are rounded to f32.
TEST_P(QuantizedConv2dReference, IsDequantizeLinearAndConv) {
    for (const DataType type : {DataType::u8, DataType::f32}) {
        const auto wanted = [](const QuantizedConv2dCase &c) {
            return c.output_type == DataType::f32;
        };
        for_each_case(
            type, GetParam(), wanted,
            [](const auto &c, const auto &operands, const auto &t, const auto &result) {
                const Tensor x = c.integer() ? dequantize_linear(t.input.values, {c.input_scale},
                                                                 c.input_zero_point)
                                             : t.input.values;
                const Tensor w =
                    dequantize_linear(t.weight.values, operands.weight_scales, c.weight_zero_point);
                Tensor b = t.bias.values;
                if (t.bias.quantization.defined()) {
                    b = dequantize_linear(b, operands.bias_scales, c.bias_zero_point);
                } else if (c.bias == QuantizedBias::sum_s32) {
                    std::vector<float> scales = operands.weight_scales;
                    for (float &scale : scales) scale *= c.input_scale;
                    b = dequantize_linear(b, scales, 0);
                }
                const auto onnx = reference::conv2d(x, w, b, {}, c.problem.options);
                for (size_t i = 0; i < onnx.value.size(); i++) {
                    const double bound =
                        reference::tolerance(DataType::f32, 4, onnx.value[i], onnx.magnitude[i],
                                             reference::activation_in(c.problem.options));
                    ASSERT_NEAR(result.value[i], onnx.value[i], bound)
                        << name_of_place(c.problem, i);
                    ASSERT_NEAR(result.separate[i], onnx.value[i], 2 * bound)
                        << name_of_place(c.problem, i);
                }
            });
    }
}

TEST(QuantizedStored, RoundsHalfToEvenAndSaturates) {
    EXPECT_EQ(reference::stored(0.5, DataType::u8, 10), 10);
    EXPECT_EQ(reference::stored(1.5, DataType::u8, 10), 12);
    EXPECT_EQ(reference::stored(-2.5, DataType::s8, 1), -1);
    EXPECT_EQ(reference::stored(300, DataType::u8, 0), 255);
    EXPECT_EQ(reference::stored(-1, DataType::u8, 0), 0);
    EXPECT_EQ(reference::stored(127, DataType::s8, 1), 127);
    EXPECT_EQ(reference::wrapped(2147483648.), -2147483648.);
}

INSTANTIATE_TEST_SUITE_P(Layouts, QuantizedConv2dReference,
                         testing::Values(Layout::nhwc, Layout::nchw),
                         [](const auto &info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace hk::test
