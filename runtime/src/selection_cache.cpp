#include "selection_cache.h"

#include <algorithm>

#include "hk/error.h"
#include "log.h"
#include "shared_limit.h"

namespace hk::detail {

// In four lanes: a multiplication waits for the one before it in its lane only.
size_t SelectionCache::Hash::operator()(Key key) const noexcept {
    constexpr size_t kLanes = 4;
    std::array<uint64_t, kLanes> lanes{1, 2, 3, 4};
    for (size_t i = 0; i < key.size(); i++) {
        uint64_t &lane = lanes[i % kLanes];
        lane = (lane ^ static_cast<uint64_t>(key[i])) * 0x9e3779b97f4a7c15;
    }
    uint64_t hash = 0;
    for (const uint64_t lane : lanes) hash = (hash ^ (lane >> 32)) * 31 + lane;
    return hash;
}

const KernelInfo &SelectionCache::find(const Fields &problem, Device device,
                                       const Describe &describe) {
    if (const KernelInfo *row = find_any(problem, device, describe)) return *row;
    throw_no_kernel(problem, device, describe);
}

const KernelInfo *SelectionCache::find_any(const Fields &problem, Device device,
                                           const Describe &describe) {
    const int64_t device_and_kind[] = {
        static_cast<int64_t>(device.type()), device.index(), device.is_cpu() ? 0 : shared_limit(),
        static_cast<int64_t>(problem.type), static_cast<int64_t>(problem.layout)};
    std::array<int64_t, std::size(device_and_kind) + Fields::kMost> numbers;
    const auto fields = std::ranges::copy(device_and_kind, numbers.begin()).out;
    const Key key(numbers.begin(), std::ranges::copy(problem.values(), fields).out);
    {
        const std::lock_guard lock(mutex_);
        const auto entry = known_.find(key);
        if (entry != known_.end()) return entry->second;
    }
    return first_call(key, problem, device, describe);
}

const KernelInfo &SelectionCache::find(const KernelInfo *given, const Fields &problem,
                                       Device device, const Describe &describe) {
    if (!given) return find(problem, device, describe);
    check_row_takes(family_, *given, problem, device);
    return *given;
}

Selection SelectionCache::selection(const Fields &problem, Device device, bool explain) const {
    if (!only_) return select(kernels_, problem, device.type(), device.limits(), explain);
    for (const KernelInfo &row : kernels_) {
        if (!only_(row)) continue;
        Selection of_row = select({&row, 1}, problem, device.type(), device.limits(), false);
        if (of_row.kernel) return of_row;
    }
    return {};
}

const KernelInfo *SelectionCache::first_call(Key key, const Fields &problem, Device device,
                                             const Describe &describe) {
    constexpr size_t kMostProblems = 4096;  // 1 MB; a trainer's shapes are a few hundred
    const bool log = !only_ && log_enabled("select");
    const Selection selection = this->selection(problem, device, log);
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMostProblems) known_.clear();
    if (known_.emplace(std::vector(key.begin(), key.end()), selection.kernel).second) {
        if (log && selection.kernel)
            log_line(detail::describe(selection, device.name() + " " + describe()));
        if (selection.fell_back() && warnings_enabled()) {
            log_line(fallback_warning(selection, family_, device, describe()));
        }
    }
    return selection.kernel;
}

void SelectionCache::throw_no_kernel(const Fields &problem, Device device,
                                     const Describe &describe) const {
    const bool any = std::any_of(kernels_.begin(), kernels_.end(), [&](const KernelInfo &kernel) {
        return kernel.device == device.type();
    });
    if (!any) {
        throw DeviceError(std::string(family_) + ": this library was built without kernels for " +
                          std::string(name_of(device.type())));
    }
    const Selection selection = select(kernels_, problem, device.type(), device.limits(), true);
    throw InvalidArgument(std::string(family_) + ": no row takes the problem on " + device.name() +
                          "\n" + detail::describe(selection, describe()));
}

}  // namespace hk::detail
