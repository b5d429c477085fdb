#include "software_cuda/machine/memory_traffic.h"

#include <algorithm>
#include <array>
#include <bit>

namespace software_cuda {

namespace {

constexpr uint64_t kSector = Memory::kSector, kWord = 4, kBanks = 32;
constexpr unsigned kSizeBits = 5;  // of an access's bytes, at most 16

// Values of lanes, of which equal ones can be dropped. Most warps have theirs in order.
class LaneValues {
public:
    void add(uint64_t value) {
        if (size_ > 0 && values_[size_ - 1] == value) return;
        sorted_ = sorted_ && (size_ == 0 || values_[size_ - 1] < value);
        values_[size_++] = value;
    }
    void drop_equal() {
        if (sorted_) return;
        std::sort(values_.begin(), values_.begin() + size_);
        size_ = std::unique(values_.begin(), values_.begin() + size_) - values_.begin();
    }
    size_t size() const { return static_cast<size_t>(size_); }
    const uint64_t *begin() const { return values_.data(); }
    const uint64_t *end() const { return values_.data() + size_; }

private:
    std::array<uint64_t, kLanes> values_;
    std::ptrdiff_t size_ = 0;
    bool sorted_ = true;
};

// Distinct words of a wavefront's lanes, in a list for each bank: most have one, or none.
class BankWords {
public:
    BankWords() { first_.fill(kNone); }
    void add(uint64_t word) {
        const uint64_t bank = word % kBanks;
        for (uint8_t at = first_[bank]; at != kNone; at = next_[at])
            if (words_[at] == word) return;
        words_[size_] = word;
        next_[size_] = first_[bank];
        first_[bank] = size_++;
        most_ = std::max(most_, ++of_bank_[bank]);
    }
    uint8_t most() const { return most_; }  // of one bank

private:
    static constexpr uint8_t kNone = 255;
    std::array<uint64_t, kBanks> words_;  // lanes of a wavefront touch no more
    std::array<uint8_t, kBanks> next_, first_, of_bank_{};
    uint8_t size_ = 0, most_ = 0;
};

// An access is aligned to its size, which is at most 16: it lies in one sector.
void count_sectors(BlockState &block, const Access &access, uint64_t bytes, MemoryCounts &counts) {
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
    const bool is_kept = !stores && !access.instruction->past_first_cache;
    for (const uint64_t sector : sectors) {
        if (!is_kept || block.loaded.insert(sector).second) counts.second_cache++;
        std::atomic<uint32_t> &last =
            block.memory.sectors[sector - block.memory.base / kSector][stores];
        const uint32_t now = block.counted_launch;
        // Blocks on several threads of the host: one of them is the first.
        if (last.load(std::memory_order_relaxed) != now &&
            last.exchange(now, std::memory_order_relaxed) != now)
            counts.distinct++;
    }
}

struct Wavefronts {
    uint64_t moved = 0, least = 0;
};

Wavefronts wavefronts_of(const Access &access, uint64_t bytes) {
    const uint64_t words = std::max(bytes / kWord, uint64_t{1}), lanes = kBanks / words;
    Wavefronts wavefronts;
    for (uint64_t first = 0; first < kLanes; first += lanes) {
        BankWords touched;
        for (uint64_t lane = first; lane < first + lanes; lane++) {
            if (!(access.lanes >> lane & 1)) continue;
            for (uint64_t word = 0; word < words; word++)
                touched.add(access.addresses[lane] / kWord + word);
        }
        wavefronts.moved += touched.most();
        wavefronts.least += touched.most() > 0;
    }
    return wavefronts;
}

// Wavefronts depend on where lanes are to each other, and that is most often as it was the last
// time that a warp came to the instruction.
class LastWavefronts {
public:
    const Wavefronts &of(const Access &access, uint64_t bytes) {
        const uint64_t in_word = access.addresses[0] % kWord;
        std::array<uint64_t, kLanes> distances;
        for (size_t l = 0; l < kLanes; l++)
            distances[l] = access.addresses[l] - access.addresses[0];
        if (bytes != bytes_ || in_word != in_word_ || distances != distances_) {
            bytes_ = bytes;
            in_word_ = in_word;
            distances_ = distances;
            wavefronts_ = wavefronts_of(access, bytes);
        }
        return wavefronts_;
    }

private:
    uint64_t bytes_ = 0, in_word_ = 0;
    std::array<uint64_t, kLanes> distances_{};
    Wavefronts wavefronts_;
};

void count_wavefronts(const Access &access, uint64_t bytes, MemoryCounts &counts) {
    constexpr uint32_t kAll = 0xffffffff;
    constexpr size_t kKept = 64;
    thread_local std::array<LastWavefronts, kKept> last;
    const size_t place = reinterpret_cast<uintptr_t>(access.instruction) / sizeof(Instruction);
    const Wavefronts wavefronts =
        access.lanes == kAll ? last[place % kKept].of(access, bytes) : wavefronts_of(access, bytes);
    counts.moved += wavefronts.moved;
    counts.least += wavefronts.least;
}

}  // namespace

void count_traffic(BlockState &block, const Access &access, MemoryCounts &counts) {
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
