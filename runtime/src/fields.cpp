#include "fields.h"

#include "hk/error.h"

namespace hk::detail {

int64_t Fields::operator[](std::string_view name) const {
    for (size_t i = 0; i < count_; i++) {
        if (names_[i] == name) return values_[i];
    }
    throw std::out_of_range("the problem has no field " + std::string(name));
}

Selection select(std::span<const KernelInfo> kernels, const Fields &problem, DeviceType device,
                 const DeviceLimits &limits, bool explain) {
    return hk::select(
        kernels, problem.type, problem.layout, device, limits,
        [&](std::string_view name) { return problem[name]; }, explain);
}

void check_row_takes(const char *operation, const KernelInfo &kernel, const Fields &problem,
                     Device device) {
    const auto kind = [](DeviceType device, DataType type, Layout layout) {
        return std::string(name_of(device)) + " " + std::string(name_of(type)) + " " +
               std::string(name_of(layout));
    };
    const std::string row = kind(kernel.device, kernel.type, kernel.layout);
    const std::string wanted = kind(device.type(), problem.type, problem.layout);
    const std::string prefix = std::string(operation) + ": kernel " + kernel.name;
    if (row != wanted) {
        throw InvalidArgument(prefix + " is for " + row + ", the problem is " + wanted);
    }
    const Selection selection = select({&kernel, 1}, problem, device.type(), device.limits(), true);
    if (!selection.kernel) {
        throw InvalidArgument(prefix +
                              " does not take the problem: " + selection.rejected[0].reason);
    }
}

}  // namespace hk::detail
