// Does the shipped object work: every row of the table, on every device that it runs on here, on
// random problems that meet its conditions.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/conv2d_check.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

std::vector<Device> devices_of(DeviceType type) {
    std::vector<Device> devices = Device::all();
    std::erase_if(devices, [&](Device device) { return device.type() != type; });
    return devices;
}

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

    Conv2dRequest request(Data data) const {
        const KernelInfo &kernel = GetParam();
        return {kernel.type, kernel.layout, data, kernel.where, operations_of(kernel)};
    }

    // Problems that meet the row's conditions, a device each.
    void check(Data data, int problems) {
        for (const Device device : devices_) {
            int passed = 0, refused = 0;
            for (const uint64_t seed : seeds(problems * 20)) {
                const auto c = random_case(seed, request(data));
                if (!c) {
                    continue;
                }
                const Outcome outcome = check_conv2d(*c, device, &GetParam());
                passed += outcome == Outcome::passed;
                if (outcome == Outcome::refused) {
                    refused++;
                    last_refused_ = *c;
                }
                if (outcome == Outcome::passed && passed == 1) {
                    Conv2dCase empty = *c;
                    empty.problem.batch = 0;
                    check_conv2d(empty, device, &GetParam());
                }
                if (HasFailure() || passed == problems) {
                    break;
                }
            }
            // A problem that meets the conditions may be refused where it is rewritten to one that
            // does not (a 1x1 filter over packed rows becomes one long row).
            EXPECT_GE(passed + (HasFailure() ? problems : 0), std::getenv("HK_SEED") ? 0 : problems)
                << GetParam().name << " refused " << refused
                << " problems that meet its conditions, the last one " << to_string(last_refused_);
        }
    }

    std::vector<Device> devices_;
    Conv2dCase last_refused_;
};

TEST_P(Conv2dRow, IsExactOnIntegers) { check(Data::integers, 24); }

TEST_P(Conv2dRow, IsCloseOnReals) { check(Data::reals, 12); }

TEST_P(Conv2dRow, PassesOnNanAndInfinity) {
    check(Data::one_nan, 4);
    check(Data::one_infinity, 3);
}

TEST(Conv2dRows, RefuseTheOtherLayout) {
    for (const KernelInfo &kernel : conv2d_kernels()) {
        const Layout other = kernel.layout == Layout::nhwc ? Layout::nchw : Layout::nhwc;
        const auto c = random_case(1, {kernel.type, other, Data::integers, {}, 1e5});
        ASSERT_TRUE(c);
        for (const Device device : devices_of(kernel.device)) {
            EXPECT_EQ(check_conv2d(*c, device, &kernel), Outcome::refused) << kernel.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Conv2dRow,
                         testing::ValuesIn(conv2d_kernels().begin(), conv2d_kernels().end()),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
