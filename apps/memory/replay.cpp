#include "replay.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>

namespace hk::replay {

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::time_point since) {
    return std::chrono::duration<double, std::nano>(Clock::now() - since).count();
}

// Bytes of a block: no two neighbouring words are alike, nor those of two blocks.
uint64_t word_of(uint64_t block, size_t place) {
    return (block << 40 ^ place) * 0x9e3779b97f4a7c15u;
}

void fill(char *memory, size_t bytes, uint64_t block) {
    for (size_t place = 0; place < bytes; place += 8) {
        const uint64_t word = word_of(block, place);
        std::memcpy(memory + place, &word, std::min<size_t>(8, bytes - place));
    }
}

bool is_filled(const char *memory, size_t bytes, uint64_t block) {
    for (size_t place = 0; place < bytes; place += 8) {
        const uint64_t word = word_of(block, place);
        if (std::memcmp(memory + place, &word, std::min<size_t>(8, bytes - place)) != 0)
            return false;
    }
    return true;
}

// The address ranges of blocks in use.
class Ranges {
public:
    bool insert(char *memory, size_t bytes) {
        char *const end = memory + std::max<size_t>(bytes, 1);
        const auto above = ends_.lower_bound(memory);
        if (above != ends_.end() && above->first < end) return false;
        if (above != ends_.begin() && std::prev(above)->second > memory) return false;
        return ends_.insert({memory, end}).second;
    }
    void erase(char *memory) { ends_.erase(memory); }

private:
    std::map<char *, char *> ends_;
};

struct Held {
    void *handle = nullptr;
    uint64_t block = 0;
};

}  // namespace

Memory check(const Workload &workload, Allocator &allocator) {
    Memory memory;
    Ranges ranges;
    std::vector<Held> slots(workload.slots);
    uint64_t blocks = 0;
    size_t live = 0, count = 0;
    double reserved = 0, in_use = 0, fragmentation = 0;
    bool after_peak = false;
    for (const Operation &operation : workload.operations) {
        Held &held = slots[operation.slot];
        if (operation.allocates) {
            held = {allocator.allocate(operation.bytes), ++blocks};
            auto *at = static_cast<char *>(allocator.memory(held.handle));
            if (!ranges.insert(at, operation.bytes)) {
                memory.fault = "block " + std::to_string(held.block) + " overlaps another";
            }
            fill(at, operation.bytes, held.block);
            live += operation.bytes;
        } else {
            auto *at = static_cast<char *>(allocator.memory(held.handle));
            if (!is_filled(at, operation.bytes, held.block)) {
                memory.fault = "block " + std::to_string(held.block) + " lost what it held";
            }
            ranges.erase(at);
            allocator.free(held.handle);
            live -= operation.bytes;
        }
        const Usage usage = allocator.usage();
        after_peak = after_peak || live == workload.live_peak;
        if (!after_peak) continue;
        count++;
        reserved += static_cast<double>(usage.reserved);
        in_use += static_cast<double>(usage.in_use);
        fragmentation += usage.fragmentation;
    }
    memory.peak_in_use = allocator.peak_in_use();
    memory.peak_reserved = allocator.peak_reserved();
    if (in_use > 0) {
        memory.reserved_to_in_use = reserved / in_use;
        memory.fragmentation = fragmentation / static_cast<double>(count);
    }
    return memory;
}

double time_pairs(const Workload &workload, Allocator &allocator, int rounds, bool touch) {
    constexpr size_t kPage = 4096;
    std::vector<void *> slots(workload.slots);
    double best = 0;
    for (int round = 0; round < rounds; round++) {
        const Clock::time_point start = Clock::now();
        for (const Operation &operation : workload.operations) {
            void *&handle = slots[operation.slot];
            if (!operation.allocates) {
                allocator.free(handle);
                continue;
            }
            handle = allocator.allocate(operation.bytes);
            if (!touch) continue;
            auto *memory = static_cast<volatile char *>(allocator.memory(handle));
            for (size_t place = 0; place < operation.bytes; place += kPage) memory[place] = 1;
        }
        const double pair = nanoseconds(start) / static_cast<double>(workload.allocations());
        best = round == 0 ? pair : std::min(best, pair);
    }
    return best;
}

Hit time_hit(Allocator &allocator, size_t bytes) {
    constexpr int kRounds = 400;
    std::array<void *, 64> handles;
    Hit best;
    for (int round = 0; round < kRounds; round++) {
        const Clock::time_point start = Clock::now();
        for (void *&handle : handles) handle = allocator.allocate(bytes);
        const double allocate = nanoseconds(start) / handles.size();
        const Clock::time_point middle = Clock::now();
        for (void *handle : handles) allocator.free(handle);
        const double free = nanoseconds(middle) / handles.size();
        // The first rounds miss.
        if (round == 10) best = {allocate, free};
        if (round > 10) best = {std::min(best.allocate, allocate), std::min(best.free, free)};
    }
    return best;
}

}  // namespace hk::replay
