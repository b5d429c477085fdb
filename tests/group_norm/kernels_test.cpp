// Group normalisation and its gradients: every row of the table on every device that it runs on
// here, on random problems that meet its conditions, what selection takes, and long sums.

#include <cmath>

#include "HalideRuntime.h"
#include "tests/group_norm/case.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

double elements_of(DeviceType type) { return type == DeviceType::cpu ? 3e4 : 4e3; }

class GroupNormRow : public testing::TestWithParam<KernelInfo> {
protected:
    void SetUp() override {
        devices_ = devices_of(GetParam().device);
        if (devices_.empty()) GTEST_SKIP() << "no " << name_of(GetParam().device) << " device";
    }

    std::vector<Device> devices_;
};

TEST_P(GroupNormRow, IsTheReference) {
    const KernelInfo &row = GetParam();
    for (const Device device : devices_) {
        check_row<GroupNormCase>(
            row, device, GroupNormRequest{row.type, row.layout, row.where, elements_of(row.device)},
            row.device == DeviceType::cpu ? 80 : 24);
    }
}

// Ten million equal terms (on OpenCL fewer) keep their digits, and a mean of 10000 does not hide a
// deviation of 0.01.
TEST_P(GroupNormRow, KeepsTheDigitsOfLongSums) {
    const KernelInfo &row = GetParam();
    for (const Device device : devices_) {
        GroupNormCase c;
        c.seed = 3;
        c.problem.type = row.type;
        c.problem.options = {row.layout, 2, 1e-12f};
        c.problem.channels = 4;
        c.problem.height = row.device == DeviceType::cpu ? 1000 : 50;
        c.problem.width = 1000;
        for (const Constraint &constraint : row.where) {
            const std::string_view field = constraint.field;
            if (field == "backward") c.problem.backward = constraint.value == 1;
            const bool few = constraint.relation == Constraint::Relation::at_most;
            if (field == "pixels" && few) {  // so that channels are many
                c.problem.height = c.problem.width = 1;
                c.problem.channels = 1000000;
            }
        }
        c.elements = row.type == DataType::f32 ? Elements::far : Elements::ordinary;
        check(c, device, &row);
        c.elements = Elements::outlier;
        check(c, device, &row);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, GroupNormRow, testing::ValuesIn(group_norm_kernels()),
                         [](const auto &info) { return std::string(info.param.name); });

class GroupNorm : public testing::TestWithParam<std::tuple<DeviceType, DataType, Layout>> {
protected:
    void SetUp() override {
        const std::vector<Device> devices = devices_of(std::get<0>(GetParam()));
        if (devices.empty()) GTEST_SKIP() << "no such device";
        device_ = devices.front();
    }

    GroupNormRequest request() const {
        const auto [device, type, layout] = GetParam();
        return {type, layout, {}, elements_of(device)};
    }

    Device device_;
};

TEST_P(GroupNorm, OfAnyProblem) {
    check_random<GroupNormCase>(device_, 60, [&](uint64_t) { return request(); });
    check_empty<GroupNormCase>(device_, request());
    check_two_threads<GroupNormCase>(device_, request());
}

INSTANTIATE_TEST_SUITE_P(
    Devices, GroupNorm,
    testing::Combine(testing::Values(DeviceType::cpu, DeviceType::cuda, DeviceType::opencl),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16),
                     testing::Values(Layout::nhwc, Layout::nchw)),
    [](const auto &info) {
        return std::string(name_of(std::get<0>(info.param))) + "_" +
               std::string(hk::name_of(std::get<1>(info.param))) + "_" +
               std::string(name_of(std::get<2>(info.param)));
    });

// Bit for bit, the order in which parts of the batch are added up too.
TEST(GroupNormThreads, ChangeNoBit) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        GroupNormCase c;
        c.seed = 5;
        c.problem.batch = 70;
        c.problem.channels = 48;
        c.problem.height = c.problem.width = 9;
        c.problem.options = {layout, 6, 1e-5f};
        const Tensor x = input_of(c), dy = output_gradient_of(c), w = vector_of(c, 3);
        const auto result = [&](int threads) {
            const int before = halide_set_num_threads(threads);
            const Tensor y(x.shape(), x.type()), dx(x.shape(), x.type()), dw({48}, x.type()),
                db({48}, x.type());
            const GroupNormStatistics saved{Tensor({70, 6}, DataType::f32),
                                            Tensor({70, 6}, DataType::f32)};
            group_norm(x, w, {}, y, saved, c.problem.options);
            group_norm_backward(dy, x, w, saved, {dx, dw, db}, c.problem.options);
            halide_set_num_threads(before);
            std::vector<std::vector<uint64_t>> bits;
            for (const Tensor &one : {y, saved.mean, saved.rstd, dx, dw, db})
                bits.push_back(reference::bits(one));
            return bits;
        };
        const auto alone = result(1);
        for (const int threads : {2, 3, 8}) EXPECT_EQ(result(threads), alone) << threads;
    }
}

// Layer normalisation of rows, and instance normalisation.
TEST(GroupNormCases, AreLayerAndInstanceNorm) {
    const Tensor rows = host_tensor({2, 1, 1, 3}, DataType::f32, {1, 2, 3, 10, 10, 40});
    const Tensor of_rows = group_norm(rows);
    const double one = std::sqrt(1.5), two = std::sqrt(0.5);
    const std::vector<double> wanted{-one, 0, one, -two, -two, 2 * two};
    for (size_t i = 0; i < 6; i++) EXPECT_NEAR(of_rows.data<float>()[i], wanted[i], 1e-5);
    const Tensor image = host_tensor({1, 1, 2, 3}, DataType::f32, {1, 5, 7, 3, 5, 8});
    const Tensor instance = group_norm(image, {}, {}, {Layout::nhwc, 3, 1e-12f});
    const std::vector<double> expected{-1, 0, -1, 1, 0, 1};
    for (size_t i = 0; i < 6; i++) EXPECT_NEAR(instance.data<float>()[i], expected[i], 1e-5);
}

}  // namespace
}  // namespace hk::test
