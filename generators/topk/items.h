#pragma once
// Items: a key (generators/topk/keys.h), of 32 bits for elements of up to 32, and with it, where
// indices are asked for, the element's index. Their order is total: the larger key first, of equal
// ones the lower index. Funcs of items have two values, or the key alone. What pads lists has the
// smallest key and the largest index: it comes after every element.

#include <limits>

#include "Halide.h"

namespace hk::generators {

using TopKItem = std::vector<Halide::Expr>;  // key, index

inline Halide::Type topk_key_type(const Halide::Type &element) {
    return Halide::UInt(element.bits() > 32 ? 64 : 32);
}

inline std::vector<Halide::Type> topk_item_types(const Halide::Type &element, bool indices) {
    std::vector<Halide::Type> types = {topk_key_type(element)};
    if (indices) types.push_back(Halide::Int(32));
    return types;
}

inline TopKItem topk_item(const Halide::Expr &key, const Halide::Expr &index, bool indices) {
    return indices ? TopKItem{key, index} : TopKItem{key};
}

inline TopKItem topk_padding(const std::vector<Halide::Type> &types) {
    return topk_item(Halide::cast(types[0], 0), std::numeric_limits<int32_t>::max(),
                     types.size() > 1);
}

// A Func's item, of one value or two.
inline TopKItem topk_item(const Halide::FuncRef &item) {
    if (item.size() < 2) return {Halide::Expr(item)};
    return {item[0], item[1]};
}

inline Halide::Expr topk_beats(const TopKItem &a, const TopKItem &b) {
    if (a.size() == 1) return a[0] > b[0];
    return a[0] > b[0] || (a[0] == b[0] && a[1] < b[1]);
}

inline TopKItem topk_select(const Halide::Expr &condition, const TopKItem &a, const TopKItem &b) {
    TopKItem item;
    for (size_t i = 0; i < a.size(); i++) item.push_back(Halide::select(condition, a[i], b[i]));
    return item;
}

}  // namespace hk::generators
