#pragma once
// The row that each problem of a family takes. Selection runs, and is logged, at a problem's first
// call on a device: rows don't change, and the limits of a device change with HK_SHARED_LIMIT only.

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "hk/kernel_info.h"
#include "immortal.h"

namespace hk::detail {

// Families keep theirs in an Immortal.
class SelectionCache {
public:
    // All of a normalised problem that the family's selection may look at; the rest stays 0.
    using Problem = std::array<int64_t, 24>;

    using Select = std::function<Selection(const DeviceLimits &limits, bool explain)>;
    using Describe = std::function<std::string()>;  // the problem in words, for messages

    SelectionCache(const char *family, std::span<const KernelInfo> kernels)
        : family_(family), kernels_(kernels) {}

    // Throws InvalidArgument where no row takes the problem, DeviceError where the library has no
    // rows for that kind of device. Safe to call from several threads.
    const KernelInfo &find(const Problem &problem, Device device, const Select &select,
                           const Describe &describe);

private:
    // Device, shared limit, problem.
    using Key = std::array<int64_t, 3 + std::tuple_size_v<Problem>>;

    const KernelInfo &first_call(const Key &key, Device device, const Select &select,
                                 const Describe &describe);
    [[noreturn]] void throw_no_kernel(Device device, const Select &select,
                                      const Describe &describe) const;

    const char *const family_;
    const std::span<const KernelInfo> kernels_;
    std::mutex mutex_;
    std::map<Key, const KernelInfo *> known_;
};

}  // namespace hk::detail
