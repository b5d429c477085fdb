#include "tensor_product/slots.h"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <numeric>

#include "hk/error.h"

namespace hk::detail {

namespace {

constexpr int64_t kMostPlaces = std::numeric_limits<int32_t>::max() / int64_t{sizeof(int32_t)};
constexpr size_t kMostRows = 512;  // of a block
// Of tiles: blocks for any GPU, where no block has fewer rows than that.
constexpr int64_t kBlocks = 256, kFewestRows = 64;

struct Entry {
    int32_t source, offset;
};

int32_t *allocate(const char *operation, std::optional<Scratch> &memory, int64_t elements) {
    memory.emplace(static_cast<size_t>(elements) * sizeof(int32_t));
    return memory->required_as<int32_t>(operation);
}

// The pairs of each row of the output, offsets and positions upwards.
class RowLists {
public:
    template<typename Index>
    RowLists(const PairMaps &maps, Index)
        : starts_(static_cast<size_t>(maps.target.rows) + 1),
          masks_(static_cast<size_t>(maps.target.rows)) {
        const int64_t offsets = maps.offsets;
        each_pair<Index>(maps, [&](int64_t, int64_t, size_t row) { starts_[row + 1]++; });
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        entries_.resize(static_cast<size_t>(starts_.back()));
        std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
        const int64_t bits = std::min<int64_t>(offsets, 64);
        each_pair<Index>(maps, [&](int64_t n, int64_t source, size_t row) {
            entries_[static_cast<size_t>(next[row]++)] = {static_cast<int32_t>(source),
                                                          static_cast<int32_t>(n)};
            masks_[row] |= uint64_t{1} << (n * bits / offsets);
        });
    }

    const Entry *begin(size_t row) const { return entries_.data() + starts_[row]; }
    const Entry *end(size_t row) const { return entries_.data() + starts_[row + 1]; }

    // Numbers whose Gray codes differ in one bit are neighbours.
    static uint64_t place_in_gray_code(uint64_t bits) {
        for (int shift = 1; shift < 64; shift *= 2) bits ^= bits >> shift;
        return bits;
    }

    // All rows: those without pairs, then by the offsets that they have, then by their number of
    // pairs.
    void order(int32_t *rows) const {
        struct Key {
            uint64_t place;
            int64_t pairs;
            int32_t row;

            auto operator<=>(const Key &) const = default;
        };
        std::vector<Key> keys;
        for (size_t row = 0; row < masks_.size(); row++) {
            const auto index = static_cast<int32_t>(row);
            if (masks_[row]) {
                keys.push_back(
                    {place_in_gray_code(masks_[row]), starts_[row + 1] - starts_[row], index});
            } else {
                *rows++ = index;
            }
        }
        std::sort(keys.begin(), keys.end());
        for (const Key &key : keys) *rows++ = key.row;
    }

private:
    std::vector<int64_t> starts_;
    std::vector<uint64_t> masks_;
    std::vector<Entry> entries_;

    template<typename Index, typename Each>
    static void each_pair(const PairMaps &maps, Each each) {
        for (int64_t i = 0, lists = maps.lists(); i < lists; i++) {
            const auto list = pair_list<Index>(maps, i);
            for (int64_t p = 0; p < list.length; p++) {
                const int64_t source = list.source(p), target = list.target(p);
                if (source >= 0 && target >= 0)
                    each(list.offset, source, static_cast<size_t>(target));
            }
        }
    }
};

// Merges the lists of a block's rows: calls each(n, heads) for every slot, with the rows that have
// a pair in it as places of heads that are not null.
template<typename Each>
void merge(const RowLists &lists, const int32_t *rows, size_t count, Each each) {
    std::array<const Entry *, kMostRows> next, end, heads;
    for (size_t i = 0; i < count; i++) {
        next[i] = lists.begin(static_cast<size_t>(rows[i]));
        end[i] = lists.end(static_cast<size_t>(rows[i]));
    }
    for (;;) {
        constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
        int32_t n = kNone;
        for (size_t i = 0; i < count; i++) {
            if (next[i] != end[i]) n = std::min(n, next[i]->offset);
        }
        if (n == kNone) return;
        for (size_t i = 0; i < count; i++) {
            heads[i] = next[i] != end[i] && next[i]->offset == n ? next[i]++ : nullptr;
        }
        each(n, heads.data());
    }
}

// Of the rows that have a pair in a slot so many are in a tile; 0: all in one.
int64_t tiles_of(const Entry *const *heads, size_t count, int64_t pairs) {
    if (pairs == 0) return 1;
    const auto there = std::count_if(heads, heads + count, [](const Entry *head) { return head; });
    return (there + pairs - 1) / pairs;
}

// The source of each row of a slot, or -1.
void fill_slot(const Entry *const *heads, size_t count, int64_t rows, int32_t *source) {
    for (size_t i = 0; i < count; i++) source[i] = heads[i] ? heads[i]->source : -1;
    std::fill(source + count, source + rows, -1);
}

// The pairs of a slot, rows upwards; what its last tile has left is of the row after the block's.
void fill_tiles(const Entry *const *heads, size_t count, int64_t rows, int64_t places,
                int32_t *source, int32_t *target) {
    int64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (!heads[i]) continue;
        source[at] = heads[i]->source;
        target[at++] = static_cast<int32_t>(i);
    }
    std::fill(source + at, source + places, -1);
    std::fill(target + at, target + places, static_cast<int32_t>(rows));
}

}  // namespace

