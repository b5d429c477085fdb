#pragma once
// What Halide's hooks find behind the user_context of a kernel: the queue that a call runs on, and
// room for the first error message. A kernel that is called directly passes null instead: device
// 0, the library's own queue, messages to stderr.

#include <atomic>
#include <string_view>

#include "hk/device.h"

namespace hk::detail {

struct CallContext {
    CallContext() = default;
    explicit CallContext(Device device, Stream stream = {});

    // Keeps the first message of a call; kernels report from several threads.
    void report(std::string_view text) noexcept;
    std::string_view message() const noexcept { return {buffer, length}; }

    Device device;
    const char *label = nullptr;  // of the memory that a kernel allocates for itself
    Stream stream;                // both handles are set on a device, before a kernel runs
    std::atomic<bool> reported{false};
    size_t length = 0;
    char buffer[2048];
};

}  // namespace hk::detail
