#pragma once
// Top-k by its definition: each row's places in the order of hk/topk.h, of equal elements the lower
// one first, the first k of them.

#include "hk/topk.h"

namespace hk::reference {

struct TopKResult {
    Tensor values, indices;  // packed, on the host
};

// Of a host tensor with any strides; the axis may be negative. Values are those that hk/topk.h
// promises: a zero is +0, a NaN the positive quiet one.
TopKResult topk(const Tensor &input, int64_t k, int axis, Order order, DataType index_type);

}  // namespace hk::reference
