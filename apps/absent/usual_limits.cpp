#include "usual_limits.h"

#include "shared_limit.h"

namespace hk::absent {

DeviceLimits usual_limits(DeviceType type) {
    if (type == DeviceType::cpu) return {.avx512 = true};
    if (type == DeviceType::cuda) return detail::limited({48 * 1024, 227 * 1024, 1024, 65536, 90});
    return detail::limited({32 * 1024, 32 * 1024, 256, 0, 0});
}

std::string whose_limits(DeviceType type) {
    if (type == DeviceType::cpu) return "a CPU with AVX-512";
    return type == DeviceType::cuda ? "an H100" : "the least that OpenCL asks for";
}

DeviceLimits limits_of(Device device) {
    return device.available() ? device.limits() : usual_limits(device.type());
}

}  // namespace hk::absent
