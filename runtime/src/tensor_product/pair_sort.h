#pragma once
// Sorts the pairs of a tensor product by blocks of target rows and, in a block, by offsets. Its
// time and memory grow with the pairs and with the blocks, whatever the number of offsets: what a
// block has of an offset is kept where there is any.

#include <numeric>
#include <span>

#include "tensor_product/pair_lists.h"

namespace hk::detail {

// What a block has of an offset.
struct BlockPairs {
    int64_t place;  // the number of pairs; then where the next of them goes
    int32_t block, offset;
};

class BlockLists {
public:
    BlockLists(const ListGroups &groups, int64_t blocks)
        : blocks_(blocks), groups_(static_cast<size_t>(groups.count())) {}

    // Those of a block, offsets upwards.
    std::span<BlockPairs *const> of(int64_t block) const {
        const auto b = static_cast<size_t>(block);
        return {ordered_.data() + first_[b], ordered_.data() + first_[b + 1]};
    }

    // Counts the pairs of the lists first to end - 1.
    template<typename Index>
    void count(const PairMaps &maps, int64_t rows, int64_t g, int64_t first, int64_t end) {
        Group &group = groups_[static_cast<size_t>(g)];
        std::vector<BlockPairs> &pairs = group.pairs;
        std::vector<int64_t> found(static_cast<size_t>(blocks_), -1);
        for (int64_t i = first; i < end; i++) {
            const auto list = pair_list<Index>(maps, i);
            const int64_t of_list = std::ssize(pairs);
            each_run(list, rows, [&](uint32_t b, int64_t from, int64_t to) {
                if (found[b] < of_list) {
                    found[b] = std::ssize(pairs);
                    pairs.push_back(
                        {0, static_cast<int32_t>(b), static_cast<int32_t>(list.offset)});
                }
                pairs[static_cast<size_t>(found[b])].place += to - from;
            });
            group.ends.push_back(std::ssize(pairs));
        }
    }

    // After all are counted.
    void order() {
        first_.assign(static_cast<size_t>(blocks_) + 1, 0);
        for (const Group &group : groups_) {
            for (const BlockPairs &of_block : group.pairs)
                first_[static_cast<size_t>(of_block.block) + 1]++;
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        ordered_.resize(static_cast<size_t>(first_.back()));
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (Group &group : groups_) {
            for (BlockPairs &of_block : group.pairs)
                ordered_[static_cast<size_t>(next[static_cast<size_t>(of_block.block)]++)] =
                    &of_block;
        }
    }

    // Moves the pairs of the lists first to end - 1, as sort_pairs says.
    template<typename Index, typename Put, typename EndOf>
    void move(const PairMaps &maps, int64_t rows, int64_t g, int64_t first, int64_t end,
              const Put &put, const EndOf &end_of) {
        Group &group = groups_[static_cast<size_t>(g)];
        std::vector<BlockPairs *> found(static_cast<size_t>(blocks_));
        auto of_list = group.pairs.begin();
        for (int64_t i = first; i < end; i++) {
            const auto list_end = group.pairs.begin() + group.ends[static_cast<size_t>(i - first)];
            for (auto p = of_list; p < list_end; ++p) found[static_cast<size_t>(p->block)] = &*p;
            const auto list = pair_list<Index>(maps, i);
            each_run(list, rows, [&](uint32_t b, int64_t from, int64_t to) {
                put(list, from, to, b, found[b]->place);
                found[b]->place += to - from;
            });
            for (; of_list < list_end; ++of_list) end_of(of_list->place);
        }
    }

private:
    struct Group {
        std::vector<BlockPairs> pairs;  // list after list
        std::vector<int64_t> ends;      // of each list
    };

    const int64_t blocks_;
    std::vector<Group> groups_;
    std::vector<int64_t> first_;  // of each block in ordered_, and the end
    std::vector<BlockPairs *> ordered_;
};

// A stable sort in two passes over the maps, lists side by side on all threads. In between
// lay_out(lists) makes of each number of pairs the place of the first; then put(list, first, end,
// block, place) moves a run, and end_of(place) hears where a block's pairs of an offset end.
template<typename Index, typename LayOut, typename Put, typename EndOf>
void sort_pairs(const PairMaps &maps, int64_t rows, const LayOut &lay_out, const Put &put,
                const EndOf &end_of) {
    const ListGroups groups(maps);
    BlockLists lists(groups, (maps.target.rows + rows - 1) / rows);
    groups.each([&](int64_t g, int64_t first, int64_t end) {
        lists.count<Index>(maps, rows, g, first, end);
    });
    lists.order();
    if (!lay_out(lists)) return;
    groups.each([&](int64_t g, int64_t first, int64_t end) {
        lists.move<Index>(maps, rows, g, first, end, put, end_of);
    });
}

}  // namespace hk::detail
