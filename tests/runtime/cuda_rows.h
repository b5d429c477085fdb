#pragma once
// What tests of a family's real rows on CUDA share: each begins and ends with a stand-in driver
// that is idle, and a launch is checked against its row.

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>

#include "cuda_backend.h"
#include "hk/kernel_info.h"
#include "stand_in_driver.h"

namespace hk::tests {

inline const Device kCuda = Device::cuda(1);

template<typename Base = testing::Test>
class CudaRows : public Base {
protected:
    static void SetUpTestSuite() { detail::set_cuda_driver(driver_symbol); }

    // Of the tables whose rows the test launches. Skips where the library has none.
    void begin(std::initializer_list<std::span<const KernelInfo>> tables) {
        for (const std::span<const KernelInfo> &kernels : tables) {
            for (const KernelInfo &kernel : kernels) {
                if (kernel.device == DeviceType::cuda) built_.insert(kernel.name);
            }
        }
        if (built_.empty()) GTEST_SKIP() << "built without CUDA";
        driver().fail.clear();
        driver().called.clear();
        driver().launches.clear();
    }

    void TearDown() override {
        // What scratch memory lay in is kept for the next call, until the context goes.
        if (!driver().launches.empty()) kCuda.forget(driver().launches.back().context);
        EXPECT_TRUE(driver().current.empty());
        EXPECT_EQ(driver().faults, std::vector<std::string>{});
        EXPECT_EQ(driver().allocated, 0u);
    }

    // Launches are as the row says that it is.
    static void expect_launches_of(const KernelInfo &kernel) {
        for (const Launch &launch : driver().launches) {
            EXPECT_LE(launch.shared_bytes, static_cast<unsigned>(kernel.resources.shared_bytes()));
            EXPECT_LE(launch.block[0] * launch.block[1] * launch.block[2],
                      static_cast<unsigned>(kernel.resources.threads));
        }
    }

    std::set<std::string> built_;
};

}  // namespace hk::tests
