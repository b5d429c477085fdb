// Memory of a device. Its addresses are not the host's: reading through one on the host faults, as
// with a GPU.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace software_cuda {

// Items by their addresses, the first of which has the address `base`. Their places are computed as
// integers: of other addresses, 0 above all, there is no pointer.
template<typename T>
class ByAddress {
public:
    ByAddress() = default;
    explicit ByAddress(T *first, uint64_t base = 0)
        : zero_(reinterpret_cast<uintptr_t>(first) - base * sizeof(T)) {}

    [[gnu::always_inline]] T *operator+(uint64_t address) const {
        return reinterpret_cast<T *>(zero_ + address * sizeof(T));
    }
    [[gnu::always_inline]] T &operator[](uint64_t address) const { return *(*this + address); }

private:
    uintptr_t zero_ = 0;
};

struct Allocation {
    uint64_t base = 0, bytes = 0;
};

// Functions may be called by several threads at once. Copies of ranges that are not inside one
// allocation are refused.
class Memory {
public:
    explicit Memory(uint64_t capacity);
    ~Memory();
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    // Aligned to 512 bytes, with unallocated bytes before and after it; 0 where there is no space,
    // or for no bytes.
    uint64_t allocate(uint64_t bytes);
    bool release(uint64_t address);
    // The allocation that holds an address.
    std::optional<Allocation> find(uint64_t address) const;
    // Whether the address is one that only this memory gives out, allocated or not.
    bool reserves(uint64_t address) const {
        return address - windows_.base < windows_.bytes_reserved;
    }
    std::vector<Allocation> allocations() const;  // those not released
    uint64_t capacity() const { return capacity_; }
    uint64_t used() const;

    bool write(uint64_t to, const void *from, uint64_t bytes);
    bool read(void *to, uint64_t from, uint64_t bytes) const;
    bool copy(uint64_t to, uint64_t from, uint64_t bytes);
    // `count` values of 1, 2 or 4 bytes.
    bool fill(uint64_t to, uint32_t value, uint32_t value_bytes, uint64_t count);
    // Where the device's bytes lie on the host, null unless the range is inside one allocation.
    // Bytes written through it are made known by note_written.
    uint8_t *host_bytes(uint64_t address, uint64_t bytes) const;
    void note_written(uint64_t address, uint64_t bytes);

    // "4 bytes after the allocation of 1024 bytes at 0x…", for messages.
    std::string describe(uint64_t address) const;

    // For the machine: of a byte at `base + n` of the device, its host byte is at bytes[n], whether
    // anybody wrote it at written[n], and its accesses of the current launch at cells[n]
    // (machine/race_cell.h).
    struct Windows {
        uint64_t base = 0, bytes_reserved = 0;
        uint8_t *bytes = nullptr, *written = nullptr;
        uint64_t *cells = nullptr;
        // Of a sector of 32 bytes, the last launch that loaded from it and stored to it.
        std::array<std::atomic<uint32_t>, 2> *sectors = nullptr;
        // Of a sector, the last launch that loaded from it by ld.global.nc, or stored to it, in the
        // upper half, and which bytes in the lower one.
        std::array<std::atomic<uint64_t>, 2> *read_only = nullptr;
    };
    const Windows &windows() const { return windows_; }
    // A number below 1024 of a launch that uses cells, unlike those of the cells that are not zero.
    uint32_t next_launch();
    // A number of a launch that uses sectors or read_only, unlike that of any before.
    uint32_t next_counted_launch() { return ++counted_launch_; }
    static constexpr uint64_t kSector = 32;

private:
    struct Block {
        uint64_t bytes;
        bool released;
    };
    using Blocks = std::map<uint64_t, Block>;

    Blocks::const_iterator block_before(uint64_t address) const;
    bool fits(uint64_t address, uint64_t bytes);
    void forget(uint64_t address, uint64_t bytes);

    const uint64_t capacity_;
    Windows windows_;
    mutable std::shared_mutex mutex_;
    Blocks blocks_;
    uint64_t used_ = 0, next_ = 0;
    uint32_t launch_ = 0;
    std::atomic<uint32_t> counted_launch_ = 0;
};

std::string hexadecimal(uint64_t value);

}  // namespace software_cuda
