#include "software_cuda/machine/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace software_cuda {

namespace {

constexpr uint64_t kAlignment = 512, kGuard = 512, kPage = 4096;
constexpr uint64_t kPoisonedBytes = 1 << 20;
// What is allocated gets fresh addresses as long as there are some, so that use after free is seen.
constexpr uint64_t kAddressesPerByte = 2, kFewestAddresses = uint64_t{1} << 32;
constexpr uint32_t kLaunches = 1024;

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void *reserve(uint64_t bytes, int protection) {
    void *p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    madvise(p, bytes, MADV_DONTDUMP);
    return p;
}

// Zeros, without their pages where whole ones are inside.
void clear(void *from, uint64_t bytes) {
    auto *begin = static_cast<uint8_t *>(from), *end = begin + bytes;
    auto *pages = begin + (kPage - reinterpret_cast<uintptr_t>(begin) % kPage) % kPage;
    auto *pages_end = end - reinterpret_cast<uintptr_t>(end) % kPage;
    if (pages >= pages_end) {
        std::memset(begin, 0, bytes);
        return;
    }
    std::memset(begin, 0, static_cast<size_t>(pages - begin));
    madvise(pages, static_cast<size_t>(pages_end - pages), MADV_DONTNEED);
    std::memset(pages_end, 0, static_cast<size_t>(end - pages_end));
}

}  // namespace

std::string hexadecimal(uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

Memory::Memory(uint64_t capacity) : capacity_(capacity) {
    windows_.bytes_reserved = std::max(capacity * kAddressesPerByte, kFewestAddresses);
    const uint64_t bytes = windows_.bytes_reserved;
    windows_.base = reinterpret_cast<uint64_t>(reserve(bytes, PROT_NONE));
    windows_.bytes = static_cast<uint8_t *>(reserve(bytes, PROT_READ | PROT_WRITE));
    windows_.written = static_cast<uint8_t *>(reserve(bytes, PROT_READ | PROT_WRITE));
    windows_.cells =
        static_cast<uint64_t *>(reserve(bytes * sizeof(uint64_t), PROT_READ | PROT_WRITE));
    windows_.sectors = static_cast<std::array<std::atomic<uint32_t>, 2> *>(
        reserve(bytes / kSector * sizeof *windows_.sectors, PROT_READ | PROT_WRITE));
    windows_.read_only = static_cast<std::array<std::atomic<uint64_t>, 2> *>(
        reserve(bytes / kSector * sizeof *windows_.read_only, PROT_READ | PROT_WRITE));
    next_ = windows_.base + kGuard;
}

Memory::~Memory() {
    munmap(reinterpret_cast<void *>(windows_.base), windows_.bytes_reserved);
    munmap(windows_.bytes, windows_.bytes_reserved);
    munmap(windows_.written, windows_.bytes_reserved);
    munmap(windows_.cells, windows_.bytes_reserved * sizeof(uint64_t));
    munmap(windows_.sectors, windows_.bytes_reserved / kSector * sizeof *windows_.sectors);
    munmap(windows_.read_only, windows_.bytes_reserved / kSector * sizeof *windows_.read_only);
}

Memory::Blocks::const_iterator Memory::block_before(uint64_t address) const {
    auto block = blocks_.upper_bound(address);
    return block == blocks_.begin() ? blocks_.end() : --block;
}

// Whether an allocation can lie there, guards included; moves next_ behind the first that is in the
// way.
bool Memory::fits(uint64_t address, uint64_t bytes) {
    auto block = blocks_.upper_bound(address);
    if (block != blocks_.begin()) --block;
    for (; block != blocks_.end() && block->first < address + bytes + kGuard; ++block) {
        const uint64_t end = block->first + aligned(block->second.bytes) + kGuard;
        if (end <= address || block->second.released) continue;
        next_ = end;
        return false;
    }
    return true;
}

uint64_t Memory::allocate(uint64_t bytes) {
    const std::unique_lock lock(mutex_);
    if (bytes == 0 || bytes > capacity_ || used_ + aligned(bytes) > capacity_) return 0;
    const uint64_t size = aligned(bytes), end = windows_.base + windows_.bytes_reserved;
    for (int rounds = 0; rounds < 2;) {
        if (next_ + size + kGuard > end) {
            next_ = windows_.base + kGuard;
            rounds++;
        } else if (fits(next_, size)) {
            const uint64_t address = next_;
            blocks_.erase(blocks_.lower_bound(address),
                          blocks_.lower_bound(address + size + kGuard));
            blocks_[address] = {bytes, false};
            used_ += size;
            next_ = address + size + kGuard;
            // Fresh memory is not zero: results that need it to be are wrong.
            std::memset(windows_.bytes + (address - windows_.base), 0xff,
                        std::min(bytes, kPoisonedBytes));
            return address;
        }
    }
    return 0;
}

void Memory::forget(uint64_t address, uint64_t bytes) {
    const uint64_t n = address - windows_.base;
    clear(windows_.bytes + n, bytes);
    clear(windows_.written + n, bytes);
    clear(windows_.cells + n, bytes * sizeof(uint64_t));
}

bool Memory::release(uint64_t address) {
    const std::unique_lock lock(mutex_);
    const auto block = blocks_.find(address);
    if (block == blocks_.end() || block->second.released) return false;
    block->second.released = true;
    used_ -= aligned(block->second.bytes);
    forget(address, block->second.bytes);
    return true;
}

std::optional<Allocation> Memory::find(uint64_t address) const {
    const std::shared_lock lock(mutex_);
    const auto block = block_before(address);
    if (block == blocks_.end() || block->second.released ||
        address - block->first >= block->second.bytes) {
        return std::nullopt;
    }
    return Allocation{block->first, block->second.bytes};
}

std::vector<Allocation> Memory::allocations() const {
    const std::shared_lock lock(mutex_);
    std::vector<Allocation> result;
    for (const auto &[base, block] : blocks_) {
        if (!block.released) result.push_back({base, block.bytes});
    }
    return result;
}

uint64_t Memory::used() const {
    const std::shared_lock lock(mutex_);
    return used_;
}

uint8_t *Memory::host_bytes(uint64_t address, uint64_t bytes) const {
    const auto allocation = find(address);
    if (!allocation || bytes > allocation->bytes - (address - allocation->base)) return nullptr;
    return windows_.bytes + (address - windows_.base);
}

void Memory::note_written(uint64_t address, uint64_t bytes) {
    std::memset(windows_.written + (address - windows_.base), 1, bytes);
}

bool Memory::write(uint64_t to, const void *from, uint64_t bytes) {
    uint8_t *const p = host_bytes(to, bytes);
    if (!p) return false;
    std::memcpy(p, from, bytes);
    note_written(to, bytes);
    return true;
}

bool Memory::read(void *to, uint64_t from, uint64_t bytes) const {
    const uint8_t *const p = host_bytes(from, bytes);
    if (!p) return false;
    std::memcpy(to, p, bytes);
    return true;
}

bool Memory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
    uint8_t *const p = host_bytes(to, bytes);
    const uint8_t *const q = host_bytes(from, bytes);
    if (!p || !q) return false;
    std::memmove(p, q, bytes);
    // What nobody wrote is not written by being copied.
    std::memmove(windows_.written + (to - windows_.base), windows_.written + (from - windows_.base),
                 bytes);
    return true;
}

