// Sectors of global memory that a block has loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace software_cuda {

// A hash table with open addressing, whose places of blocks before count as empty.
class BlockSectors {
public:
    void begin_block() {
        block_++;
        size_ = 0;
    }
    // Whether it was not there.
    bool add(uint64_t sector) {
        if (2 * size_ >= places_.size()) grow();
        Place &place = place_of(sector);
        if (place.block == block_) return false;
        place = {sector, block_};
        size_++;
        return true;
    }

private:
    struct Place {
        uint64_t sector = 0, block = 0;
    };

    // Where the sector is, or the empty place where it belongs.
    Place &place_of(uint64_t sector) {
        const size_t mask = places_.size() - 1;
        size_t at = sector * 0x9e3779b97f4a7c15 >> 32 & mask;
        while (places_[at].block == block_ && places_[at].sector != sector) at = (at + 1) & mask;
        return places_[at];
    }
    void grow() {
        std::vector<Place> before(places_.empty() ? 1024 : 2 * places_.size());
        before.swap(places_);
        for (const Place &place : before) {
            if (place.block == block_) place_of(place.sector) = place;
        }
    }

    std::vector<Place> places_;
    size_t size_ = 0;
    uint64_t block_ = 1;
};

}  // namespace software_cuda
