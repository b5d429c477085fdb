#include "data.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/reference/elements.h"

namespace hk::bench {

std::byte *bytes_of(const Tensor &tensor) {
    if (tensor.elements() == 0) return nullptr;
    switch (size_of(tensor.type())) {
        case 1:
            return reinterpret_cast<std::byte *>(tensor.data<uint8_t>());
        case 2:
            return reinterpret_cast<std::byte *>(tensor.data<uint16_t>());
        case 4:
            return reinterpret_cast<std::byte *>(tensor.data<uint32_t>());
        default:
            return reinterpret_cast<std::byte *>(tensor.data<uint64_t>());
    }
}

Tensor random_data(const Shape &shape, DataType type, uint32_t seed, int bits) {
    const Tensor result(shape, type);
    std::mt19937 random(seed);
    const double unit = std::ldexp(1, 1 - bits);
    std::vector<double> values(static_cast<size_t>(result.elements()));
    for (double &value : values) {
        // By way of f32, so that every type has the same numbers but for rounding.
        value = static_cast<float>(static_cast<int32_t>(random()) >> (32 - bits)) * unit;
    }
    reference::write(result, values);
    return result;
}

Tensor tensor_of(const Shape &shape, DataType type, const void *data, const Device &device) {
    const Tensor host(shape, type);
    if (host.elements() > 0) std::memcpy(bytes_of(host), data, host.elements() * size_of(type));
    return host.to(device);
}

void poison(const Tensor &tensor) {
    const Tensor poisoned(tensor.shape(), tensor.type());
    if (poisoned.elements() > 0) {
        std::memset(bytes_of(poisoned), 0xff, poisoned.elements() * size_of(poisoned.type()));
    }
    tensor.copy_from(poisoned.to(tensor.device()));
}

}  // namespace hk::bench
