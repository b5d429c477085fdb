// Is the definition ONNX's: the reference against DequantizeLinear followed by Conv. (tests/onnx
// has QLinearConv and ConvInteger.) Do the random problems reach what they are meant to reach, and
// does the comparison find what is wrong.

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "tests/quantized_conv2d/case.h"
#include "tests/quantized_conv2d/check.h"
#include "tests/quantized_conv2d/reference.h"
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

std::vector<QuantizedConv2dCase> many(DataType type, std::span<const Constraint> where = {}) {
    return random_cases<QuantizedConv2dCase>(250, {type, Layout::nhwc, {}, where, 5e4});
}

TEST(QuantizedConv2dCase, CoversTheKindsOfQuantisation) {
    std::map<std::string, int> seen;
    for (const QuantizedConv2dCase &c : many(DataType::u8)) {
        const bool u8 = c.problem.type == DataType::u8;
        seen["input u8"] += u8;
        seen["input s8"] += !u8;
        seen["input zero point 0"] += u8 && c.input_zero_point == 0;
        seen["input zero point 255"] += c.input_zero_point == 255;
        seen["input zero point -128"] += c.input_zero_point == -128;
        seen["input zero point 127"] += !u8 && c.input_zero_point == 127;
        seen["weight zero point 0"] += c.weight_zero_point == 0;
        seen["weight zero point -128"] += c.weight_zero_point == -128;
        seen["weight zero point 127"] += c.weight_zero_point == 127;
        seen["a scale of each filter"] += c.scale_per_filter;
        seen["one scale"] += !c.scale_per_filter;
        seen["bias " + std::to_string(static_cast<int>(c.bias))]++;
        seen["output " + std::string(hk::name_of(c.output_type))]++;
        seen["activation " + std::string(hk::name_of(c.problem.options.activation))]++;
        seen["bytes " + std::to_string(static_cast<int>(c.stored))]++;
        seen["padded, zero point not 0"] += c.problem.options.padding.top && c.input_zero_point;
    }
    EXPECT_EQ(seen.size(), 12u + 3 + 5 + 4 + 4) << "3 of bytes, 5 biases, 4 outputs, 4 activations";
    for (const auto &[kind, times] : seen) {
        EXPECT_GE(times, 3) << kind;
    }
}

struct Computed {
    QuantizedConv2dCase c;
    QuantizedHostTensors tensors;
    reference::QuantizedConv2dResult result;
};

Computed computed(const QuantizedConv2dCase &c) {
    const QuantizedHostTensors t(c, quantized_conv2d_operands(c));
    return {c, t,
            reference::quantized_conv2d(t.input, t.weight, t.bias, t.output, c.problem.options)};
}

TEST(QuantizedConv2dCase, SpreadsOutputsOverTheRange) {
    const Constraint bytes{"output_bytes", Constraint::Relation::equal, 1};
    for (const DataType type : {DataType::u8, DataType::f32}) {
        int spread = 0, saturating = 0, halfway = 0;
        for (const QuantizedConv2dCase &c : many(type, {&bytes, 1})) {
            const Computed made = computed(c);
            std::map<double, int> values;
            for (const float v : made.result.fused) {
                // To even and upwards differ from half an even number.
                halfway += std::abs(v) < 100 && std::remainder(v, 2) == 0.5;
                values[reference::stored(v, c.output_type, c.output_zero_point)]++;
            }
            const double least = c.output_type == DataType::u8 ? 0 : -128;
            spread += values.size() > 8;
            saturating += values.contains(least) || values.contains(least + 255);
        }
        EXPECT_GE(halfway, 100) << name_of(type);
        EXPECT_GE(spread, 100) << name_of(type);
        EXPECT_GE(saturating, 50) << name_of(type);
        EXPECT_LE(saturating, 220) << name_of(type);
    }
}

// An output as the definition has it passes; one unit more in one place does not.
TEST(QuantizedConv2dCheck, FindsOneUnit) {
    for (const DataType type : {DataType::u8, DataType::f32}) {
        for (QuantizedConv2dCase c : many(type)) {
            c.problem.batch = 1;
            c.problem.options.layout = Layout::nhwc;
            const Computed made = computed(c);
            std::vector<double> values;
            for (size_t i = 0; i < made.result.value.size(); i++) {
                values.push_back(
                    c.output_type == DataType::s32 ? reference::wrapped(made.result.sum.value[i])
                    : c.requantized() ? reference::stored(made.result.fused[i], c.output_type,
                                                          c.output_zero_point)
                                      : made.result.fused[i]);
            }
            const auto faults = [&] {
                return compare(c, made.tensors,
                               host_tensor(c.problem.output_shape(), c.output_type, values));
            };
            ASSERT_EQ(faults(), "") << to_string(c);
            double &one = values[c.seed % values.size()];
            one += c.output_type == DataType::f32
                       ? 2e-6 * *std::ranges::max_element(made.result.magnitude) + 1e-30
                   : one > 0 ? -1
                             : 1;
            ASSERT_NE(faults(), "") << to_string(c);
        }
    }
}

}  // namespace
}  // namespace hk::test