bool Memory::fill(uint64_t to, uint32_t value, uint32_t value_bytes, uint64_t count) {
    if (count > capacity_ / value_bytes) return false;
    uint8_t *const p = host_bytes(to, count * value_bytes);
    if (!p) return false;
    for (uint64_t n = 0; n < count; n++) std::memcpy(p + n * value_bytes, &value, value_bytes);
    note_written(to, count * value_bytes);
    return true;
}

uint32_t Memory::next_launch() {
    const std::unique_lock lock(mutex_);
    if (++launch_ == kLaunches) {
        clear(windows_.cells, windows_.bytes_reserved * sizeof(uint64_t));
        launch_ = 1;
    }
    return launch_;
}

std::string Memory::describe(uint64_t address) const {
    const std::shared_lock lock(mutex_);
    const auto text = [](const char *where, uint64_t distance, Blocks::const_iterator block) {
        return std::to_string(distance) + " bytes " + where + " the " +
               (block->second.released ? "freed " : "") + "allocation of " +
               std::to_string(block->second.bytes) + " bytes at " + hexadecimal(block->first);
    };
    const auto before = block_before(address);
    const auto after = blocks_.upper_bound(address);
    if (before != blocks_.end() && address - before->first < before->second.bytes) {
        return text("into", address - before->first, before);
    }
    const uint64_t behind =
        before == blocks_.end() ? ~uint64_t{} : address - (before->first + before->second.bytes);
    const uint64_t ahead = after == blocks_.end() ? ~uint64_t{} : after->first - address;
    if (before == blocks_.end() && after == blocks_.end()) return "there is no allocation";
    return behind <= ahead ? text("after", behind, before) : text("before", ahead, after);
}

}  // namespace software_cuda
