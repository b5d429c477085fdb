#pragma once
// The pool behind hk::MemoryPool (hk/memory.h): blocks of size classes, best fit by class, divided
// and joined with their free neighbours.
//
// Bookkeeping lies apart from the memory, which may be a device's. Everything is behind one mutex:
// Halide's worker threads free what others allocated, and a hit is some tens of nanoseconds.

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hk/memory.h"
#include "memory/free_blocks.h"
#include "memory/observer.h"

namespace hk {

class MemoryPool::Impl {
public:
    using Block = detail::Block;
    // `pieces`: see Backend::upstream.
    using MakeUpstream = std::function<std::unique_ptr<MemoryUpstream>(bool pieces)>;

    // `own`: the library's queue of the device, whose work may use any block; null where none does.
    Impl(Device device, std::string name, MakeUpstream make, const Stream *own = nullptr);
    ~Impl();
    Impl(const Impl &) = delete;
    Impl &operator=(const Impl &) = delete;

    static MemoryPool handle(Impl &impl) { return MemoryPool(impl); }

    // `bytes` or a little more, with the label that reports name. Null where there is no memory
    // left, even without the cache. Whoever puts work on a queue calls order() for it before; if
    // `stream` is given, blocks that it need not wait for come first. Throws what the upstream
    // throws.
    Block *allocate(size_t bytes, const char *label, const Stream *stream = nullptr);
    void free(Block *block) noexcept;

    // What is put on the queue, a completed stream, from now on comes after what earlier owners of
    // the block have queued.
    void order(Block &block, const Stream &stream);

    // The work up to the event uses the block, on another queue than the library's own.
    void add_use(Block &block, const Stream &stream, const detail::Event &event) noexcept;

    // "cpu: no memory left: asked for 4096 bytes; 100 in use, …", for OutOfMemory.
    std::string shortage(size_t bytes) const;

    MemoryStatistics statistics() const;
    void trim(size_t keep) noexcept;
    void set_limit(int64_t bytes);
    void set_threshold(int64_t bytes);
    void set_caching(bool on);
    void set_upstream(std::unique_ptr<MemoryUpstream> upstream);
    void reset_peaks();

    Device device() const { return device_; }
    const std::string &name() const { return name_; }

    // f(block) for each block in use, the newest first, under the lock.
    template<typename F>
    void each_in_use(F &&f) const {
        const std::lock_guard lock(mutex_);
        for (const Block *block = in_use_; block; block = block->next) f(*block);
    }

private:
    Block *find(size_t bytes, const Stream *stream) noexcept;
    Block *grow(size_t bytes);
    Block *add_piece(void *memory, size_t bytes) noexcept;
    void divide(Block &block, size_t bytes) noexcept;
    void hand_out(Block &block, size_t requested, const char *label) noexcept;
    Block *join(Block &block) noexcept;
    void absorb_above(Block &block) noexcept;
    void give_back(Block &block) noexcept;
    void trim_locked(size_t keep) noexcept;
    void replace_upstream(std::unique_ptr<MemoryUpstream> upstream);
    void tell(detail::MemoryEvent::Kind kind, size_t asked, size_t given,
              const Block *block = nullptr) noexcept;

    Block *new_block() noexcept;
    void drop(Block &block) noexcept;

    bool is_host() const { return !backend_; }
    int64_t most_cached() const { return caching_ ? now_.threshold : 0; }

    const Device device_;
    detail::Backend *const backend_;  // null for the CPU
    const std::string name_;
    const std::optional<Stream> own_;
    const MakeUpstream make_;
    mutable std::mutex mutex_;
    std::unique_ptr<MemoryUpstream> upstream_;
    size_t granule_ = 1;  // what the upstream says of itself
    bool divides_ = true, joins_ = true;
    bool caching_ = true;

    detail::FreeBlocks free_;
    Block *in_use_ = nullptr;
    Block *tail_ = nullptr;  // where pieces join: the last block of the piece to go on with
    uint64_t last_id_ = 0;
    MemoryStatistics now_;
    std::deque<Block> nodes_;
    Block *spare_ = nullptr;  // those of nodes_ that stand for no memory
};

namespace detail {

// Of a device; `context`: a caller's, or null for the library's own. Throws DeviceError.
MemoryPool::Impl &memory_pool(Device device, void *context = nullptr);
MemoryPool::Impl &host_pool();

// All there are.
std::vector<MemoryPool::Impl *> memory_pools();

// Gives back what is cached of a caller's context, which he is about to destroy.
void forget_memory(Device device, void *context);

const char *memory_label() noexcept;  // of this thread; null: none

}  // namespace detail
}  // namespace hk
