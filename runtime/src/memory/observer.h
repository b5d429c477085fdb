#pragma once
// Who wants to know what pools do.

#include <cstddef>
#include <cstdint>

#include "hk/device.h"

namespace hk::detail {

struct MemoryEvent {
    enum class Kind : uint8_t {
        allocate,  // a block was handed out
        free,
        reserve,  // the upstream gave a piece
        release,  // it took one back
        retry,    // no memory for `asked`: the cache goes back
        failure,  // and that did not help
    };

    Kind kind;
    const void *pool;    // which one
    uint64_t block = 0;  // id of the allocation
    size_t asked = 0, given = 0;
    const char *label = nullptr;
    size_t reserved = 0;  // after the event
};

// Called under the pool's lock: it must not allocate from a pool, nor call one.
class MemoryObserver {
public:
    virtual ~MemoryObserver() = default;
    virtual void on(const MemoryEvent &event) noexcept = 0;
};

// One for all pools; null for none. It stays until another is set, and must outlive calls that are
// under way.
void set_memory_observer(MemoryObserver *observer) noexcept;
MemoryObserver *memory_observer() noexcept;

}  // namespace hk::detail
