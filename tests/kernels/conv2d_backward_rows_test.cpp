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

// One direction of a problem of stride one made the first phase of a strided problem: the other
// taps of the filter, or where the dilation is even none, meet the pixels in between.
struct Axis {
    int64_t &pixels, &taps, &stride, &dilation, &before, &after;
};

void make_phase(const Axis &axis) {
    axis.pixels = 2 * axis.pixels - 1;
    axis.before *= 2;
    axis.after *= 2;
    axis.stride = 2;
    if (axis.dilation % 2 == 0)
        axis.dilation *= 2;
    else
        axis.taps = 2 * axis.taps - 1;
}

TEST_P(BackwardDataRow, TakesPhasesOfStridedProblems) {
    const KernelInfo &row = GetParam();
    const bool of_stride_one = std::ranges::any_of(row.where, [](const Constraint &constraint) {
        return std::string_view(constraint.field) == "stride_x";
    });
    if (row.device != DeviceType::cpu || !of_stride_one) {
        GTEST_SKIP() << "takes strides as they are";
    }
    const auto cases =
        random_cases<BackwardDataCase>(6, {row.type, row.layout, Data::integers, row.where, 2e5});
    EXPECT_FALSE(cases.empty());
    for (BackwardDataCase c : cases) {
        Conv2dProblem &p = c.problem;
        Conv2dOptions &o = p.options;
        Padding &padding = o.padding;
        make_phase(
            {p.height, p.kernel_height, o.stride[0], o.dilation[0], padding.top, padding.bottom});
        make_phase(
            {p.width, p.kernel_width, o.stride[1], o.dilation[1], padding.left, padding.right});
        ASSERT_EQ(check(c, Device::cpu(), &row), Outcome::passed) << to_string(c);
    }
}

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