TensorProductSlots::TensorProductSlots(const char *operation, const PairMaps &maps, int64_t rows,
                                       int64_t pairs)
    : rows_(rows), pairs_(pairs) {
    if (maps.source.map.type() == DataType::s64) {
        sort<int64_t>(operation, maps);
    } else {
        sort<int32_t>(operation, maps);
    }
}

// All, but of tiles fewer where blocks were too few.
int64_t TensorProductSlots::used_rows(int64_t all_rows) const {
    if (pairs_ == 0) return rows_;
    return std::clamp((all_rows + kBlocks - 1) / kBlocks, std::min(kFewestRows, rows_), rows_);
}

template<typename Index>
void TensorProductSlots::sort(const char *operation, const PairMaps &maps) {
    const int64_t all_rows = maps.target.rows;
    const RowLists lists(maps, Index());
    const int64_t used = used_rows(all_rows);
    blocks_ = (all_rows + used - 1) / used;
    const auto count = [&](int64_t b) {
        return static_cast<size_t>(std::min(used, all_rows - b * used));
    };
    row_ = allocate(operation, of_blocks_, blocks_ * rows_ + blocks_ + 1);
    first_ = row_ + blocks_ * rows_;
    lists.order(row_);
    for (int64_t b = blocks_ - 1; b >= 0; b--) {  // the last ones move furthest
        const int32_t *of_block = row_ + b * used, *end = of_block + count(b);
        int32_t *none = std::copy_backward(of_block, end, row_ + b * rows_ + count(b)) + count(b);
        std::fill(none, row_ + (b + 1) * rows_, static_cast<int32_t>(all_rows));
    }

    std::vector<int64_t> slots(static_cast<size_t>(blocks_));
    parallel(blocks_, [&](int64_t b) {
        int64_t &of_block = slots[static_cast<size_t>(b)];
        merge(lists, row_ + b * rows_, count(b),
              [&](int32_t, const Entry **heads) { of_block += tiles_of(heads, count(b), pairs_); });
    });
    for (const int64_t of_block : slots) slots_ += of_block;
    const int64_t each = pairs_ > 0 ? pairs_ : rows_, places = slots_ * each;
    if (places > kMostPlaces) {
        throw InvalidArgument(std::string(operation) + ": the maps fill " + std::to_string(places) +
                              " places of slots, a kernel takes at most " +
                              std::to_string(kMostPlaces));
    }
    source_ = allocate(operation, of_slots_, (pairs_ > 0 ? 2 : 1) * places + slots_);
    offset_ = source_ + places;
    if (pairs_ > 0) target_ = offset_ + slots_;
    first_[0] = 0;
    for (int64_t b = 0; b < blocks_; b++) {
        const auto of_block = static_cast<int32_t>(slots[static_cast<size_t>(b)]);
        first_[b + 1] = first_[b] + of_block;
        most_ = std::max(most_, of_block);
    }
    parallel(blocks_, [&](int64_t b) {
        const size_t rows = count(b);
        int64_t at = first_[b];
        merge(lists, row_ + b * rows_, rows, [&](int32_t n, const Entry **heads) {
            const int64_t tiles = tiles_of(heads, rows, pairs_);
            int32_t *source = source_ + at * each;
            if (pairs_ > 0)
                fill_tiles(heads, rows, rows_, tiles * each, source, target_ + at * each);
            else
                fill_slot(heads, rows, rows_, source);
            std::fill_n(offset_ + at, tiles, n);
            at += tiles;
        });
    });
}

}  // namespace hk::detail
