#pragma once
// Limits of devices that are not here, so that what would run on one is known without it.

#include <string>

#include "hk/device.h"

namespace hk::absent {

// CUDA's are those of compute capability 9.0, OpenCL's those that every device of the full profile
// has, with the usual 256 work-items a group; under HK_SHARED_LIMIT. The CPU has AVX-512.
DeviceLimits usual_limits(DeviceType type);

// Whose they are: "an H100".
std::string whose_limits(DeviceType type);

// The device's own; the usual ones where it is not here.
DeviceLimits limits_of(Device device);

}  // namespace hk::absent
