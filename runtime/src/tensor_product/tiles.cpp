#include "tensor_product/tiles.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "hk/error.h"
#include "memory/scratch.h"
#include "tensor_product/pair_sort.h"

namespace hk::detail {

namespace {

constexpr int64_t kMostPlaces = std::numeric_limits<int32_t>::max() / int64_t{sizeof(int32_t)};

// With whole groups in each block.
int64_t count_tiles(const BlockLists &lists, int64_t blocks, const TileSizes &sizes) {
    int64_t tiles = 0;
    for (int64_t b = 0; b < blocks; b++) {
        for (const BlockPairs *of_block : lists.of(b)) tiles += sizes.tiles(of_block->place);
        tiles = sizes.whole_groups(tiles);
    }
    return tiles;
}

}  // namespace

TileSizes::TileSizes(const KernelInfo &kernel)
    : channels(kernel.extent("output", 0)),
      rows(std::max(kernel.extent("output", 1), kernel.extent("row", 0))),
      pairs(kernel.extent("source", 0)),
      group(kernel.extent("source", 1)),
      depth(kernel.extent("weight", 1)) {}

TensorProductTiles::TensorProductTiles(const char *operation, const TensorProductMaps::Impl &maps,
                                       Direction direction, const TileSizes &sizes)
    : key_{direction, sizes.rows, sizes.pairs, sizes.group} {
    const PairMaps pairs = maps.pairs(direction);
    blocks_ = (pairs.target.rows + sizes.rows - 1) / sizes.rows;
    if (maps.imap.type() == DataType::s64) {
        sort<int64_t>(operation, pairs, sizes);
    } else {
        sort<int32_t>(operation, pairs, sizes);
    }
}

template<typename Index>
void TensorProductTiles::sort(const char *operation, const PairMaps &maps, const TileSizes &sizes) {
    const auto lay_out = [&](const BlockLists &lists) {
        tiles_ = count_tiles(lists, blocks_, sizes);
        if (tiles_ == 0) return false;
        allocate(operation, tiles_ * sizes.pairs);
        this->lay_out(lists, sizes);
        return true;
    };
    const auto put = [&](const PairList<Index> &list, int64_t from, int64_t to, int64_t block,
                         int64_t place) {
        const auto least = static_cast<Index>(block * sizes.rows);
        if (list.packed()) {
            for (int64_t p = from; p < to; p++) {
                source_[place + p - from] = static_cast<int32_t>(list.sources[p]);
                target_[place + p - from] = static_cast<int32_t>(list.targets[p] - least);
            }
            return;
        }
        for (int64_t p = from; p < to; p++) {
            source_[place + p - from] = static_cast<int32_t>(list.source(p));
            target_[place + p - from] = static_cast<int32_t>(list.target(p) - least);
        }
    };
    sort_pairs<Index>(maps, sizes.rows, lay_out, put,
                      [&](int64_t end) { fill(end, sizes.tiles(end) * sizes.pairs); });
}

// Of each block and offset whole tiles, of each block whole groups.
void TensorProductTiles::lay_out(const BlockLists &lists, const TileSizes &sizes) {
    int64_t tile = 0;
    for (int64_t b = 0; b < blocks_; b++) {
        first_[b] = static_cast<int32_t>(tile / sizes.group);
        for (BlockPairs *of_block : lists.of(b)) {
            const int64_t end = tile + sizes.tiles(of_block->place);
            std::fill(offset_ + tile, offset_ + end, of_block->offset);
            of_block->place = tile * sizes.pairs;
            tile = end;
        }
        const int64_t end = sizes.whole_groups(tile);
        std::fill(offset_ + tile, offset_ + end, 0);
        fill(tile * sizes.pairs, end * sizes.pairs);
        tile = end;
        most_ = std::max(most_, static_cast<int32_t>(tile / sizes.group) - first_[b]);
    }
    first_[blocks_] = static_cast<int32_t>(tile / sizes.group);
}

// Pairs that nobody reads: to the row after a block's.
void TensorProductTiles::fill(int64_t from, int64_t to) {
    std::fill(source_ + from, source_ + to, 0);
    std::fill(target_ + from, target_ + to, static_cast<int32_t>(key_.rows));
}

void TensorProductTiles::allocate(const char *operation, int64_t places) {
    if (places > kMostPlaces) {
        throw InvalidArgument(std::string(operation) + ": the maps fill " + std::to_string(places) +
                              " places of tiles, a kernel takes at most " +
                              std::to_string(kMostPlaces));
    }
    bytes_ = static_cast<size_t>(2 * places + tiles_ + blocks_ + 1) * sizeof(int32_t);
    memory_ = std::make_unique<Scratch>(bytes_);
    source_ = memory_->required_as<int32_t>(operation);
    target_ = source_ + places;
    offset_ = target_ + places;
    first_ = offset_ + tiles_;
}

}  // namespace hk::detail
