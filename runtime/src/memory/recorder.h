#pragma once
// The events of a hk::MemoryTrace.

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hk/memory_trace.h"
#include "memory/pool.h"

namespace hk {

// Its calls are made one after the other: the watch holds a lock (watch.h).
class MemoryTrace::Recorder {
public:
    explicit Recorder(size_t most_events);

    void add(const detail::MemoryEvent &event) noexcept;
    void mark(std::string_view text) noexcept;

    // A block that was in use when recording began, or has been handed out since; under the lock of
    // its pool. And what a pool without an event has reserved.
    void add_in_use(const MemoryPool::Impl &pool, const detail::Block &block) noexcept;
    void add_reserved(const MemoryPool::Impl &pool, size_t bytes) noexcept;

    std::string json() const;

private:
    using Kind = detail::MemoryEvent::Kind;

    struct Event {
        int64_t us;
        uint64_t block;
        size_t asked, given;  // of reserve and release: reserved, bytes
        uint32_t label;       // of a mark: its place
        uint16_t pool;
        uint8_t kind;
    };
    static constexpr uint8_t kMark = 6;

    struct Pool {
        const void *pool;
        std::string name;  // a pool of a test may be gone when the trace is written
        size_t reserved;   // when recording began
        bool reserved_known;
        uint64_t first_block = 0;  // the first id handed out since; 0: none yet
    };

    Pool &pool_of(const void *pool, const detail::MemoryEvent *event);
    uint32_t label_of(const char *text);
    int64_t now() const;
    bool full() noexcept;

    const size_t most_events_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool complete_ = true;
    std::vector<Pool> pools_;
    std::vector<const char *> labels_{nullptr};
    std::unordered_map<const char *, uint32_t> label_places_{{nullptr, 0}};
    std::vector<std::string> marks_;
    std::vector<Event> in_use_;  // before the first of events_
    std::deque<Event> events_;
};

}  // namespace hk
