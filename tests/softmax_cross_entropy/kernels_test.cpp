// Softmax cross-entropy: every row of the table on every device that it runs on here, on random
// problems that meet its conditions, and what selection takes.

#include <cmath>

#include "hk/memory.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/softmax_cross_entropy/case.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

double elements_of(DeviceType type) { return type == DeviceType::cpu ? 2e4 : 3e3; }

class SoftmaxRow : public RowTest {};

TEST_P(SoftmaxRow, IsTheReference) {
    const KernelInfo &row = GetParam();
    for (const Device device : devices_) {
        check_row<SoftmaxCase>(row, device,
                               SoftmaxRequest{row.type, row.where, elements_of(row.device)}, 60);
    }
}

// The gradient over its logits has the bits of one apart, with any number of classes.
TEST_P(SoftmaxRow, IsTheSameInPlace) {
    const KernelInfo &row = GetParam();
    for (const Device device : devices_) {
        int compared = 0;
        for (const uint64_t seed : seeds(40)) {
            SoftmaxCase c = *random_case<SoftmaxCase>(
                seed, SoftmaxRequest{row.type, row.where, elements_of(row.device)});
            const Tensor logits = logits_of(c).to(device), labels = labels_of(c).to(device);
            const Tensor gradient(logits.shape(), c.type, device), none;
            softmax_cross_entropy_with(row, logits, labels, none, gradient, c.scale);
            softmax_cross_entropy_with(row, logits, labels, none, inplace(logits), c.scale);
            ASSERT_EQ(reference::bits(gradient.to(Device::cpu())),
                      reference::bits(logits.to(Device::cpu())))
                << to_string(c);
            compared++;
        }
        EXPECT_GT(compared, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, SoftmaxRow, testing::ValuesIn(softmax_cross_entropy_kernels()),
                         parameter_name);

class Softmax : public testing::TestWithParam<std::tuple<DeviceType, DataType>> {
protected:
    void SetUp() override {
        const std::vector<Device> devices = devices_of(std::get<0>(GetParam()));
        if (devices.empty()) GTEST_SKIP() << "no such device";
        device_ = devices.front();
    }

    SoftmaxRequest request() const {
        const auto [device, type] = GetParam();
        return {type, {}, elements_of(device)};
    }

    Device device_;
};

TEST_P(Softmax, OfAnyProblem) {
    check_random<SoftmaxCase>(device_, 40, [&](uint64_t) { return request(); });
    check_empty<SoftmaxCase>(device_, request());
    check_two_threads<SoftmaxCase>(device_, request());
}

TEST_P(Softmax, OfManyClasses) {
    std::vector<int64_t> sizes{32000, 50257};
    if (device_.is_cpu()) sizes.push_back(262145);
    for (const int64_t classes : sizes) {
        SoftmaxCase c;
        c.seed = static_cast<uint64_t>(classes);
        c.type = std::get<1>(GetParam());
        c.rows = 3;
        c.classes = classes;
        check(c, device_);
        c.in_place = true;
        check(c, device_);
    }
}

// What a task keeps of a row is bounded.
TEST(SoftmaxMemory, DoesNotGrowWithManyClasses) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    for (const int64_t classes : {1000, 262144, 262145, 1 << 22}) {
        SCOPED_TRACE(classes);
        const Tensor logits = Tensor::zeros({1, classes}, DataType::f32);
        const Tensor labels = Tensor::zeros({1}, DataType::s32), loss({1}, DataType::f32);
        pool.reset_peaks();
        const int64_t before = pool.statistics().peak_requested;
        softmax_cross_entropy(logits, labels, loss, inplace(logits));
        EXPECT_LE(pool.statistics().peak_requested - before, 5 << 18);
        EXPECT_NEAR(loss.data<float>()[0], std::log(static_cast<double>(classes)), 1e-3);
    }
}

// Bit for bit.
TEST(SoftmaxThreads, ChangeNoBit) {
    SoftmaxCase c{.seed = 5, .rows = 300, .classes = 777};
    const Tensor logits = logits_of(c), labels = labels_of(c);
    const auto run = [&] {
        const Tensor loss({c.rows}, DataType::f32), gradient(logits.shape(), c.type);
        softmax_cross_entropy(logits, labels, loss, gradient);
        return std::pair(reference::bits(loss), reference::bits(gradient));
    };
    expect_same_with_threads(run, {2, 3, 8});
}

// A device's labels can't be checked: one out of range is taken as the nearest class.
TEST_P(Softmax, MovesADevicesLabelToTheNearestClass) {
    if (device_.is_cpu()) GTEST_SKIP() << "on a CPU such a label is an error";
    SoftmaxCase c;
    c.type = std::get<1>(GetParam());
    c.rows = 3;
    c.classes = 10;
    const Tensor logits = logits_of(c).to(device_);
    const auto gradient_of = [&](DataType type, const std::vector<double> &labels) {
        const Tensor gradient(logits.shape(), c.type, device_);
        softmax_cross_entropy(logits, host_tensor({3}, type, labels).to(device_), Tensor(),
                              gradient);
        return reference::bits(gradient.to(Device::cpu()));
    };
    for (const DataType type : {DataType::s32, DataType::s64}) {
        EXPECT_EQ(gradient_of(type, {-5, 4, 1000000}), gradient_of(DataType::s32, {0, 4, 9}));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, Softmax,
    testing::Combine(testing::Values(DeviceType::cpu, DeviceType::cuda, DeviceType::opencl),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16)),
    parameter_name);

}  // namespace
}  // namespace hk::test
