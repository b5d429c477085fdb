#pragma once
// Items of a top-k in their order, and sorting them. Keys are those of generators/topk/keys.h.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "memory/scratch.h"

namespace hk::detail {

// A key and its index, which compare as one number: the complement of the index comes after the
// key.
template<typename Key>
struct PackedItem {
    uint64_t packed;

    static PackedItem make(Key key, int32_t index) {
        return {uint64_t{key} << 32 | ~static_cast<uint32_t>(index)};
    }
    Key key() const { return static_cast<Key>(packed >> 32); }
    int32_t index() const { return static_cast<int32_t>(~static_cast<uint32_t>(packed)); }
    bool operator>(const PackedItem &other) const { return packed > other.packed; }
};

struct WideItem {
    uint64_t wide_key;
    uint32_t complement;

    static WideItem make(uint64_t key, int32_t index) {
        return {key, ~static_cast<uint32_t>(index)};
    }
    uint64_t key() const { return wide_key; }
    int32_t index() const { return static_cast<int32_t>(~complement); }
    bool operator>(const WideItem &other) const {
        return wide_key > other.wide_key ||
               (wide_key == other.wide_key && complement > other.complement);
    }
};

template<typename Key>
using IndexedItem = std::conditional_t<sizeof(Key) == 8, WideItem, PackedItem<Key>>;

template<typename Key>
struct KeyItem {
    Key only_key;

    static KeyItem make(Key key, int32_t) { return {key}; }
    Key key() const { return only_key; }
    bool operator>(const KeyItem &other) const { return only_key > other.only_key; }
};

// Sorts by the digits of keys, the lowest first, the largest key first; each pass keeps the order
// of equal digits. `items` and `other` are of `count`; returns which of them holds the result.
template<typename Item>
Item *sort_by_digits(Item *items, Item *other, int64_t count) {
    using Key = decltype(items->key());
    for (size_t shift = 0; shift < 8 * sizeof(Key); shift += 8) {
        uint32_t places[256] = {};
        const auto digit = [&](const Item &item) {
            return 255 - static_cast<int>(item.key() >> shift & 255);
        };
        for (int64_t i = 0; i < count; i++) places[digit(items[i])]++;
        if (places[digit(items[0])] == count) continue;
        uint32_t sum = 0;
        for (uint32_t &place : places) sum += std::exchange(place, sum);
        for (int64_t i = 0; i < count; i++) other[places[digit(items[i])]++] = items[i];
        std::swap(items, other);
    }
    return items;
}

// The k best of `count` items, in order, to the front. `in_row`: items are in the order of their
// indices, which digits of keys alone keep. False where there is no memory left.
//
// Comparisons are guessed wrong half the time, so that from some tens of items on digits are
// faster; but they sort all of them.
template<typename Item>
bool sort_best(Item *items, int64_t count, int64_t k, bool in_row) {
    const int64_t few = 8 * sizeof(items->key());
    const bool most = k > few || count <= 4 * k;
    if (!in_row || count <= few || !most) {
        if (k < count) std::nth_element(items, items + k, items + count, std::greater<Item>());
        std::sort(items, items + k, std::greater<Item>());
        return true;
    }
    const Scratch scratch(static_cast<size_t>(count) * sizeof(Item));
    Item *other = scratch.as<Item>();
    if (!other) return false;
    const Item *sorted = sort_by_digits(items, other, count);
    if (sorted != items) std::copy(sorted, sorted + k, items);
    return true;
}

}  // namespace hk::detail
