#pragma once
// The library's memory: one caching pool a device, from which tensors come and what kernels need
// for themselves. A block that is freed is kept for the next one; freed neighbours become one
// block, and a block larger than needed is divided. So a loop that allocates the same again gets
// the same memory again, and what is reserved stays where it was after the first round.
//
// Waste: blocks are rounded up to 128 bytes, and above 4 KiB to 32 steps a power of two and 640
// bytes, so that less than 1/25 of a large block is unused. Where memory can't be divided (OpenCL's
// buffers) a block serves what needs at least 8/9 of it.
//
// On a device memory is handed out while kernels that used it before are only queued: work on the
// library's own queue comes after them anyway, and a caller's queue is made to wait for them. A
// tensor may therefore go as soon as the call that uses it has returned.
//
// Thread safety: everything here may be called from any thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "hk/device.h"

namespace hk {

// Bytes, but for the counts.
struct MemoryStatistics {
    int64_t requested = 0;     // what was asked for, of the blocks in use
    int64_t in_use = 0;        // the same, rounded up as above
    int64_t cached = 0;        // free, kept for the next
    int64_t reserved = 0;      // in_use + cached: all that was taken from the system or driver
    int64_t largest_free = 0;  // block
    int64_t peak_requested = 0, peak_in_use = 0, peak_reserved = 0;
    int64_t limit = 0, threshold = 0;  // of reserved; of cached. INT64_MAX: none

    int64_t blocks = 0;                // in use
    int64_t allocations = 0;           // in all, with those that failed
    int64_t hits = 0;                  // of them, those that cached memory served
    int64_t failures = 0;              // of them, those that got nothing
    int64_t upstream_allocations = 0;  // pieces taken from the system or driver
    int64_t upstream_releases = 0;

    // The share of cached memory that the largest free block is not: 0 where all is one block.
    double fragmentation() const {
        return cached ? 1 - static_cast<double>(largest_free) / static_cast<double>(cached) : 0;
    }
};

// Where a pool's memory comes from. The pool calls it under its lock.
class MemoryUpstream {
public:
    virtual ~MemoryUpstream() = default;

    // A piece of memory (a host pointer, a CUdeviceptr or a cl_mem), aligned to 128 bytes; null
    // where there is none. `bytes` is a multiple of granule(). `after`: where the pool would like
    // it to start, at the end of a piece that it has; null for anywhere. May throw DeviceError.
    virtual void *allocate(size_t bytes, void *after) = 0;

    // A whole piece; where pieces join also any part of them, in multiples of granule() from where
    // a piece begins.
    virtual void release(void *memory, size_t bytes) noexcept = 0;

    virtual size_t granule() const noexcept = 0;
    virtual bool divides() const noexcept = 0;  // whether a block may be a part of a piece
    virtual bool joins() const noexcept = 0;    // whether pieces that touch are one piece
};

// Of the CPU: pages of the system; or, with `pages` false, std::aligned_alloc for each block.
std::unique_ptr<MemoryUpstream> host_upstream(bool pages = true);

class MemoryPool {
public:
    // The pool of a device. Throws DeviceError where the device is not there, and OutOfMemory.
    static MemoryPool of(Device device);

    MemoryStatistics statistics() const;

    // Gives cached memory back until at most `keep` bytes are left, as far as whole pieces (of the
    // CPU: whole pages) are free.
    void trim(int64_t keep = 0) const;

    // The most bytes that may be reserved. An allocation beyond gives the cache back, tries again,
    // and then throws OutOfMemory. HK_MEMORY_LIMIT=bytes sets it for all pools.
    void set_limit(int64_t bytes) const;

    // The most bytes that are kept free; what is freed beyond goes back. Without a threshold a pool
    // keeps what it has. It stays while caching is off, and counts again when that is on.
    void set_threshold(int64_t bytes) const;

    // Off: each block is taken from the system or driver, and given back when it is freed. For
    // measurements, and for tools that look at single allocations. HK_MEMORY_POOL=off does it for
    // all pools. On and off take the place of an upstream that was set. Throws InvalidArgument
    // while blocks are in use.
    void set_caching(bool on) const;

    // Another source of memory. Throws InvalidArgument while blocks are in use.
    void set_upstream(std::unique_ptr<MemoryUpstream> upstream) const;

    void reset_peaks() const;  // peaks become what is now

    class Impl;

private:
    explicit MemoryPool(Impl &impl) : impl_(&impl) {}

    Impl *impl_;  // lives until the process ends
};

// Blocks that this thread allocates carry the label, for reports, until this object goes. Nested,
// the inner one counts. The text must live as long as the process: a literal.
class MemoryLabel {
public:
    explicit MemoryLabel(const char *text) noexcept;
    ~MemoryLabel();
    MemoryLabel(const MemoryLabel &) = delete;
    MemoryLabel &operator=(const MemoryLabel &) = delete;

private:
    const char *outer_;
};

}  // namespace hk
