#include "hk/device.h"

#include <array>
#include <charconv>

#include "backend.h"
#include "cuda_backend.h"
#include "hk/error.h"
#include "memory/pool.h"
#include "names.h"
#include "opencl_backend.h"
#include "shared_limit.h"
#include "tile_registers.h"
#include "transposed_words.h"

namespace hk {

namespace {

constexpr std::array<std::string_view, 3> kNames{"cpu", "cuda", "opencl"};  // as DeviceType

}  // namespace

std::string_view name_of(DeviceType type) noexcept { return detail::name_in(kNames, type); }

namespace detail {

Backend *backend(DeviceType type) noexcept {
    if (type == DeviceType::cuda) return &cuda_backend();
    if (type == DeviceType::opencl) return &opencl_backend();
    return nullptr;
}

Backend &require(Device device) {
    Backend *backend = detail::backend(device.type());
    const int count = backend ? backend->count() : 0;
    if (device.index() >= 0 && device.index() < count) return *backend;
    std::string why = "the CPU has index 0 only";
    if (backend) {
        why = count == 0 ? backend->missing()
                         : "there are " + std::to_string(count) + " of this kind";
    }
    throw DeviceError("device " + device.name() + " is not there: " + why);
}

}  // namespace detail

std::vector<Device> Device::all() {
    std::vector<Device> devices{cpu()};
    for (int i = 0; i < detail::cuda_backend().count(); i++) devices.push_back(cuda(i));
    for (int i = 0; i < detail::opencl_backend().count(); i++) devices.push_back(opencl(i));
    return devices;
}

Device Device::parse(std::string_view text) {
    const size_t colon = text.find(':');
    const std::string_view type = text.substr(0, colon);
    const std::string_view number = colon == text.npos ? "" : text.substr(colon + 1);
    int index = 0;
    const auto [end, error] = std::from_chars(number.begin(), number.end(), index);
    const bool numbered = error == std::errc() && end == number.end() && index >= 0;
    if (text == "cpu") return cpu();
    if (type == "cuda" && numbered) return cuda(index);
    if (type == "opencl" && numbered) return opencl(index);
    throw InvalidArgument("device is \"" + std::string(text) + "\", not cpu, cuda:N or opencl:N");
}

std::string Device::name() const {
    if (is_cpu()) return "cpu";
    return std::string(name_of(type_)) + ":" + std::to_string(index_);
}

std::string Device::description() const {
    if (is_cpu()) return "CPU";
    return detail::require(*this).description(index_);
}

bool Device::available() const noexcept try {
    if (is_cpu()) return true;
    return index_ >= 0 && index_ < detail::backend(type_)->count();
} catch (const std::exception &) {
    return false;
}

DeviceLimits Device::limits() const {
    if (is_cpu()) {
        return {.tile_registers = detail::has_tile_registers(),
                .avx512 = detail::has_wide_vectors()};
    }
    return detail::limited(detail::require(*this).limits(index_));
}

void Device::synchronize() const {
    if (!is_cpu()) detail::require(*this).wait(index_, nullptr);
}

void Device::forget(void *context) const {
    if (is_cpu() || !context) return;
    detail::Backend &backend = detail::require(*this);
    detail::forget_memory(*this, context);
    backend.forget(index_, context);
}

}  // namespace hk
