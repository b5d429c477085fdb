#include "memory/recorder.h"

#include <algorithm>
#include <set>

#include "memory/json_text.h"

namespace hk {

using detail::MemoryEvent;

MemoryTrace::Recorder::Recorder(size_t most_events) : most_events_(most_events) {}

int64_t MemoryTrace::Recorder::now() const {
    using namespace std::chrono;
    return duration_cast<microseconds>(steady_clock::now() - start_).count();
}

bool MemoryTrace::Recorder::full() noexcept {
    if (complete_ && events_.size() >= most_events_) complete_ = false;
    return !complete_;
}

MemoryTrace::Recorder::Pool &MemoryTrace::Recorder::pool_of(const void *pool,
                                                            const MemoryEvent *event) {
    const auto known =
        std::ranges::find_if(pools_, [&](const Pool &entry) { return entry.pool == pool; });
    if (known != pools_.end()) return *known;
    size_t reserved = event ? event->reserved : 0;
    if (event && event->kind == Kind::reserve) reserved -= event->given;
    if (event && event->kind == Kind::release) reserved += event->given;
    const std::string &name = static_cast<const MemoryPool::Impl *>(pool)->name();
    pools_.push_back({pool, name, reserved, /*reserved_known=*/event != nullptr});
    return pools_.back();
}

uint32_t MemoryTrace::Recorder::label_of(const char *text) {
    const auto [entry, is_new] =
        label_places_.try_emplace(text, static_cast<uint32_t>(labels_.size()));
    if (is_new) labels_.push_back(text);
    return entry->second;
}

void MemoryTrace::Recorder::add(const MemoryEvent &event) noexcept try {
    if (full()) return;
    Pool &pool = pool_of(event.pool, &event);
    if (!pool.reserved_known) {
        pool.reserved = event.reserved;
        pool.reserved_known = true;
    }
    if (event.kind == Kind::allocate && !pool.first_block) pool.first_block = event.block;
    const bool of_pieces = event.kind == Kind::reserve || event.kind == Kind::release;
    events_.push_back({now(), event.block, of_pieces ? event.reserved : event.asked, event.given,
                       label_of(event.label), static_cast<uint16_t>(&pool - pools_.data()),
                       static_cast<uint8_t>(event.kind)});
} catch (const std::bad_alloc &) {
    complete_ = false;
}

void MemoryTrace::Recorder::mark(std::string_view text) noexcept try {
    if (full()) return;
    marks_.emplace_back(text);
    events_.push_back({now(), 0, 0, 0, static_cast<uint32_t>(marks_.size() - 1), 0, kMark});
} catch (const std::bad_alloc &) {
    complete_ = false;
}

void MemoryTrace::Recorder::add_in_use(const MemoryPool::Impl &of,
                                       const detail::Block &block) noexcept try {
    Pool &pool = pool_of(&of, nullptr);
    if (pool.first_block && block.id >= pool.first_block) return;
    in_use_.push_back({0, block.id, block.requested, block.bytes, label_of(block.label),
                       static_cast<uint16_t>(&pool - pools_.data()),
                       static_cast<uint8_t>(Kind::allocate)});
} catch (const std::bad_alloc &) {
    complete_ = false;
}

void MemoryTrace::Recorder::add_reserved(const MemoryPool::Impl &of, size_t bytes) noexcept try {
    Pool &pool = pool_of(&of, nullptr);
    if (pool.reserved_known) return;
    pool.reserved = bytes;
    pool.reserved_known = true;
} catch (const std::bad_alloc &) {
    complete_ = false;
}

namespace {

// Labels of one text are one label, wherever the text lies.
std::pair<std::vector<std::string>, std::vector<size_t>> joined(
    const std::vector<const char *> &labels) {
    std::vector<std::string> names;
    std::vector<size_t> places;
    for (const char *label : labels) {
        const std::string name = label ? label : "";
        const auto known = std::ranges::find(names, name);
        places.push_back(static_cast<size_t>(known - names.begin()));
        if (known == names.end()) names.push_back(name);
    }
    return {names, places};
}

}  // namespace

std::string MemoryTrace::Recorder::json() const {
    using namespace detail;
    const auto [labels, label_places] = joined(labels_);
    const auto name = [](std::string &to, const Pool &pool) { append_quoted(to, pool.name); };
    const auto reserved = [](std::string &to, const Pool &pool) {
        to += std::to_string(pool.reserved);
    };
    std::string text = "{\"format\":\"hk memory trace 1\",\"complete\":";
    text += complete_ ? "true" : "false";
    append_list(text += ",\"labels\":", labels, append_quoted);
    append_list(text += ",\"marks\":", marks_, append_quoted);
    append_list(text += ",\"pools\":", pools_, name);
    append_list(text += ",\"reserved\":", pools_, reserved);
    text += ",\"events\":[";

    // A block that was freed before what is in use was told was never told.
    std::set<std::pair<uint16_t, uint64_t>> live;
    const char *comma = "\n";
    const auto line = [&](const Event &event, auto... numbers) {
        text += comma;
        text += '[' + std::to_string(event.us) + ',' + std::to_string(event.kind);
        ((text += ',' + std::to_string(numbers)), ...);
        text += ']';
        comma = ",\n";
    };
    const auto write = [&](const Event &event) {
        switch (static_cast<Kind>(event.kind)) {
            case Kind::allocate:
                live.insert({event.pool, event.block});
                return line(event, event.pool, event.block, event.asked, event.given,
                            label_places[event.label]);
            case Kind::free:
                if (!live.erase({event.pool, event.block})) return;
                return line(event, event.pool, event.block);
            case Kind::reserve:
            case Kind::release:
                return line(event, event.pool, event.given, event.asked);
            case Kind::retry:
            case Kind::failure:
                return line(event, event.pool, event.asked);
            default:
                return line(event, event.label);
        }
    };
    for (const Event &event : in_use_) write(event);
    for (const Event &event : events_) write(event);
    return text + "\n]}\n";
}

}  // namespace hk
