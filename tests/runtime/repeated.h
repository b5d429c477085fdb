#pragma once
// Tensors that have one element, zero, at every place.

#include "hk/tensor.h"

namespace hk {

inline Tensor repeated(const Shape &shape, DataType type = DataType::f32) {
    static double element = 0;
    return Tensor::borrow(&element, type, shape, Shape(shape.size(), 0));
}

}  // namespace hk
