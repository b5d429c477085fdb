#include "shared_limit.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "hk/error.h"

namespace hk::detail {

int64_t shared_limit() {
    const char *value = std::getenv("HK_SHARED_LIMIT");
    const std::string_view text = value ? value : "";
    if (text.empty()) return std::numeric_limits<int64_t>::max();
    int64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), bytes);
    if (error != std::errc() || end != text.end() || bytes < 0) {
        throw InvalidArgument("HK_SHARED_LIMIT is \"" + std::string(text) +
                              "\", not a number of bytes from 0");
    }
    return bytes;
}

DeviceLimits limited(DeviceLimits limits) {
    const int64_t most = shared_limit();
    limits.shared_bytes = std::min(limits.shared_bytes, most);
    limits.shared_bytes_opt_in = std::min(limits.shared_bytes_opt_in, most);
    return limits;
}

}  // namespace hk::detail
