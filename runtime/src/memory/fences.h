#pragma once
// Work of a device's queues that a piece of memory must wait for before another queue uses it.

#include <memory>
#include <vector>

#include "backend.h"

namespace hk::detail {

class Fences {
public:
    // Work of the library's own queue, of which the pool hears nothing, may use the memory too.
    void add_own_queue() noexcept { own_queue_ = true; }

    // Work up to the event. Of several events of a queue the last one added counts. Where there is
    // no memory to keep it in, this waits for it.
    void add(Backend &backend, const Stream &stream, const Event &event) noexcept;

    // Also those of `other`, which is empty afterwards.
    void take(Backend &backend, Fences &other) noexcept;

    // As `other`; false where there is no memory for that.
    bool copy(const Fences &other) noexcept;

    // Makes the queue, a completed stream, wait for all work of others. Events that have passed go.
    // `own`: the library's own queue.
    void order(Backend &backend, int index, const Stream &stream, const Stream &own);

    // Whether order() would wait for nothing.
    bool ordered(Backend &backend, const Stream &stream, const Stream &own) const noexcept;

    bool empty() const noexcept { return !own_queue_ && events_.empty(); }

private:
    struct Fence {
        Stream stream;
        Event event;
    };

    bool own_queue_ = false;
    std::vector<Fence> events_;
};

}  // namespace hk::detail
