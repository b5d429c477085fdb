#include "conv2d_data.h"

#include <cmath>
#include <cstring>
#include <random>

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

Data random_data(const Shape &shape, DataType type, uint32_t seed, int bits) {
    Data data{{}, Tensor(shape, type)};
    data.values.resize(data.tensor.elements());
    std::mt19937 random(seed);
    const float unit = std::ldexp(1.0f, 1 - bits);
    std::byte *stored = bytes_of(data.tensor);
    for (float &value : data.values) {
        value = static_cast<float>(static_cast<int32_t>(random()) >> (32 - bits)) * unit;
        if (type == DataType::f64) {
            const double wide = value;
            std::memcpy(stored, &wide, 8);
        } else if (type == DataType::f32) {
            std::memcpy(stored, &value, 4);
        } else {
            const bool f16 = type == DataType::f16;
            const uint16_t half = f16 ? f16_from_f32(value) : bf16_from_f32(value);
            value = f16 ? f32_from_f16(half) : f32_from_bf16(half);
            std::memcpy(stored, &half, 2);
        }
        stored += size_of(type);
    }
    return data;
}

void poison(const Tensor &tensor) {
    const Tensor poisoned(tensor.shape(), tensor.type());
    if (poisoned.elements() > 0) {
        std::memset(bytes_of(poisoned), 0xff, poisoned.elements() * size_of(poisoned.type()));
    }
    tensor.copy_from(poisoned.to(tensor.device()));
}

}  // namespace hk::bench
