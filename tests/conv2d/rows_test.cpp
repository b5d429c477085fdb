// Does the shipped object work: every row of the table, on every device that it runs on here, on
// random problems that meet its conditions.

#include "tests/kernels/family.h"
#include "tests/conv2d/check.h"

namespace hk::test {
namespace {

// What PoCL runs of a GPU schedule in the time of a test.
double operations_of(const KernelInfo &kernel) {
    return kernel.device == DeviceType::opencl ? 4e5 : 2e6;
}

class Conv2dRow : public testing::TestWithParam<KernelInfo> {
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
            test::check_row<Conv2dCase>(row, device, request, problems);
        }
    }

    std::vector<Device> devices_;
};

TEST_P(Conv2dRow, IsExactOnIntegers) { check_row(Data::integers, 24); }

TEST_P(Conv2dRow, IsCloseOnReals) { check_row(Data::reals, 12); }

TEST_P(Conv2dRow, PassesOnNanAndInfinity) {
    check_row(Data::one_nan, 4);
    check_row(Data::one_infinity, 3);
}

TEST(Conv2dRows, RefuseTheOtherLayout) {
    for (const KernelInfo &kernel : conv2d_kernels()) {
        const Layout other = kernel.layout == Layout::nhwc ? Layout::nchw : Layout::nhwc;
        const auto c = random_case<Conv2dCase>(1, {kernel.type, other, Data::integers, {}, 1e5});
        ASSERT_TRUE(c);
        for (const Device device : devices_of(kernel.device)) {
            EXPECT_EQ(check(*c, device, &kernel), Outcome::refused) << kernel.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Conv2dRow,
                         testing::ValuesIn(conv2d_kernels().begin(), conv2d_kernels().end()),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
