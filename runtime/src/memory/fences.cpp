#include "memory/fences.h"

#include <algorithm>
#include <new>

#include "hk/error.h"

namespace hk::detail {

void Fences::add(Backend &backend, const Stream &stream, const Event &event) noexcept {
    if (!event) return;
    const auto same =
        std::ranges::find_if(events_, [&](const Fence &fence) { return fence.stream == stream; });
    if (same != events_.end()) {
        same->event = event;
        return;
    }
    try {
        events_.push_back({stream, event});
    } catch (const std::bad_alloc &) {
        backend.wait(event);
    }
}

void Fences::take(Backend &backend, Fences &other) noexcept {
    own_queue_ = own_queue_ || other.own_queue_;
    if (events_.empty()) {
        events_.swap(other.events_);
    } else {
        for (const Fence &fence : other.events_) add(backend, fence.stream, fence.event);
    }
    other.events_.clear();
    other.own_queue_ = false;
}

bool Fences::copy(const Fences &other) noexcept try {
    *this = other;
    return true;
} catch (const std::bad_alloc &) {
    return false;
}

void Fences::order(Backend &backend, int index, const Stream &stream, const Stream &own) {
    if (own_queue_ && stream != own) {
        // Marked when somebody asks: what was queued since is waited for too.
        add(backend, own, backend.mark(index, own));
        own_queue_ = false;
    }
    std::erase_if(events_, [&](const Fence &fence) { return backend.passed(fence.event); });
    for (const Fence &fence : events_) {
        if (fence.stream != stream) backend.make_wait(index, stream, fence.event);
    }
}

bool Fences::ordered(Backend &backend, const Stream &stream, const Stream &own) const noexcept {
    if (own_queue_ && stream != own) return false;
    return std::ranges::all_of(events_, [&](const Fence &fence) {
        return fence.stream == stream || backend.passed(fence.event);
    });
}

}  // namespace hk::detail
