#include "tensor_product/tiles.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

namespace hk::detail {

namespace {

constexpr int64_t kMostPlaces = std::numeric_limits<int32_t>::max() / int64_t{sizeof(int32_t)};

// With whole groups in each block.
int64_t count_tiles(PairPlaces &places, int64_t blocks, int64_t offsets, const TileSizes &sizes) {
    int64_t tiles = 0;
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t n = 0; n < offsets; n++) tiles += sizes.tiles(places.of(b, n));
        tiles = sizes.whole_groups(tiles);
    }
    return tiles;
}

}  // namespace

TileSizes::TileSizes(const KernelInfo &kernel) {
    const halide_filter_metadata_t &metadata = *kernel.metadata();
    for (int i = 0; i < metadata.num_arguments; i++) {
        const halide_filter_argument_t &argument = metadata.arguments[i];
        // A minimum and an extent of each dimension.
        const auto extent = [&](int d) {
            const int64_t *const *estimates = argument.buffer_estimates;
            return estimates && estimates[2 * d + 1] ? *estimates[2 * d + 1] : 0;
        };
        const std::string_view name = argument.name;
        if (name == "output") channels = extent(0);
        if (name == "output") rows = std::max(rows, extent(1));
        if (name == "row") rows = extent(0);
        if (name == "weight") depth = extent(1);
        if (name == "source") pairs = extent(0);
        if (name == "source") group = extent(1);
    }
}

TensorProductTiles::TensorProductTiles(const TensorProductMaps::Impl &maps, Direction direction,
                                       const TileSizes &sizes, CallContext &context)
    : key_{direction, sizes.rows, sizes.pairs, sizes.group} {
    const PairMaps pairs = maps.pairs(direction);
    blocks_ = (pairs.target.rows + sizes.rows - 1) / sizes.rows;
    if (maps.imap.type() == DataType::s64) {
        sort<int64_t>(pairs, sizes, context);
    } else {
        sort<int32_t>(pairs, sizes, context);
    }
}

template<typename Index>
void TensorProductTiles::sort(const PairMaps &maps, const TileSizes &sizes, CallContext &context) {
    const auto lay_out = [&](PairPlaces &places) {
        tiles_ = count_tiles(places, blocks_, maps.offsets, sizes);
        if (tiles_ == 0) return false;
        allocate(tiles_ * sizes.pairs);
        this->lay_out(places, maps.offsets, sizes);
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
    sort_pairs<Index>(maps, sizes.rows, context, lay_out, put, [&](int64_t, int64_t, int64_t end) {
        fill(end, sizes.tiles(end) * sizes.pairs);
    });
}

// Of each block and offset whole tiles, of each block whole groups.
void TensorProductTiles::lay_out(PairPlaces &places, int64_t offsets, const TileSizes &sizes) {
    int64_t tile = 0;
    for (int64_t b = 0; b < blocks_; b++) {
        first_[b] = static_cast<int32_t>(tile / sizes.group);
        for (int64_t n = 0; n < offsets; n++) {
            const int64_t end = tile + sizes.tiles(places.of(b, n));
            std::fill(offset_ + tile, offset_ + end, static_cast<int32_t>(n));
            places.of(b, n) = tile * sizes.pairs;
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

void TensorProductTiles::allocate(int64_t places) {
    if (places > kMostPlaces) {
        throw InvalidArgument("tensor_product: the maps fill " + std::to_string(places) +
                              " places of tiles, a kernel takes at most " +
                              std::to_string(kMostPlaces));
    }
    bytes_ = static_cast<size_t>(2 * places + tiles_ + blocks_ + 1) * sizeof(int32_t);
    memory_ = std::make_unique<Scratch>(bytes_);
    source_ = memory_->required_as<int32_t>("tensor_product");
    target_ = source_ + places;
    offset_ = target_ + places;
    first_ = offset_ + tiles_;
}

}  // namespace hk::detail
