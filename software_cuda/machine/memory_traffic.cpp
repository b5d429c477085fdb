#include "software_cuda/machine/memory_traffic.h"

#include <algorithm>
#include <array>
#include <bit>

namespace software_cuda {

namespace {

constexpr uint64_t kSector = Memory::kSector, kWord = 4, kBanks = 32;
constexpr unsigned kSizeBits = 5;  // of an access's bytes, at most 16

// Values of lanes, of which equal ones can be dropped.
class LaneValues {
public:
    void add(uint64_t value) { values_[size_++] = value; }
    void drop_equal() {
        std::sort(values_.begin(), values_.begin() + size_);
        size_ = std::unique(values_.begin(), values_.begin() + size_) - values_.begin();
    }
    size_t size() const { return static_cast<size_t>(size_); }
    const uint64_t *begin() const { return values_.data(); }
    const uint64_t *end() const { return values_.data() + size_; }

private:
    std::array<uint64_t, kLanes> values_;  // of a wavefront's lanes at most kBanks words
    std::ptrdiff_t size_ = 0;
};

// An access is aligned to its size, which is at most 16: it lies in one sector.
void count_sectors(const BlockState &block, const Access &access, uint64_t bytes,
                   MemoryCounts &counts) {
    LaneValues sectors, places;  // with the bytes that are read there
    for (uint32_t left = access.lanes; left; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        const uint64_t address = access.addresses[lane];
        sectors.add(address / kSector);
        places.add(address << kSizeBits | (access.sizes ? access.sizes[lane] : bytes));
    }
    sectors.drop_equal();
    places.drop_equal();
    uint64_t asked = 0;
    for (const uint64_t *place = places.begin(); place != places.end(); place++) {
        // Of several in one place, the last has most bytes.
        const bool last = place + 1 == places.end() || (place[0] ^ place[1]) >> kSizeBits;
        if (last) asked += *place & ((1u << kSizeBits) - 1);
    }
    counts.moved += sectors.size();
    counts.least += (asked + kSector - 1) / kSector;
    const bool stores = !is_load(*access.instruction);
    for (const uint64_t sector : sectors) {
        std::atomic<uint32_t> &last =
            block.memory.sectors[sector - block.memory.base / kSector][stores];
        const uint32_t now = block.counted_launch;
        // Blocks on several threads of the host: one of them is the first.
        if (last.load(std::memory_order_relaxed) != now &&
            last.exchange(now, std::memory_order_relaxed) != now)
            counts.distinct++;
    }
}

void count_wavefronts(const Access &access, uint64_t bytes, MemoryCounts &counts) {
    const uint64_t words = std::max(bytes / kWord, uint64_t{1}), lanes = kBanks / words;
    for (uint64_t first = 0; first < kLanes; first += lanes) {
        LaneValues touched;
        for (uint64_t lane = first; lane < first + lanes; lane++) {
            if (!(access.lanes >> lane & 1)) continue;
            for (uint64_t word = 0; word < words; word++)
                touched.add(access.addresses[lane] / kWord + word);
        }
        if (touched.size() == 0) continue;
        touched.drop_equal();
        std::array<uint32_t, kBanks> of_bank{};
        for (const uint64_t word : touched) of_bank[word % kBanks]++;
        counts.moved += *std::max_element(of_bank.begin(), of_bank.end());
        counts.least++;
    }
}

}  // namespace

void count_traffic(const BlockState &block, const Access &access, MemoryCounts &counts) {
    if (!access.lanes) return;
    const Instruction &i = *access.instruction;
    const uint64_t bytes = uint64_t{i.bytes} * i.vector;
    counts.requests++;
    for (uint32_t left = access.lanes; left; left &= left - 1)
        counts.bytes += access.sizes ? access.sizes[std::countr_zero(left)] : bytes;
    if (i.space == Space::kShared)
        count_wavefronts(access, bytes, counts);
    else
        count_sectors(block, access, bytes, counts);
}

}  // namespace software_cuda
