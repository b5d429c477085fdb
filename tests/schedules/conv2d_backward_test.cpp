// Does a schedule change the result: each CPU row's schedule, with the sizes and knobs of the row,
// against root, on small odd shapes. (GPU schedules run through OpenCL, in tests/kernels.)

#include <gtest/gtest.h>

#include "tests/reference/elements.h"
#include "tests/support/conv2d_backward_check.h"
#include "tests/support/jit_conv2d_backward.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

std::vector<KernelInfo> rows(Pass pass) {
    std::vector<KernelInfo> result;
    for (const KernelInfo &kernel : rows_of(pass)) {
        if (kernel.device == DeviceType::cpu && kernel.type == DataType::f32) {
            result.push_back(kernel);
        }
    }
    return result;
}

template<typename Case>
void compare_with_root(const KernelInfo &row) {
    const Pass pass = Case().pass;
    const JitAlgorithm algorithm = jit_algorithm(row);
    const JitConv2dBackward root(pass, algorithm, "root", "", row.type, row.layout);
    const JitConv2dBackward scheduled(pass, algorithm, row.schedule, row.knobs, row.type,
                                      row.layout);
    const auto cases =
        random_cases<Case>(40, {row.type, row.layout, Data::integers, algorithm.where, 5e4});
    EXPECT_FALSE(cases.empty());
    for (const Case &c : cases) {
        const BackwardOperands operands = backward_operands(c);
        // Integers: the order of the sum, which schedules may change, makes no difference.
        ASSERT_EQ(reference::read(scheduled(c, operands)), reference::read(root(c, operands)))
            << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
    }
}

class BackwardDataSchedule : public testing::TestWithParam<KernelInfo> {};
class BackwardWeightSchedule : public testing::TestWithParam<KernelInfo> {};
class BackwardBiasSchedule : public testing::TestWithParam<KernelInfo> {};

TEST_P(BackwardDataSchedule, GivesWhatRootGives) {
    compare_with_root<BackwardDataCase>(GetParam());
}
TEST_P(BackwardWeightSchedule, GivesWhatRootGives) {
    compare_with_root<BackwardWeightCase>(GetParam());
}
TEST_P(BackwardBiasSchedule, GivesWhatRootGives) {
    compare_with_root<BackwardBiasCase>(GetParam());
}

std::string name(const testing::TestParamInfo<KernelInfo> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Table, BackwardDataSchedule, testing::ValuesIn(rows(Pass::data)), name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardWeightSchedule, testing::ValuesIn(rows(Pass::weight)),
                         name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardBiasSchedule, testing::ValuesIn(rows(Pass::bias)), name);

}  // namespace
}  // namespace hk::test
