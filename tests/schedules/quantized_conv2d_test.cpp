// Does a schedule change the result: each CPU row's schedule, with the sizes and knobs of the row,
// against root, on small odd shapes. (GPU schedules run through OpenCL, in tests/kernels.)

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/reference/elements.h"
#include "tests/support/jit_quantized_conv2d.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

// A row without what it says of its output, which is made after the sum: for each tests/kernels has
// problems enough.
std::string apart_from_output(const KernelInfo &kernel) {
    std::ostringstream text;
    text << kernel.algorithm << ' ' << kernel.schedule << ' ' << kernel.knobs << ' '
         << name_of(kernel.layout);
    for (const Constraint &constraint : kernel.where) {
        if (std::string_view(constraint.field) != "output_bytes") {
            text << ' ' << constraint.field << static_cast<int>(constraint.relation)
                 << constraint.value;
        }
    }
    return text.str();
}

// The CPU rows for an input of bytes; of those that differ in their output alone the first.
std::vector<KernelInfo> rows() {
    std::set<std::string> seen;
    std::vector<KernelInfo> result;
    for (const KernelInfo &kernel : quantized_conv2d_kernels()) {
        if (kernel.device == DeviceType::cpu && kernel.type == DataType::u8 &&
            seen.insert(apart_from_output(kernel)).second) {
            result.push_back(kernel);
        }
    }
    return result;
}

// The same numbers; or, where a real bias is added, numbers that multiplying and adding in one
// rounding or in two both allow.
bool same(const QuantizedConv2dCase &c, const QuantizedHostTensors &tensors, const Tensor &result,
          const Tensor &root) {
    const bool offset = c.bias != QuantizedBias::none && c.bias != QuantizedBias::sum_s32;
    return reference::read(result) == reference::read(root) ||
           (offset && compare(c, tensors, result).empty());
}

class QuantizedConv2dSchedule : public testing::TestWithParam<KernelInfo> {};

TEST_P(QuantizedConv2dSchedule, GivesWhatRootGives) {
    const KernelInfo &row = GetParam();
    const JitAlgorithm algorithm = jit_algorithm(row);
    const JitQuantizedConv2d root(algorithm, "root", "", row.type, row.layout);
    const JitQuantizedConv2d scheduled(algorithm, row.schedule, row.knobs, row.type, row.layout);
    const auto cases = random_cases<QuantizedConv2dCase>(
        30, {row.type, row.layout, Data::integers, algorithm.where, 5e4});
    EXPECT_FALSE(cases.empty());
    for (const QuantizedConv2dCase &c : cases) {
        const QuantizedHostTensors tensors(c, quantized_conv2d_operands(c));
        const Tensor result = scheduled(c, tensors);
        ASSERT_TRUE(same(c, tensors, result, root(c, tensors)))
            << "against the reference: " << compare(c, tensors, result) << '\n'
            << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, QuantizedConv2dSchedule, testing::ValuesIn(rows()),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
