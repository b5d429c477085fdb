#pragma once
// What a workload is replayed on.

#include <functional>
#include <memory>
#include <string>

namespace hk::replay {

struct Usage {
    size_t in_use = 0;  // blocks handed out, as they were rounded up
    size_t reserved = 0;
    double fragmentation = 0;  // hk::MemoryStatistics::fragmentation
};

class Allocator {
public:
    virtual ~Allocator() = default;

    // A handle; never null. And the block's memory.
    virtual void *allocate(size_t bytes) = 0;
    virtual void free(void *handle) = 0;
    virtual void *memory(void *handle) const = 0;

    virtual Usage usage() const = 0;
    virtual size_t peak_reserved() const = 0;
    virtual size_t peak_in_use() const = 0;
};

// The library's pool, one of its own; with `caching` false as it is with HK_MEMORY_POOL=off.
std::unique_ptr<Allocator> pool_allocator(bool caching);

// The C library's. What it has reserved is what the process has in memory above what it had before;
// peaks are those of the calls of usage().
std::unique_ptr<Allocator> malloc_allocator();

}  // namespace hk::replay
