// Does a schedule change the result: each CPU row's schedule, with the sizes and knobs of the row,
// against root, on small odd shapes. (GPU schedules run through OpenCL, in tests/kernels.) And do
// GPU rows of bytes come to the instructions that they are made for?

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

// The PTX of a row of kernels.cmake.
std::string ptx_of(const KernelInfo &row) {
    const JitAlgorithm algorithm = jit_algorithm(row);
    Halide::GeneratorParamsMap parameters(algorithm.parameters.begin(), algorithm.parameters.end());
    parameters["schedule"] = row.schedule;
    parameters["knobs"] = row.knobs;
    parameters["type"] = "uint8";
    parameters["layout"] = name_of(row.layout);
    const Halide::Target target("host-cuda-cuda_capability_80-user_context-no_runtime");
    const auto generator = Halide::Internal::GeneratorRegistry::create(
        "quantized_conv2d", Halide::GeneratorContext(target));
    generator->set_generatorparam_values(parameters);
    const Halide::Buffer<> code = generator->build_module("kernel").get_device_code_buffer();
    return {static_cast<const char *>(code.data()), code.size_in_bytes()};
}

class QuantizedConv2dOnCuda : public testing::TestWithParam<KernelInfo> {};

// Tiles of bytes are multiplied four at a time and added to the sum by the same instruction: as
// many of them as a thread has sums, for each word and tap that are unrolled.
TEST_P(QuantizedConv2dOnCuda, MultipliesFourBytesAtATime) {
    const std::string code = ptx_of(GetParam());
    int found = 0;
    for (size_t at = 0; (at = code.find("dp4a.u32.s32", at)) != code.npos; at++) {
        found++;
        // dp4a d, a, b, c: c is a register, and not one that was just set to 0.
        const std::string line = code.substr(at, code.find('\n', at) - at);
        const size_t last = line.rfind('%');
        ASSERT_NE(last, line.npos) << line;
        const std::string addend = line.substr(last, line.find(';') - last);
        EXPECT_EQ(code.find("mov.b32 \t" + addend + ", 0;"), code.npos) << line;
        if (HasFailure()) return;
    }
    EXPECT_GE(found, 64);
    EXPECT_EQ(code.find("\tatom."), code.npos);
}

std::vector<KernelInfo> tiles_of_bytes() {
    std::vector<KernelInfo> result;
    for (const KernelInfo &kernel : quantized_conv2d_kernels()) {
        if (kernel.device == DeviceType::cuda && kernel.type == DataType::u8 &&
            std::string_view(kernel.schedule) == "gpu") {
            result.push_back(kernel);
        }
    }
    return result;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(QuantizedConv2dOnCuda);
INSTANTIATE_TEST_SUITE_P(Table, QuantizedConv2dOnCuda, testing::ValuesIn(tiles_of_bytes()),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
