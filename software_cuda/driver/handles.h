// Handles that are given out: the addresses of objects, which are looked up before they are used.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "software_cuda/driver/status.h"

namespace software_cuda {

template<typename Object>
class Handles {
public:
    void *add(std::shared_ptr<Object> object) {
        const std::lock_guard lock(mutex_);
        void *handle = object.get();
        objects_[handle] = std::move(object);
        return handle;
    }

    // Throws Failure for a handle that is none.
    std::shared_ptr<Object> find(void *handle) const {
        const std::lock_guard lock(mutex_);
        return place_of(handle)->second;
    }

    std::shared_ptr<Object> remove(void *handle) {
        const std::lock_guard lock(mutex_);
        const auto entry = place_of(handle);
        std::shared_ptr<Object> object = entry->second;
        objects_.erase(entry);
        return object;
    }

    std::vector<std::shared_ptr<Object>> remove_if(
        const std::function<bool(const Object &)> &unwanted) {
        const std::lock_guard lock(mutex_);
        std::vector<std::shared_ptr<Object>> removed;
        for (auto entry = objects_.begin(); entry != objects_.end();) {
            if (unwanted(*entry->second)) {
                removed.push_back(std::move(entry->second));
                entry = objects_.erase(entry);
            } else {
                ++entry;
            }
        }
        return removed;
    }

    size_t size() const {
        const std::lock_guard lock(mutex_);
        return objects_.size();
    }

private:
    auto place_of(void *handle) const {
        const auto entry = objects_.find(handle);
        if (entry == objects_.end()) throw Failure(CUDA_ERROR_INVALID_HANDLE, "unknown handle");
        return entry;
    }

    mutable std::mutex mutex_;
    std::map<void *, std::shared_ptr<Object>> objects_;
};

}  // namespace software_cuda
