#pragma once
// What tests of a family's real rows on CUDA share: each begins and ends with a driver that is
// idle, and a launch is checked against its row.

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>

#include "hk/kernel_info.h"
#include "software_driver.h"

namespace hk::tests {

template<typename Base = testing::Test>
class CudaRows : public Base {
protected:
    // Of the tables whose rows the test launches. Skips where the library has none.
    void begin(std::initializer_list<std::span<const KernelInfo>> tables) {
        for (const std::span<const KernelInfo> &kernels : tables) {
            for (const KernelInfo &kernel : kernels) {
                if (kernel.device == DeviceType::cuda) built_.insert(kernel.name);
            }
        }
        if (built_.empty()) GTEST_SKIP() << "built without CUDA";
        begin_driver_test();
    }

    void TearDown() override {
        // What scratch memory lay in is kept for the next call, until the context goes.
        if (!launches().empty()) kCuda.forget(primary_context());
        EXPECT_FALSE(has_current_context());
        EXPECT_EQ(allocated(), 0u);
    }

    // Launches are as the row says that it is.
    static void expect_launches_of(const KernelInfo &kernel) {
        for (const Operation &launch : launches()) {
            EXPECT_LE(launch.dynamic_shared_bytes + launch.static_shared_bytes,
                      static_cast<unsigned>(kernel.resources.shared_bytes()));
            EXPECT_LE(launch.block[0] * launch.block[1] * launch.block[2],
                      static_cast<unsigned>(kernel.resources.threads));
        }
    }

    std::set<std::string> built_;
};

}  // namespace hk::tests
