// The stages of generators/topk/topk.h that are not Halide's, since they depend on the data: which
// parts of a row are looked at closer, and the order of what is found there.

#include <algorithm>
#include <bit>
#include <functional>
#include <initializer_list>

#include "HalideRuntime.h"
#include "memory/scratch.h"
#include "topk/order.h"

namespace hk::detail {

namespace {

template<typename T>
T *data(const halide_buffer_t *buffer) {
    return reinterpret_cast<T *>(buffer->host);
}

// The last two dimensions of a buffer are rows.
template<typename T>
T *row_of(const halide_buffer_t *buffer, int x, int y) {
    const halide_dimension_t *rows = buffer->dim + buffer->dimensions - 2;
    return data<T>(buffer) + int64_t{x} * rows[0].stride + int64_t{y} * rows[1].stride;
}

template<typename One>
int each_row(const halide_buffer_t *result, const One &one) {
    for (int y = 0; y < result->dim[2].extent; y++) {
        for (int x = 0; x < result->dim[1].extent; x++) {
            if (const int status = one(x, y)) return status;
        }
    }
    return halide_error_code_success;
}

// Halide asks what a call would read by calling with a buffer without memory.
bool asks(std::initializer_list<const halide_buffer_t *> buffers) {
    return std::any_of(buffers.begin(), buffers.end(),
                       [](const halide_buffer_t *buffer) { return buffer->is_bounds_query(); });
}

// The answer: `extents` of the first dimensions, and the rows that the result is of.
void answer(halide_buffer_t *input, std::initializer_list<int> extents,
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

// Calls with a zero of the keys' type. What a pool throws can't pass through Halide's code.
template<typename Call>
int by_width(const halide_buffer_t *keys, const Call &call) try {
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
} catch (const std::exception &) {
    return halide_error_code_out_of_memory;
}

// Calls with the place of each bit that is set.
template<typename One>
void each_bit(const uint32_t *masks, int words, int bits, const One &one) {
    for (int w = 0; w < words; w++) {
        for (uint32_t mask = masks[w]; mask != 0; mask &= mask - 1) {
            one(w * bits + std::countr_zero(mask));
        }
    }
}

// What is known of the parts of rows, chunks or columns, of which the best are chosen.
struct Parts {
    halide_buffer_t *masks, *keys, *depths, *least, *chosen;  // depths: of columns with indices
    int bits, count, k;

    int words() const { return (count + bits - 1) / bits; }
};

// The k best parts of a row: those above the k-th best, and of those that equal it as many as are
// needed: of chunks the first, which are the first in the row; of columns those whose best element
// comes first, or any where indices are not asked for.
template<typename Key>
int choose_of_row(const Parts &parts, int x, int y) {
    const auto *masks = row_of<const uint32_t>(parts.masks, x, y);
    const Key *keys = row_of<const Key>(parts.keys, x, y);
    const Key least = *row_of<const Key>(parts.least, x, y);
    int32_t *chosen = row_of<int32_t>(parts.chosen, x, y);
    int marked = 0;
    for (int w = 0; w < parts.words(); w++) marked += std::popcount(masks[w]);
    int count = 0;
    if (marked == parts.k) {
        each_bit(masks, parts.words(), parts.bits, [&](int part) { chosen[count++] = part; });
        return halide_error_code_success;
    }
    const Scratch scratch(static_cast<size_t>(parts.count) * sizeof(int64_t));
    auto *ties = scratch.as<int64_t>();
    if (!ties) return halide_error_code_out_of_memory;
    int tied = 0;
    each_bit(masks, parts.words(), parts.bits, [&](int part) {
        if (part >= parts.count) return;
        if (keys[part] > least) {
            chosen[count++] = part;
            return;
        }
        const int64_t depth = parts.depths ? row_of<const int32_t>(parts.depths, x, y)[part] : 0;
        ties[tied++] = depth * parts.count + part;
    });
    const int wanted = parts.k - count;
    if (wanted > tied) return halide_error_code_internal_error;
    std::nth_element(ties, ties + wanted, ties + tied);
    for (int i = 0; i < wanted; i++) chosen[count++] = static_cast<int32_t>(ties[i] % parts.count);
    std::sort(chosen, chosen + count);  // items are collected in the row's order
    return halide_error_code_success;
}

int choose(const Parts &parts) {
    if (asks({parts.masks, parts.keys, parts.least, parts.chosen})) {
        answer(parts.masks, {parts.words()}, parts.chosen);
        answer(parts.keys, {parts.count}, parts.chosen);
        if (parts.depths) answer(parts.depths, {parts.count}, parts.chosen);
        answer(parts.least, {}, parts.chosen);
        return halide_error_code_success;
    }
    return by_width(parts.keys, [&](auto zero) {
        return each_row(parts.chosen,
                        [&](int x, int y) { return choose_of_row<decltype(zero)>(parts, x, y); });
    });
}

// Keys of the chosen parts, marked where they may be among the best. Element j of a chunk follows
// the one before; of a column it is `step` elements further, step being more than 1.
struct Candidates {
    halide_buffer_t *masks, *keys, *chosen;
    int bits, depth, step, parts, columns, k;

    int words() const { return (depth + bits - 1) / bits; }
    // The last chunk reaches back over the one before.
    int first(int part) const { return step > 1 ? part : std::min(part * depth, columns - depth); }
    int least(int part) const { return step > 1 ? 0 : part * depth; }
};

template<typename Item, typename Key>
int64_t collect(const Candidates &c, int x, int y, Item *items) {
    const auto *masks = row_of<const uint32_t>(c.masks, x, y);
    const auto *keys = row_of<const Key>(c.keys, x, y);
    const auto *chosen = row_of<const int32_t>(c.chosen, x, y);
    int64_t count = 0;
    for (int p = 0; p < c.parts; p++) {
        const int first = c.first(chosen[p]), least = c.least(chosen[p]);
        const Key *key = keys + int64_t{p} * c.keys->dim[1].stride;
        each_bit(masks + int64_t{p} * c.masks->dim[1].stride, c.words(), c.bits, [&](int j) {
            const int64_t index = first + int64_t{j} * c.step;
            if (index < least || index >= c.columns) return;
            items[count++] = Item::make(key[j], static_cast<int32_t>(index));
        });
    }
    return count;
}

template<typename Item, typename Key, typename Write>
int finish_row(const Candidates &c, int x, int y, const Write &write) {
    const Scratch scratch(static_cast<size_t>(c.parts) * c.depth * sizeof(Item));
    Item *items = scratch.as<Item>();
    if (!items) return halide_error_code_out_of_memory;
    const int64_t count = collect<Item, Key>(c, x, y, items);
    if (count < c.k) return halide_error_code_internal_error;
    if (!sort_best(items, count, c.k, c.step == 1)) return halide_error_code_out_of_memory;
    for (int p = 0; p < c.k; p++) write(p, items[p]);
    return halide_error_code_success;
}

// `values`, `indices`: null where they are not asked for.
template<bool kValues, bool kIndices>
int finish(const Candidates &c, halide_buffer_t *values, halide_buffer_t *indices) {
    halide_buffer_t *result = kValues ? values : indices;
    if (asks({c.masks, c.keys, c.chosen, result})) {
        answer(c.masks, {c.words(), c.parts}, result);
        answer(c.keys, {c.depth, c.parts}, result);
        answer(c.chosen, {c.parts}, result);
        return halide_error_code_success;
    }
    return by_width(c.keys, [&](auto zero) {
        using Key = decltype(zero);
        using Item = std::conditional_t<kIndices, IndexedItem<Key>, KeyItem<Key>>;
        return each_row(result, [&](int x, int y) {
            return finish_row<Item, Key>(c, x, y, [&](int p, const Item &item) {
                if constexpr (kValues) row_of<Key>(values, x, y)[p] = item.key();
                if constexpr (kIndices) row_of<int32_t>(indices, x, y)[p] = item.index();
            });
        });
    });
}

}  // namespace

}  // namespace hk::detail

using namespace hk::detail;

extern "C" {

int hk_topk_choose_parts(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *least,
                         int bits, int count, int k, halide_buffer_t *chosen) {
    return choose({masks, keys, nullptr, least, chosen, bits, count, k});
}

int hk_topk_choose_columns(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *depths,
                           halide_buffer_t *least, int bits, int count, int k,
                           halide_buffer_t *chosen) {
    return choose({masks, keys, depths, least, chosen, bits, count, k});
}

int hk_topk_finish(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *chosen, int bits,
                   int depth, int step, int parts, int columns, int k, halide_buffer_t *values,
                   halide_buffer_t *indices) {
    return finish<true, true>({masks, keys, chosen, bits, depth, step, parts, columns, k}, values,
                              indices);
}

int hk_topk_finish_values(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *chosen,
                          int bits, int depth, int step, int parts, int columns, int k,
                          halide_buffer_t *values) {
    return finish<true, false>({masks, keys, chosen, bits, depth, step, parts, columns, k}, values,
                               nullptr);
}

int hk_topk_finish_indices(halide_buffer_t *masks, halide_buffer_t *keys, halide_buffer_t *chosen,
                           int bits, int depth, int step, int parts, int columns, int k,
                           halide_buffer_t *indices) {
    return finish<false, true>({masks, keys, chosen, bits, depth, step, parts, columns, k}, nullptr,
                               indices);
}

}  // extern "C"
