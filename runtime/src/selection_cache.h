#pragma once
// The row that each problem of a family takes. Selection runs, and is logged, at a problem's first
// call on a device: rows don't change, and the limits of a device change with HK_SHARED_LIMIT only.

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fields.h"
#include "immortal.h"

namespace hk::detail {

class SelectionCache {
public:
    using Describe = std::function<std::string()>;  // the problem in words, for messages

    // `only`: null, or which rows are asked, of which the log hears nothing.
    SelectionCache(const char *family, std::span<const KernelInfo> kernels,
                   bool (*only)(const KernelInfo &row) = nullptr)
        : family_(family), kernels_(kernels), only_(only) {}

    // Throws InvalidArgument where no row takes the problem, DeviceError where the library has no
    // rows for that kind of device. Safe to call from several threads.
    const KernelInfo &find(const Fields &problem, Device device, const Describe &describe);

    // The same, or null where no row takes the problem, of which the log hears nothing.
    const KernelInfo *find_any(const Fields &problem, Device device, const Describe &describe);

    // The given row, where there is one. Throws InvalidArgument where it does not take the problem.
    const KernelInfo &find(const KernelInfo *given, const Fields &problem, Device device,
                           const Describe &describe);

private:
    // Device, shared limit, and all that selection sees of a problem.
    using Key = std::span<const int64_t>;

    struct Hash {
        using is_transparent = void;
        size_t operator()(Key key) const noexcept;
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(Key a, Key b) const noexcept { return std::ranges::equal(a, b); }
    };

    Selection selection(const Fields &problem, Device device, bool explain) const;
    const KernelInfo *first_call(Key key, const Fields &problem, Device device,
                                 const Describe &describe);
    [[noreturn]] void throw_no_kernel(const Fields &problem, Device device,
                                      const Describe &describe) const;

    const char *const family_;
    const std::span<const KernelInfo> kernels_;
    bool (*const only_)(const KernelInfo &row);
    std::mutex mutex_;
    std::unordered_map<std::vector<int64_t>, const KernelInfo *, Hash, Equal> known_;
};

// That of a table. Messages begin with the name.
template<std::span<const KernelInfo> (*kernels)()>
SelectionCache &selections(const char *name) {
    static Immortal<SelectionCache> cache(name, kernels());
    return *cache;
}

}  // namespace hk::detail
