#include "allocators.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "memory/pool.h"

namespace hk::replay {

namespace {

class PoolAllocator final : public Allocator {
public:
    explicit PoolAllocator(bool caching) { pool_.set_caching(caching); }

    void *allocate(size_t bytes) override {
        detail::Block *block = pool_.allocate(bytes, nullptr);
        if (!block) throw std::bad_alloc();
        return block;
    }
    void free(void *handle) override { pool_.free(static_cast<detail::Block *>(handle)); }
    void *memory(void *handle) const override {
        return static_cast<detail::Block *>(handle)->memory;
    }

    Usage usage() const override {
        const MemoryStatistics now = pool_.statistics();
        return {static_cast<size_t>(now.in_use), static_cast<size_t>(now.reserved),
                now.fragmentation()};
    }
    size_t peak_reserved() const override {
        return static_cast<size_t>(pool_.statistics().peak_reserved);
    }
    size_t peak_in_use() const override {
        return static_cast<size_t>(pool_.statistics().peak_in_use);
    }

private:
    MemoryPool::Impl pool_{Device::cpu(), "replay",
                           [](bool pieces) { return host_upstream(pieces); }};
};

class MallocAllocator final : public Allocator {
public:
    MallocAllocator() {
        malloc_trim(0);
        before_ = now();
    }

    void *allocate(size_t bytes) override {
        void *memory = std::malloc(bytes);
        if (!memory) throw std::bad_alloc();
        return memory;
    }
    void free(void *handle) override { std::free(handle); }
    void *memory(void *handle) const override { return handle; }

    Usage usage() const override {
        const Usage all = now();
        const auto above = [](size_t value, size_t base) { return value - std::min(value, base); };
        const Usage usage{above(all.in_use, before_.in_use), above(all.reserved, before_.reserved),
                          0};
        peak_.in_use = std::max(peak_.in_use, usage.in_use);
        peak_.reserved = std::max(peak_.reserved, usage.reserved);
        return usage;
    }
    size_t peak_reserved() const override { return peak_.reserved; }
    size_t peak_in_use() const override { return peak_.in_use; }

private:
    // What malloc has taken from the system tells little: much of it was there before the workload.
    // So reserved is what of the process is in memory, after malloc_trim() gave the rest back.
    static Usage now() {
        const struct mallinfo2 info = mallinfo2();
        size_t pages = 0;
        std::rewind(statm());
        if (std::fscanf(statm(), "%*u %zu", &pages) != 1) pages = 0;
        return {info.uordblks + info.hblkhd, pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)), 0};
    }

    static FILE *statm() {
        static FILE *const file = [] {
            FILE *file = std::fopen("/proc/self/statm", "r");
            if (!file) throw std::runtime_error("no /proc/self/statm");
            std::setvbuf(file, nullptr, _IONBF, 0);
            return file;
        }();
        return file;
    }

    Usage before_;
    mutable Usage peak_;
};

}  // namespace

std::unique_ptr<Allocator> pool_allocator(bool caching) {
    return std::make_unique<PoolAllocator>(caching);
}

std::unique_ptr<Allocator> malloc_allocator() { return std::make_unique<MallocAllocator>(); }

}  // namespace hk::replay
