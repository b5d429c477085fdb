// Does a schedule change the result: each CPU row's schedule, with the sizes and knobs of the row,
// against root, on small odd shapes. (GPU schedules run through OpenCL, in tests/kernels.)

#include <gtest/gtest.h>

#include "tests/reference/elements.h"
#include "tests/support/jit_conv2d.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

std::vector<KernelInfo> rows() {
    std::vector<KernelInfo> result;
    for (const KernelInfo &kernel : conv2d_kernels()) {
        if (kernel.device == DeviceType::cpu && kernel.type == DataType::f32) {
            result.push_back(kernel);
        }
    }
    return result;
}

class Conv2dSchedule : public testing::TestWithParam<KernelInfo> {};

TEST_P(Conv2dSchedule, GivesWhatRootGives) {
    const KernelInfo &row = GetParam();
    const JitAlgorithm algorithm = jit_algorithm(row);
    const JitConv2d root(algorithm, "root", "", row.type, row.layout);
    const JitConv2d scheduled(algorithm, row.schedule, row.knobs, row.type, row.layout);
    const auto cases =
        random_cases<Conv2dCase>(40, {row.type, row.layout, Data::integers, algorithm.where, 5e4});
    EXPECT_FALSE(cases.empty());
    for (const Conv2dCase &c : cases) {
        const Conv2dOperands operands = conv2d_operands(c);
        // Integers: the order of the sum, which schedules may change, makes no difference.
        ASSERT_EQ(reference::read(scheduled(c, operands)), reference::read(root(c, operands)))
            << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Conv2dSchedule, testing::ValuesIn(rows()),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
