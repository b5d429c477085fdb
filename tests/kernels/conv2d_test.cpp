// Does the shipped library work: hk::conv2d on random problems, on every device that is here, with
// the rows that selection takes.

#include <gtest/gtest.h>

#include <barrier>
#include <cstdlib>
#include <thread>
#include <tuple>

#include "tests/support/conv2d_check.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

// 3 types times 110 problems: more than 300 a layout and device.
constexpr int problems = 110;

class Conv2d : public testing::TestWithParam<std::tuple<DeviceType, Layout, DataType>> {
protected:
    void SetUp() override {
        for (const Device device : Device::all()) {
            if (device.type() == std::get<0>(GetParam())) {
                devices_.push_back(device);
            }
        }
        if (devices_.empty()) {
            GTEST_SKIP() << "no " << name_of(std::get<0>(GetParam())) << " device";
        }
    }

    Conv2dRequest request(Data data) const {
        const auto [device, layout, type] = GetParam();
        return {type, layout, data, {}, device == DeviceType::opencl ? 2e5 : 2e6};
    }

    std::vector<Device> devices_;
};

TEST_P(Conv2d, MatchesTheReferenceOnRandomProblems) {
    for (const Device device : devices_) {
        int checked = 0;
        for (const uint64_t seed : seeds(problems * 2)) {
            // From the seed, so that repeating a seed repeats its data.
            const auto c = random_case(seed, request(seed % 3 == 0 ? Data::reals : Data::integers));
            if (!c) {
                continue;
            }
            check_conv2d(*c, device);
            if (HasFailure() || ++checked == problems) {
                break;
            }
        }
        EXPECT_TRUE(HasFailure() || checked == problems || std::getenv("HK_SEED")) << checked;
    }
}

TEST_P(Conv2d, TakesAnEmptyBatch) {
    for (const Device device : devices_) {
        for (const uint64_t seed : seeds(10)) {
            if (auto c = random_case(seed, request(Data::integers))) {
                c->problem.batch = 0;
                check_conv2d(*c, device);
            }
        }
    }
}

// Both threads' first calls load the kernels' device code.
TEST_P(Conv2d, RunsInTwoThreadsAtOnce) {
    for (const Device device : devices_) {
        std::barrier start(2);
        const std::vector<uint64_t> all = seeds(40);
        const auto work = [&](size_t first) {
            start.arrive_and_wait();
            for (size_t i = first; i < all.size(); i += 2) {
                if (const auto c = random_case(all[i], request(Data::integers))) {
                    check_conv2d(*c, device);
                }
            }
        };
        std::thread other(work, 1);
        work(0);
        other.join();
    }
}

std::string name(const testing::TestParamInfo<std::tuple<DeviceType, Layout, DataType>> &info) {
    const auto [device, layout, type] = info.param;
    return std::string(name_of(device)) + "_" + std::string(name_of(layout)) + "_" +
           std::string(name_of(type));
}

INSTANTIATE_TEST_SUITE_P(
    All, Conv2d,
    testing::Combine(testing::Values(DeviceType::cpu, DeviceType::opencl, DeviceType::cuda),
                     testing::Values(Layout::nhwc, Layout::nchw),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16)),
    name);

}  // namespace
}  // namespace hk::test
