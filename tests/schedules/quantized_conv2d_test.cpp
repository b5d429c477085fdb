// Does a schedule change the result: each CPU row's schedule, with the sizes and knobs of the row,
// against root, on small odd shapes. (GPU schedules run through OpenCL, in tests/kernels.)

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/reference/elements.h"
#include "tests/support/jit_quantized_conv2d.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

bool is_output_bytes(const Constraint &constraint) {
    return std::string_view(constraint.field) == "output_bytes";
}

// A row without what it says of its output, which is made after the sum: for each tests/kernels has
// problems enough.
std::string apart_from_output(const KernelInfo &kernel) {
    std::ostringstream text;
    text << kernel.algorithm << ' ' << kernel.schedule << ' ' << kernel.knobs << ' '
         << name_of(kernel.type) << ' ' << name_of(kernel.layout);
    for (const Constraint &constraint : kernel.where) {
        if (!is_output_bytes(constraint)) {
            text << ' ' << constraint.field << static_cast<int>(constraint.relation)
                 << constraint.value;
        }
    }
    return text.str();
}

// The CPU rows; of those that differ in their output alone the one that makes bytes of bytes, or
// f32 of f32.
std::vector<KernelInfo> rows() {
    std::map<std::string, KernelInfo> chosen;
    for (const KernelInfo &kernel : quantized_conv2d_kernels()) {
        if (kernel.device != DeviceType::cpu) {
            continue;
        }
        const bool alike = std::ranges::any_of(kernel.where, [&](const Constraint &constraint) {
            return is_output_bytes(constraint) && constraint.value == size_of(kernel.type);
        });
        const std::string key = apart_from_output(kernel);
        if (alike || !chosen.contains(key)) {
            chosen[key] = kernel;
        }
    }
    std::vector<KernelInfo> result;
    for (const auto &[key, kernel] : chosen) {
        result.push_back(kernel);
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
    // Sums of integers are exact in f32 too: their order, which schedules may change, makes no
    // difference.
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
