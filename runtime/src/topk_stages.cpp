// The stages of generators/topk.h that are not Halide's: what depends on the data. Each call is of
// one row.

#include <algorithm>
#include <bit>
#include <functional>

#include "HalideRuntime.h"
#include "block_cache.h"

namespace hk::detail {

namespace {

// Scratch memory; null where there is none left.
class Scratch {
public:
    explicit Scratch(size_t bytes) : block_(block_cache().allocate(bytes)) {}
    ~Scratch() { block_cache().free(block_); }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    template<typename T>
    T *as() const {
        return static_cast<T *>(block_);
    }

private:
    void *block_;
};

template<typename T>
T *data(const halide_buffer_t *buffer) {
    return reinterpret_cast<T *>(buffer->host);
}

// Asks for `extent` elements of the first dimensions, and the row that the result is of.
void ask(halide_buffer_t *input, std::initializer_list<int> extents,
         const halide_buffer_t *result) {
    if (!input->is_bounds_query()) return;
    int d = 0;
    for (const int extent : extents) {
        input->dim[d].min = 0;
        input->dim[d++].extent = extent;
    }
    for (int of = 1; d < input->dimensions; d++, of++) {
        input->dim[d].min = result->dim[of].min;
        input->dim[d].extent = result->dim[of].extent;
    }
}

// An item compares as a number: the key, then the complement of the index.
template<typename Key>
struct WideItem {
    Key key;
    uint32_t place;

    static WideItem make(Key key, int32_t index) { return {key, ~static_cast<uint32_t>(index)}; }
    int32_t index() const { return static_cast<int32_t>(~place); }
    bool operator>(const WideItem &other) const {
        return key > other.key || (key == other.key && place > other.place);
    }
};

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

template<typename Key>
struct KeyItem {
    Key value;

    static KeyItem make(Key key, int32_t) { return {key}; }
    Key key() const { return value; }
    bool operator>(const KeyItem &other) const { return value > other.value; }
};

struct Candidates {
    halide_buffer_t *masks, *keys, *chosen;
    int bits, chunk, chunks, columns, k;

    int words() const { return (chunk + bits - 1) / bits; }
};

// Every candidate that is marked, in the row's order; returns their number.
template<typename Item, typename Key>
int64_t collect(const Candidates &c, Item *items) {
    const auto *masks = data<const uint32_t>(c.masks);
    const auto *keys = data<const Key>(c.keys);
    const auto *chosen = data<const int32_t>(c.chosen);
    const int words = c.words();
    int64_t count = 0;
    for (int p = 0; p < c.chunks; p++) {
        const int start = chosen[p] * c.chunk;
        const int first = std::min(start, c.columns - c.chunk);
        const uint32_t *of_chunk = masks + int64_t{p} * c.masks->dim[1].stride;
        const Key *chunk_keys = keys + int64_t{p} * c.keys->dim[1].stride;
        for (int w = 0; w < words; w++) {
            for (uint32_t mask = of_chunk[w]; mask != 0; mask &= mask - 1) {
                const int j = w * c.bits + std::countr_zero(mask);
                if (first + j < start || first + j >= c.columns) continue;
                items[count++] = Item::make(chunk_keys[j], first + j);
            }
        }
    }
    return count;
}

template<typename Item, typename Key, typename Write>
int finish(const Candidates &c, const Write &write) {
    const Scratch scratch(static_cast<size_t>(c.chunks) * c.chunk * sizeof(Item));
    Item *items = scratch.as<Item>();
    if (!items) return halide_error_code_out_of_memory;
    const int64_t count = collect<Item, Key>(c, items);
    if (count > c.k) std::nth_element(items, items + c.k, items + count, std::greater<Item>());
    std::sort(items, items + c.k, std::greater<Item>());
    for (int p = 0; p < c.k; p++) write(p, items[p]);
    return halide_error_code_success;
}

// Calls finish with a key's type; `call` is a template over it.
template<typename Call>
int by_width(const halide_buffer_t *keys, const Call &call) {
    switch (keys->type.bits) {
        case 8:
            return call(uint8_t{});
        case 16:
            return call(uint16_t{});
        case 32:
            return call(uint32_t{});
        default:
            return call(uint64_t{});
    }
}

bool asked(const Candidates &c, halide_buffer_t *result) {
    const bool query =
        c.masks->is_bounds_query() || c.keys->is_bounds_query() || c.chosen->is_bounds_query();
    ask(c.masks, {c.words(), c.chunks}, result);
    ask(c.keys, {c.chunk, c.chunks}, result);
    ask(c.chosen, {c.chunks}, result);
    return query || result->is_bounds_query();
}

template<typename Key>
constexpr bool kWide = sizeof(Key) == 8;

template<typename Key>
using ItemOf = std::conditional_t<kWide<Key>, WideItem<Key>, PackedItem<Key>>;

template<typename Key>
Key key_of(const WideItem<Key> &item) {
    return item.key;
}
template<typename Key>
Key key_of(const PackedItem<Key> &item) {
    return item.key();
}

}  // namespace

}  // namespace hk::detail

