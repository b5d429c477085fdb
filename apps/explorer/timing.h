#pragma once
// A candidate checked and timed beside the table's row, and what the machine can do: of explorer
// sweep, and of the program that a bundle is.

#include <nlohmann/json_fwd.hpp>

#include "family.h"
#include "hk/error.h"
#include "worker.h"

namespace hk::explorer {

struct DeviceHere {
    DeviceLimits limits;
    std::string description;
};

struct DeviceMissing : InvalidArgument {
    using InvalidArgument::InvalidArgument;
};

// Asked in a child: what this process opens of a driver does not live on in its children. Throws
// DeviceMissing, with the driver's reason, where the device is not here.
DeviceHere find_device(Device device, const Cores &cores);

// {"ns", "table_ns", "max_error"}, after its turn has come. Throws Failure "wrong".
nlohmann::json check_and_time(bench::Case &test, const KernelInfo &row, const KernelInfo &candidate,
                              const bench::Settings &settings, double seconds, Parent &parent);

// {"peak", "peak_of", "memory"}: of the settings' threads, in the family's unit a nanosecond, and
// in GB/s of arrays far larger than a cache; null where it can't be said.
nlohmann::json ceilings(const bench::Family &family, const bench::Settings &settings,
                        Parent &parent);

}  // namespace hk::explorer
