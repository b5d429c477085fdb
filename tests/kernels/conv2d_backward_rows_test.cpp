// Do the shipped objects work: every row of the three families, on every device that it runs on
// here, on random problems that meet its conditions.

#include "tests/kernels/family.h"
#include "tests/support/conv2d_backward_check.h"

namespace hk::test {
namespace {

// What PoCL runs of a GPU schedule in the time of a test.
double operations_of(const KernelInfo &kernel) {
    return kernel.device == DeviceType::opencl ? 4e5 : 2e6;
}

template<typename Case>
class Row : public testing::TestWithParam<KernelInfo> {
protected:
    void SetUp() override {
        devices_ = devices_of(GetParam().device);
        if (devices_.empty()) {
            GTEST_SKIP() << "no " << name_of(GetParam().device) << " device";
        }
    }

    void check_row(Data data, int problems) {
        const KernelInfo &row = GetParam();
        const Conv2dRequest request{row.type, row.layout, data, row.where, operations_of(row)};
        for (const Device device : devices_) {
            test::check_row<Case>(row, device, request, problems);
        }
    }

    void check_all() {
        check_row(Data::integers, 24);
        check_row(Data::reals, 12);
        check_row(Data::one_nan, 4);
        check_row(Data::one_infinity, 3);
    }

    std::vector<Device> devices_;
};

using BackwardDataRow = Row<BackwardDataCase>;
using BackwardWeightRow = Row<BackwardWeightCase>;
using BackwardBiasRow = Row<BackwardBiasCase>;

TEST_P(BackwardDataRow, IsTheGradient) { check_all(); }
TEST_P(BackwardWeightRow, IsTheGradient) { check_all(); }
TEST_P(BackwardBiasRow, IsTheGradient) { check_all(); }

template<typename Case>
void expect_refusals() {
    for (const KernelInfo &kernel : rows_of(Case().pass)) {
        const Layout other = kernel.layout == Layout::nhwc ? Layout::nchw : Layout::nhwc;
        const auto c = random_case<Case>(1, {kernel.type, other, Data::integers, {}, 1e5});
        ASSERT_TRUE(c);
        for (const Device device : devices_of(kernel.device)) {
            EXPECT_EQ(check(*c, device, &kernel), Outcome::refused) << kernel.name;
        }
    }
}

TEST(BackwardRows, RefuseTheOtherLayout) {
    expect_refusals<BackwardDataCase>();
    expect_refusals<BackwardWeightCase>();
    expect_refusals<BackwardBiasCase>();
}

std::string name(const testing::TestParamInfo<KernelInfo> &info) { return info.param.name; }

std::vector<KernelInfo> all(Pass pass) { return {rows_of(pass).begin(), rows_of(pass).end()}; }

INSTANTIATE_TEST_SUITE_P(Table, BackwardDataRow, testing::ValuesIn(all(Pass::data)), name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardWeightRow, testing::ValuesIn(all(Pass::weight)), name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardBiasRow, testing::ValuesIn(all(Pass::bias)), name);

}  // namespace
}  // namespace hk::test
