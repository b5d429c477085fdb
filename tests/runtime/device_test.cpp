#include "hk/device.h"

#include <algorithm>

#include "expect_error.h"
#include "tests/support/environment.h"

namespace hk {
namespace {

TEST(Device, ParsesWhatItNames) {
    for (const Device device : {Device::cpu(), Device::cuda(2), Device::opencl(13)}) {
        EXPECT_EQ(Device::parse(device.name()), device);
    }
    EXPECT_EQ(Device::cuda(1).name(), "cuda:1");
    EXPECT_EQ(Device(), Device::cpu());
    for (const char *text : {"", "gpu", "cpu:0", "cuda", "cuda:", "cuda:-1", "cuda:1x",
                             "opencl:1:2", "cuda:99999999999"}) {
        EXPECT_INVALID(std::string(text).append("\", not cpu, cuda:N or opencl:N"),
                       Device::parse(text));
    }
}

TEST(Device, TheCpuIsAlwaysThere) {
    const std::vector<Device> devices = Device::all();
    ASSERT_FALSE(devices.empty());
    EXPECT_EQ(devices[0], Device::cpu());
    EXPECT_TRUE(Device::cpu().available());
    EXPECT_EQ(Device::cpu().limits().shared_bytes, 0);
    Device::cpu().synchronize();
}

TEST(Device, AllWork) {
    for (const Device device : Device::all()) {
        EXPECT_TRUE(device.available()) << device.name();
        EXPECT_FALSE(device.description().empty()) << device.name();
        if (device.is_cpu()) continue;
        const DeviceLimits limits = device.limits();
        EXPECT_GE(limits.shared_bytes, 16 * 1024) << device.name();
        EXPECT_GE(limits.shared_bytes_opt_in, limits.shared_bytes) << device.name();
        EXPECT_GE(limits.threads, 1) << device.name();
        device.synchronize();
    }
}

TEST(Device, SharedLimitLowersLimits) {
    const Device device = Device::opencl();
    const DeviceLimits real = device.limits();
    for (const char *bytes : {"0", "16384"}) {
        const test::Environment limit("HK_SHARED_LIMIT", bytes);
        EXPECT_EQ(device.limits().shared_bytes, std::atoll(bytes));
        EXPECT_EQ(device.limits().shared_bytes_opt_in, std::atoll(bytes));
        EXPECT_EQ(device.limits().threads, real.threads);
    }
    for (const char *bytes : {"", "999999999999"}) {
        const test::Environment limit("HK_SHARED_LIMIT", bytes);
        EXPECT_EQ(device.limits().shared_bytes, real.shared_bytes);
    }
    for (const char *bytes : {"-1", "16k", "0x10", " 1", "1e5", "99999999999999999999"}) {
        const test::Environment limit("HK_SHARED_LIMIT", bytes);
        EXPECT_INVALID("HK_SHARED_LIMIT is \"" + std::string(bytes) + "\"", device.limits());
        EXPECT_EQ(Device::cpu().limits().shared_bytes, 0);
    }
}

// The suite's machines have PoCL.
TEST(Device, OpenClIsTested) { EXPECT_TRUE(Device::opencl(0).available()); }

TEST(Device, MissingOnes) {
    for (const Device device : {Device::cuda(99), Device::opencl(99), Device::opencl(-1)}) {
        EXPECT_FALSE(device.available());
        EXPECT_ERROR(DeviceError, device.name() + " is not there: ", device.limits());
        EXPECT_ERROR(DeviceError, device.name(), device.description());
        EXPECT_ERROR(DeviceError, device.name(), device.synchronize());
    }
    EXPECT_ERROR(DeviceError, "of this kind", Device::opencl(99).limits());
}

}  // namespace
}  // namespace hk
