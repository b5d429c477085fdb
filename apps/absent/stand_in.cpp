#include "stand_in.h"

#include "cuda_backend.h"
#include "opencl_backend.h"
#include "stand_in_driver.h"

namespace hk::absent {

DeviceLimits told_limits;

void use_stand_in(DeviceType type, const DeviceLimits &limits) {
    told_limits = limits;
    if (type == DeviceType::cuda) detail::set_cuda_driver(stand_in_cuda);
    if (type == DeviceType::opencl) detail::set_opencl_driver(stand_in_opencl);
}

std::vector<Launch> &noted_launches() {
    static std::vector<Launch> launches;
    return launches;
}

}  // namespace hk::absent
