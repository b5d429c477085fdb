#include "selection_cache.h"

#include <algorithm>

#include "hk/error.h"
#include "log.h"
#include "shared_limit.h"

namespace hk::detail {

const KernelInfo &SelectionCache::find(const Problem &problem, Device device, const Select &select,
                                       const Describe &describe) {
    Key key{static_cast<int64_t>(device.type()), device.index(),
            device.is_cpu() ? 0 : shared_limit()};
    std::copy(problem.begin(), problem.end(), key.begin() + 3);
    {
        const std::lock_guard lock(mutex_);
        const auto entry = known_.find(key);
        if (entry != known_.end()) return *entry->second;
    }
    return first_call(key, device, select, describe);
}

const KernelInfo &SelectionCache::first_call(const Key &key, Device device, const Select &select,
                                             const Describe &describe) {
    constexpr size_t kMostProblems = 4096;  // 1 MB; a trainer's shapes are a few hundred
    const bool log = log_enabled("select");
    const Selection selection = select(device.limits(), log);
    if (!selection.kernel) throw_no_kernel(device, select, describe);
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMostProblems) known_.clear();
    if (known_.emplace(key, selection.kernel).second) {
        if (log) log_line(detail::describe(selection, device.name() + " " + describe()));
        if (selection.fell_back() && warnings_enabled()) {
            log_line(fallback_warning(selection, family_, device, describe()));
        }
    }
    return *selection.kernel;
}

void SelectionCache::throw_no_kernel(Device device, const Select &select,
                                     const Describe &describe) const {
    const bool any = std::any_of(kernels_.begin(), kernels_.end(), [&](const KernelInfo &kernel) {
        return kernel.device == device.type();
    });
    if (!any) {
        throw DeviceError(std::string(family_) + ": this library was built without kernels for " +
                          std::string(name_of(device.type())));
    }
    throw InvalidArgument(std::string(family_) + ": no row takes the problem on " + device.name() +
                          "\n" + detail::describe(select(device.limits(), true), describe()));
}

}  // namespace hk::detail
