#pragma once
// The maps of a tensor product as C++ walks over them: the pairs of each offset, from a source row
// to a target row, in runs of the blocks of target rows that they reach.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "hk/tensor.h"
#include "parallel.h"

namespace hk::detail {

// One of the two maps.
struct PairSide {
    const Tensor &map;
    int64_t rows;  // of the tensor that it points into
};

// The places of an offset in ragged maps.
struct PairRange {
    int64_t offset, first, length;
};

struct PairMaps {
    PairSide source, target;
    const std::vector<PairRange> *ranges;  // of ragged maps, offsets upwards, none of them empty;
                                           // null: the maps are padded
    int64_t offsets;

    // Offsets that have places.
    int64_t lists() const {
        if (ranges) return std::ssize(*ranges);
        return source.map.shape()[1] == 0 ? 0 : offsets;
    }
};

// The pairs of an offset.
template<typename Index>
struct PairList {
    int64_t offset;
    const Index *sources, *targets;
    int64_t length, source_step, target_step;

    int64_t source(int64_t p) const { return sources[p * source_step]; }
    int64_t target(int64_t p) const { return targets[p * target_step]; }
    bool packed() const { return source_step == 1 && target_step == 1; }
};

template<typename Index>
PairList<Index> pair_list(const PairMaps &maps, int64_t i) {
    const Tensor &sources = maps.source.map, &targets = maps.target.map;
    const PairRange range =
        maps.ranges ? (*maps.ranges)[static_cast<size_t>(i)] : PairRange{i, i, sources.shape()[1]};
    const size_t step = maps.ranges ? 0 : 1;
    return {range.offset,
            sources.data<Index>() + range.first * sources.strides()[0],
            targets.data<Index>() + range.first * targets.strides()[0],
            range.length,
            sources.strides()[step],
            targets.strides()[step]};
}

// Lists in groups of about as many places each, for threads.
class ListGroups {
public:
    explicit ListGroups(const PairMaps &maps)
        : maps_(maps), count_(std::min<int64_t>(maps.lists(), 64)) {}

    int64_t count() const { return count_; }

    // one(group, first list, end) on all threads.
    template<typename One>
    void each(One one) const {
        parallel(count_, [&](int64_t g) { one(g, first(g), first(g + 1)); });
    }

private:
    int64_t first(int64_t g) const {
        const int64_t lists = maps_.lists();
        if (g == count_) return lists;
        if (!maps_.ranges || lists == count_)
            return lists / count_ * g + lists % count_ * g / count_;
        const PairRange &last = maps_.ranges->back();
        const int64_t place = (last.first + last.length) / count_ * g;
        const auto before = [](const PairRange &range, int64_t at) { return range.first < at; };
        return std::lower_bound(maps_.ranges->begin(), maps_.ranges->end(), place, before) -
               maps_.ranges->begin();
    }

    const PairMaps &maps_;
    const int64_t count_;
};

constexpr int kPairsAtOnce = 64;

// Whether each of the pairs from p on is one, and reaches a row from least on. Without a branch,
// for vectors.
template<typename Index>
bool all_in_block(const PairList<Index> &list, int64_t p, int64_t least, int64_t rows) {
    using Unsigned = std::make_unsigned_t<Index>;
    const Index *sources = list.sources + p, *targets = list.targets + p;
    const auto from = static_cast<Unsigned>(least), count = static_cast<Unsigned>(rows);
    Unsigned outside = 0;
    for (int i = 0; i < kPairsAtOnce; i++) {
        outside |= static_cast<Unsigned>(static_cast<Unsigned>(targets[i]) - from) >= count;
        outside |= sources[i] < 0;
    }
    return outside == 0;
}

// Calls run(b, first, end) for positions of pairs that reach rows of block b, without padding.
template<typename Index, typename Run>
void each_run(const PairList<Index> &list, int64_t rows, const Run &run) {
    for (int64_t p = 0; p < list.length;) {
        const int64_t row = list.target(p);
        if (row < 0 || list.source(p) < 0) {
            p++;
            continue;
        }
        const auto block = static_cast<uint32_t>(row) / static_cast<uint32_t>(rows);
        const int64_t first = p, least = block * rows;
        const auto here = [&](int64_t at) {
            return static_cast<uint64_t>(list.target(at) - least) < static_cast<uint64_t>(rows) &&
                   list.source(at) >= 0;
        };
        p++;
        while (list.packed() && p + kPairsAtOnce <= list.length && here(p + kPairsAtOnce - 1) &&
               all_in_block(list, p, least, rows)) {
            p += kPairsAtOnce;
        }
        while (p < list.length && here(p)) p++;
        run(block, first, p);
    }
}

}  // namespace hk::detail
