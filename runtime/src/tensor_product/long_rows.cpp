#include "tensor_product/long_rows.h"

#include <algorithm>

namespace hk::detail {

namespace {

using Impl = TensorProductMaps::Impl;

// Whether all pairs of some block of rows are more than a row may have, which is found in a
// fraction of the time that a number for each row takes. Maps of 27 offsets have no such block
// where a row is in no two pairs of one offset.
template<typename Index>
bool any_block_exceeds(const PairMaps &maps, int64_t most) {
    constexpr int64_t kRows = 512;
    const auto blocks = static_cast<size_t>((maps.target.rows + kRows - 1) / kRows);
    const ListGroups groups(maps);
    std::vector<std::vector<int64_t>> counts(static_cast<size_t>(groups.count()));
    groups.each([&](int64_t g, int64_t first, int64_t end) {
        std::vector<int64_t> &of_group = counts[static_cast<size_t>(g)];
        of_group.resize(blocks);
        for (int64_t i = first; i < end; i++) {
            each_run(pair_list<Index>(maps, i), kRows,
                     [&](uint32_t b, int64_t from, int64_t to) { of_group[b] += to - from; });
        }
    });
    for (size_t b = 0; b < blocks; b++) {
        int64_t pairs = 0;
        for (const std::vector<int64_t> &of_group : counts) pairs += of_group[b];
        if (pairs > most) return true;
    }
    return false;
}

// each(place, row) for all places in the order of the maps; row: -1 for padding.
template<typename Index, typename Each>
void each_place(const PairMaps &maps, Each each) {
    int64_t place = 0;
    for (int64_t i = 0, lists = maps.lists(); i < lists; i++) {
        const auto list = pair_list<Index>(maps, i);
        for (int64_t p = 0; p < list.length; p++)
            each(place++, list.source(p) < 0 ? -1 : std::max<int64_t>(list.target(p), -1));
    }
}

// As TensorProductMaps take them.
Tensor starts_of(const Impl &maps) {
    if (!maps.ragged) return {};
    const Tensor starts = Tensor::zeros({maps.offsets + 1}, DataType::s64);
    auto *ends = starts.data<int64_t>() + 1;
    for (const PairRange &range : maps.ranges) ends[range.offset] = range.length;
    for (int64_t n = 1; n < maps.offsets; n++) ends[n] += ends[n - 1];
    return starts;
}

}  // namespace

TensorProductLongRows::TensorProductLongRows(const Impl &maps, const Key &key)
    : key_(key), part_(std::min(kPart, key.most)) {
    const PairMaps pairs = maps.pairs(key.direction);
    const auto make = [&]<typename Index>(Index) {
        if (!any_block_exceeds<Index>(pairs, key.most)) return;
        std::vector<int64_t> counts(static_cast<size_t>(pairs.target.rows));
        find<Index>(pairs, counts);
        if (!empty()) split<Index>(maps, pairs, counts);
    };
    maps.imap.type() == DataType::s64 ? make(int64_t()) : make(int32_t());
}

// Makes of each row's number of pairs the place of its next one among those of all parts, filled up
// to whole parts; -1 for a row that is not long.
template<typename Index>
void TensorProductLongRows::find(const PairMaps &maps, std::vector<int64_t> &counts) {
    each_place<Index>(maps, [&](int64_t, int64_t row) {
        if (row >= 0) counts[static_cast<size_t>(row)]++;
    });
    int64_t parts = 0;
    for (size_t row = 0; row < counts.size(); row++) {
        const int64_t first = parts;
        if (counts[row] > key_.most) {
            parts += (counts[row] + part_ - 1) / part_;
            rows_.push_back({static_cast<int64_t>(row), first, parts});
        }
        counts[row] = parts > first ? first * part_ : -1;
    }
}

template<typename Index>
void TensorProductLongRows::split(const Impl &maps, const PairMaps &pairs,
                                  std::vector<int64_t> &next) {
    const Shape &shape = pairs.target.map.shape();
    const DataType type = pairs.target.map.type();
    const Tensor to_others(shape, type), to_parts(shape, type);
    auto *other = to_others.data<Index>(), *part = to_parts.data<Index>();
    each_place<Index>(pairs, [&](int64_t place, int64_t row) {
        const bool is_long = row >= 0 && next[static_cast<size_t>(row)] >= 0;
        other[place] = static_cast<Index>(is_long ? -1 : row);
        part[place] = static_cast<Index>(is_long ? next[static_cast<size_t>(row)]++ / part_ : -1);
    });
    const Tensor starts = starts_of(maps);
    const auto with = [&](const Tensor &target, int64_t rows) {
        if (key_.direction == Direction::forward)
            return TensorProductMaps(maps.imap, target, maps.input_rows, rows, starts, false);
        return TensorProductMaps(target, maps.omap, rows, maps.output_rows, starts, false);
    };
    others_ = with(to_others, pairs.target.rows);
    parts_ = with(to_parts, count());
    bytes_ = static_cast<size_t>(2 * to_others.elements() * size_of(type));
}

size_t TensorProductLongRows::bytes() const {
    return empty() ? 0 : bytes_ + others_->bytes() + parts_->bytes();
}

void TensorProductLongRows::add(const Tensor &parts, const Tensor &result) const {
    const Tensor terms = parts.to(Device::cpu()).cast(DataType::f64);
    const int64_t channels = terms.shape()[1];
    for (const LongRow &row : rows_) {
        const Tensor to = result.slice(0, row.row, 1);
        const Tensor sums = to.to(Device::cpu()).cast(DataType::f64);
        auto *sum = sums.data<double>();
        for (int64_t p = row.first; p < row.end; p++) {
            const auto *term = terms.data<double>() + p * channels;
            for (int64_t c = 0; c < channels; c++) sum[c] += term[c];
        }
        to.copy_from(sums.cast(result.type()));
    }
}

}  // namespace hk::detail
