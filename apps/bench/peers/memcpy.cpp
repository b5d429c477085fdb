#include "peers/memcpy.h"

#include <cstring>

namespace hk::bench {

std::vector<Contestant> memcpy_of(double bytes, const Settings &settings) {
    if (!settings.device.is_cpu()) return {};
    const auto half = static_cast<size_t>(bytes / 2);
    auto from = std::make_shared<std::vector<std::byte>>(2 * half);
    const auto copy = [from, half](int count) {
        for (int i = 0; i < count; ++i) {
            std::memcpy(from->data() + half, from->data(), half);
            asm volatile("" : : "r"(from->data()) : "memory");
        }
    };
    return {{"memcpy", "as many bytes", false, copy, from}};
}

std::vector<PeerLibrary> memcpy_library(const Settings &settings) {
    if (!settings.device.is_cpu()) return {};
    return {{"", {"memcpy"}}};
}

}  // namespace hk::bench
