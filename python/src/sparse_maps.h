#pragma once
// Maps of a tensor product as Python has them.

#include <optional>

#include "hk/kernel_map.h"
#include "hk/tensor_product.h"
#include "imported.h"

namespace hk::python {

// A kernel map, and what products take of it, made when the first asks.
class KernelMapObject {
public:
    KernelMapObject(KernelMap map, const Kind &kind)
        : map_(std::move(map)), kind_(kind), type_(nb::borrow(kind.type)) {}

    const KernelMap &map() const noexcept { return map_; }
    const Kind &kind() const noexcept { return kind_; }
    const TensorProductMaps &products() {
        if (!products_) products_.emplace(map_);
        return *products_;
    }

private:
    KernelMap map_;
    Kind kind_;
    nb::object type_;  // of the coordinates; keeps kind_.type
    std::optional<TensorProductMaps> products_;
};

}  // namespace hk::python