using namespace hk::detail;

extern "C" {

// The k first chunks with the best maxima, in the row's order: those above the threshold, and as
// many that equal it as are needed.
int hk_topk_choose(halide_buffer_t *masks, halide_buffer_t *best, halide_buffer_t *threshold,
                   int bits, int chunks, int k, halide_buffer_t *chosen) {
    const bool query = masks->is_bounds_query() || best->is_bounds_query() ||
                       threshold->is_bounds_query() || chosen->is_bounds_query();
    const int words = (chunks + bits - 1) / bits;
    ask(masks, {words}, chosen);
    ask(best, {chunks}, chosen);
    ask(threshold, {}, chosen);
    if (query) return halide_error_code_success;
    const auto *word = data<const uint32_t>(masks);
    int *out = data<int>(chosen);
    return by_width(best, [&](auto zero) {
        using Key = decltype(zero);
        const auto *keys = data<const Key>(best);
        const Key least = *data<const Key>(threshold);
        int above = 0, marked = 0;
        for (int w = 0; w < words; w++) marked += std::popcount(word[w]);
        int ties = k;
        if (marked > k) {
            for (int c = 0; c < chunks; c++) above += keys[c] > least;
            ties = k - above;
        }
        int count = 0;
        for (int w = 0; w < words; w++) {
            for (uint32_t mask = word[w]; mask != 0; mask &= mask - 1) {
                const int c = w * bits + std::countr_zero(mask);
                if (keys[c] == least && ties-- <= 0) continue;
                if (c < chunks && count < k) out[count++] = c;
            }
        }
        return count == k ? 0 : static_cast<int>(halide_error_code_internal_error);
    });
}

int hk_topk_finish(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *chosen, int bits,
                   int chunk, int chunks, int columns, int k, halide_buffer_t *best,
                   halide_buffer_t *indices) {
    const Candidates c{masks, keys, chosen, bits, chunk, chunks, columns, k};
    if (asked(c, best)) return halide_error_code_success;
    return by_width(keys, [&](auto zero) {
        using Key = decltype(zero);
        Key *best_key = data<Key>(best);
        int32_t *index = data<int32_t>(indices);
        return finish<ItemOf<Key>, Key>(c, [&](int p, const ItemOf<Key> &item) {
            best_key[p] = key_of<Key>(item);
            index[p] = item.index();
        });
    });
}

int hk_topk_finish_values(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *chosen,
                          int bits, int chunk, int chunks, int columns, int k,
                          halide_buffer_t *best) {
    const Candidates c{masks, keys, chosen, bits, chunk, chunks, columns, k};
    if (asked(c, best)) return halide_error_code_success;
    return by_width(keys, [&](auto zero) {
        using Key = decltype(zero);
        Key *best_key = data<Key>(best);
        return finish<KeyItem<Key>, Key>(
            c, [&](int p, const KeyItem<Key> &item) { best_key[p] = item.key(); });
    });
}

int hk_topk_finish_indices(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *chosen,
                           int bits, int chunk, int chunks, int columns, int k,
                           halide_buffer_t *indices) {
    const Candidates c{masks, keys, chosen, bits, chunk, chunks, columns, k};
    if (asked(c, indices)) return halide_error_code_success;
    return by_width(keys, [&](auto zero) {
        using Key = decltype(zero);
        int32_t *index = data<int32_t>(indices);
        return finish<ItemOf<Key>, Key>(
            c, [&](int p, const ItemOf<Key> &item) { index[p] = item.index(); });
    });
}

}  // extern "C"
