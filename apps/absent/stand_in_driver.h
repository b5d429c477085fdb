#pragma once
// The two drivers' functions, by name; unknown ones do nothing and return 0, which is success.

#include "hk/device.h"

namespace hk::absent {

// Limits as the drivers' functions tell them.
extern DeviceLimits told_limits;

void *stand_in_cuda(const char *name);
void *stand_in_opencl(const char *name);

}  // namespace hk::absent
