#pragma once
// HK_SHARED_LIMIT=bytes: how much shared memory a block may use in this process, at most. A small
// device is imitated with it.

#include <cstdint>

#include "hk/device.h"

namespace hk::detail {

// The variable's value; the largest number where it is not set or empty. Throws InvalidArgument for
// a value that is not a number from 0.
int64_t shared_limit();

// A device's limits under the variable.
DeviceLimits limited(DeviceLimits limits);

}  // namespace hk::detail
