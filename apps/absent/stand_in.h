#pragma once
// Null drivers: they record launches and execute nothing, so that what a call would do is found
// without a device.

#include <array>
#include <vector>

#include "hk/device.h"

namespace hk::absent {

struct Launch {
    std::array<unsigned, 3> grid{}, block{};  // x, y, z
    unsigned shared_bytes = 0;                // dynamic
};

// From here on CUDA or OpenCL has one device, with these limits, whose memory keeps nothing and
// whose kernels do nothing. For the rest of this process, which must not have used the real driver.
void use_stand_in(DeviceType type, const DeviceLimits &limits);

// What was launched on CUDA's stand-in since then.
std::vector<Launch> &noted_launches();

}  // namespace hk::absent
