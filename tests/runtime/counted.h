#pragma once
// Tensors whose elements are their own places.

#include <numeric>
#include <vector>

#include "hk/tensor.h"

namespace hk {

inline Tensor counted(const Shape &shape) {
    Tensor tensor(shape, DataType::s32);
    std::iota(tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.elements(), 0);
    return tensor;
}

inline std::vector<int32_t> values(const Tensor &tensor) {
    const Tensor packed = tensor.to(Device::cpu());
    return {packed.data<int32_t>(), packed.data<int32_t>() + packed.elements()};
}

}  // namespace hk
