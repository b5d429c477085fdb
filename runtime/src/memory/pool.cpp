#include "memory/pool.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "hk/error.h"
#include "memory/poison.h"

namespace hk {

using namespace detail;
using Kind = MemoryEvent::Kind;

namespace {

std::atomic<MemoryObserver *> the_observer{nullptr};

size_t rounded_up(size_t bytes, size_t granule) {
    return (bytes + granule - 1) / granule * granule;
}

int64_t as_count(size_t bytes) { return static_cast<int64_t>(bytes); }

void add(int64_t &counter, int64_t &peak, size_t bytes) {
    counter += as_count(bytes);
    peak = std::max(peak, counter);
}

void check_bytes(const std::string &pool, const char *what, int64_t bytes) {
    if (bytes >= 0) return;
    throw InvalidArgument(pool + ": a memory " + what + " of " + std::to_string(bytes) + " bytes");
}

}  // namespace

MemoryPool::Impl::Impl(Device device, std::string name, MakeUpstream make, const Stream *own)
    : device_(device),
      backend_(backend(device.type())),
      name_(std::move(name)),
      own_(own ? std::optional(*own) : std::nullopt),
      make_(std::move(make)) {
    now_.limit = now_.threshold = INT64_MAX;
    replace_upstream(make_(true));
}

MemoryPool::Impl::~Impl() { trim(0); }

Block *MemoryPool::Impl::allocate(size_t bytes, const char *label, const Stream *stream) {
    const std::lock_guard lock(mutex_);
    now_.allocations++;
    Block *block = nullptr;
    if (bytes <= SizeClass::kMostBytes) {
        const size_t size = SizeClass::holding(bytes).bytes();
        block = find(size, stream);
        if (block) now_.hits++;
        if (!block) block = grow(size);
        if (!block && now_.cached > 0) {
            tell(Kind::retry, bytes, 0);
            trim_locked(0);
            block = grow(size);
        }
        if (block) divide(*block, size);
    }
    if (!block) {
        now_.failures++;
        tell(Kind::failure, bytes, 0);
        return nullptr;
    }
    hand_out(*block, bytes, label);
    return block;
}

// A free block of the class, or the next larger one. Of equals one that a stream need not wait for.
Block *MemoryPool::Impl::find(size_t bytes, const Stream *stream) noexcept {
    constexpr int kMostLooks = 8;
    Block *block = free_.first(SizeClass::holding(bytes));
    if (!block || (!divides_ && block->bytes > bytes + bytes / 8)) return nullptr;
    if (stream && backend_) {
        Block *other = block;
        for (int i = 0; other && i < kMostLooks; i++, other = other->next) {
            if (!other->before.ordered(*backend_, *stream, own_.value_or(*stream))) continue;
            block = other;
            break;
        }
    }
    free_.remove(*block);
    now_.cached -= as_count(block->bytes);
    return block;
}

// A block of at least so many bytes with new memory, where possible behind the last block.
Block *MemoryPool::Impl::grow(size_t bytes) {
    const auto take = [&](size_t piece, void *after) -> void * {
        if (as_count(piece) > now_.limit - now_.reserved) return nullptr;
        return upstream_->allocate(piece, after);
    };
    const size_t at_hand = tail_ && tail_->free ? tail_->bytes : 0;
    void *const after = tail_ ? tail_->end() : nullptr;
    size_t piece = rounded_up(bytes - std::min(bytes, at_hand), granule_);
    void *memory = take(piece, after);
    if (memory && at_hand > 0 && memory != after) {
        upstream_->release(memory, piece);
        memory = nullptr;
    }
    if (!memory && at_hand > 0) {
        piece = rounded_up(bytes, granule_);
        memory = take(piece, nullptr);
    }
    return memory ? add_piece(memory, piece) : nullptr;
}

Block *MemoryPool::Impl::add_piece(void *memory, size_t bytes) noexcept {
    Block *block = new_block();
    if (!block) {
        upstream_->release(memory, bytes);
        return nullptr;
    }
    block->memory = static_cast<char *>(memory);
    block->piece = block->memory;
    block->bytes = bytes;
    if (is_host()) poison(memory, bytes);
    now_.upstream_allocations++;
    add(now_.reserved, now_.peak_reserved, bytes);
    tell(Kind::reserve, 0, bytes);
    if (tail_ && tail_->end() == block->memory) {
        block->below = tail_;
        tail_->above = block;
    }
    if (joins_) tail_ = block;
    if (!block->below || !block->below->free) return block;
    Block &below = *block->below;
    free_.remove(below);
    now_.cached -= as_count(below.bytes);
    absorb_above(below);
    return &below;
}

// Cuts off what lies above so many bytes.
void MemoryPool::Impl::divide(Block &block, size_t bytes) noexcept {
    if (!divides_ || block.bytes - bytes < SizeClass::kUnit) return;
    Block *rest = new_block();
    if (!rest) return;
    rest->memory = block.memory + bytes;
    rest->piece = block.piece;
    rest->bytes = block.bytes - bytes;
    if (!rest->before.copy(block.before)) return drop(*rest);
    rest->free = true;
    rest->below = &block;
    rest->above = block.above;
    if (rest->above) rest->above->below = rest;
    block.above = rest;
    block.bytes = bytes;
    if (tail_ == &block) tail_ = rest;
    free_.insert(*rest);
    now_.cached += as_count(rest->bytes);
}

void MemoryPool::Impl::hand_out(Block &block, size_t requested, const char *label) noexcept {
    block.free = false;
    block.requested = requested;
    block.label = label;
    block.id = ++last_id_;
    block.previous = nullptr;
    block.next = in_use_;
    if (in_use_) in_use_->previous = &block;
    in_use_ = &block;
    now_.blocks++;
    add(now_.in_use, now_.peak_in_use, block.bytes);
    add(now_.requested, now_.peak_requested, requested);
    if (is_host()) unpoison(block.memory, requested);
    tell(Kind::allocate, requested, block.bytes, &block);
}

void MemoryPool::Impl::free(Block *block) noexcept {
    if (!block) return;
    const std::lock_guard lock(mutex_);
    tell(Kind::free, block->requested, block->bytes, block);
    (block->previous ? block->previous->next : in_use_) = block->next;
    if (block->next) block->next->previous = block->previous;
    now_.blocks--;
    now_.in_use -= as_count(block->bytes);
    now_.requested -= as_count(block->requested);
    if (is_host()) poison(block->memory, block->bytes);
    if (backend_) {
        if (own_) block->before.add_own_queue();
        block->before.take(*backend_, block->used);
    }
    now_.cached += as_count(block->bytes);
    block->requested = 0;
    block->label = nullptr;
    block->free = true;
    free_.insert(*join(*block));
    if (now_.cached > most_cached()) trim_locked(static_cast<size_t>(most_cached()));
}

// One block with its free neighbours. It is in no list yet.
Block *MemoryPool::Impl::join(Block &block) noexcept {
    if (block.above && block.above->free) {
        free_.remove(*block.above);
        absorb_above(block);
    }
    if (!block.below || !block.below->free) return &block;
    Block &below = *block.below;
    free_.remove(below);
    absorb_above(below);
    return &below;
}

void MemoryPool::Impl::absorb_above(Block &block) noexcept {
    Block &above = *block.above;
    block.bytes += above.bytes;
    block.above = above.above;
    if (block.above) block.above->below = &block;
    if (backend_) block.before.take(*backend_, above.before);
    if (tail_ == &above) tail_ = &block;
    drop(above);
}

// A free block, or where pieces join the granules within it, counted from where its piece began.
// What is left on both sides stays.
void MemoryPool::Impl::give_back(Block &block) noexcept {
    char *first = block.memory, *last = block.end();
    if (joins_) {
        const auto place = [&](const char *memory) {
            return static_cast<size_t>(memory - block.piece);
        };
        first += rounded_up(place(first), granule_) - place(first);
        last -= place(last) % granule_;
        if (first >= last) return;
    } else if (block.below || block.above) {
        return;
    }
    free_.remove(block);
    now_.cached -= as_count(block.bytes);
    if (last < block.end()) divide(block, static_cast<size_t>(last - block.memory));
    Block *middle = &block;
    if (first > block.memory && last == block.end()) {
        divide(block, static_cast<size_t>(first - block.memory));
        if (block.end() == first) {
            middle = block.above;
            free_.remove(*middle);
            now_.cached -= as_count(middle->bytes);
            free_.insert(block);
            now_.cached += as_count(block.bytes);
        }
    }
    if (middle->memory != first || middle->end() != last) {  // no memory for bookkeeping
        now_.cached += as_count(block.bytes);
        free_.insert(*join(block));
        return;
    }
    if (middle->below) middle->below->above = nullptr;
    if (middle->above) middle->above->below = nullptr;
    if (tail_ == middle) tail_ = middle->below;
    const auto bytes = static_cast<size_t>(last - first);
    drop(*middle);
    if (is_host()) unpoison(first, bytes);
    upstream_->release(first, bytes);
    now_.upstream_releases++;
    now_.reserved -= as_count(bytes);
    tell(Kind::release, 0, bytes);
}

void MemoryPool::Impl::trim_locked(size_t keep) noexcept {
    free_.each_from_largest([&](Block &block) {
        if (now_.cached <= as_count(keep)) return false;
        give_back(block);
        return true;
    });
}

void MemoryPool::Impl::tell(Kind kind, size_t asked, size_t given, const Block *block) noexcept {
    MemoryObserver *observer = the_observer.load(std::memory_order_acquire);
    if (!observer) return;
    observer->on({kind, this, block ? block->id : 0, asked, given, block ? block->label : nullptr,
                  static_cast<size_t>(now_.reserved)});
}

Block *MemoryPool::Impl::new_block() noexcept {
    if (Block *block = spare_) {
        spare_ = block->next;
        block->next = nullptr;
        return block;
    }
    try {
        return &nodes_.emplace_back();
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void MemoryPool::Impl::drop(Block &block) noexcept {
    block = {};
    block.next = spare_;
    spare_ = &block;
}

void MemoryPool::Impl::order(Block &block, const Stream &stream) {
    if (!backend_) return;
    const std::lock_guard lock(mutex_);
    block.before.order(*backend_, device_.index(), stream, own_.value_or(stream));
}

void MemoryPool::Impl::add_use(Block &block, const Stream &stream, const Event &event) noexcept {
    if (!backend_) return;
    const std::lock_guard lock(mutex_);
    block.used.add(*backend_, stream, event);
}

std::string MemoryPool::Impl::shortage(size_t bytes) const {
    const MemoryStatistics now = statistics();
    const std::string limit =
        now.limit == INT64_MAX ? "no limit" : "the limit is " + std::to_string(now.limit);
    return name_ + ": no memory left: asked for " + std::to_string(bytes) + " bytes; " +
           std::to_string(now.in_use) + " in use, " + std::to_string(now.cached) +
           " cached (largest free block " + std::to_string(now.largest_free) + "), " + limit;
}

MemoryStatistics MemoryPool::Impl::statistics() const {
    const std::lock_guard lock(mutex_);
    MemoryStatistics now = now_;
    const Block *largest = free_.largest();
    now.largest_free = largest ? as_count(largest->bytes) : 0;
    return now;
}

void MemoryPool::Impl::trim(size_t keep) noexcept {
    const std::lock_guard lock(mutex_);
    trim_locked(keep);
}

void MemoryPool::Impl::set_limit(int64_t bytes) {
    check_bytes(name_, "limit", bytes);
    const std::lock_guard lock(mutex_);
    now_.limit = bytes;
    if (now_.reserved > bytes) {
        trim_locked(static_cast<size_t>(std::max<int64_t>(0, bytes - now_.in_use)));
    }
}

void MemoryPool::Impl::set_threshold(int64_t bytes) {
    check_bytes(name_, "threshold", bytes);
    const std::lock_guard lock(mutex_);
    now_.threshold = bytes;
    trim_locked(static_cast<size_t>(most_cached()));
}

void MemoryPool::Impl::set_caching(bool on) {
    std::unique_ptr<MemoryUpstream> upstream = make_(on);
    const std::lock_guard lock(mutex_);
    replace_upstream(std::move(upstream));
    caching_ = on;
}

void MemoryPool::Impl::set_upstream(std::unique_ptr<MemoryUpstream> upstream) {
    if (!upstream) throw InvalidArgument(name_ + ": the upstream is null");
    const std::lock_guard lock(mutex_);
    replace_upstream(std::move(upstream));
}

void MemoryPool::Impl::replace_upstream(std::unique_ptr<MemoryUpstream> upstream) {
    if (now_.blocks > 0) {
        throw InvalidArgument(name_ + ": another upstream while " + std::to_string(now_.blocks) +
                              " blocks are in use");
    }
    trim_locked(0);
    upstream_ = std::move(upstream);
    granule_ = upstream_->granule();
    divides_ = upstream_->divides();
    joins_ = upstream_->joins();
}

void MemoryPool::Impl::reset_peaks() {
    const std::lock_guard lock(mutex_);
    now_.peak_requested = now_.requested;
    now_.peak_in_use = now_.in_use;
    now_.peak_reserved = now_.reserved;
}

namespace detail {

void set_memory_observer(MemoryObserver *observer) noexcept {
    the_observer.store(observer, std::memory_order_release);
}

MemoryObserver *memory_observer() noexcept { return the_observer.load(); }

}  // namespace detail

}  // namespace hk
