// The random problems reach what they are meant to reach, and the comparison finds what is wrong.

#include "tests/quantized_conv2d/case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/reference/elements.h"
#include "tests/quantized_conv2d/reference.h"
#include "tests/quantized_conv2d/check.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

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
