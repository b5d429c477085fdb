#include "tests/topk/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "tests/reference/elements.h"

namespace hk::reference {
namespace {

// f16 and bf16 as f32, everything else as it is.
template<typename T>
T element(DataType type, uint64_t bits) {
    if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<T, float>) {
        const auto half = static_cast<uint16_t>(bits);
        return type == DataType::f16    ? f32_from_f16(half)
               : type == DataType::bf16 ? f32_from_bf16(half)
                                        : std::bit_cast<float>(static_cast<uint32_t>(bits));
    } else {
        return static_cast<T>(bits);
    }
}

// NaN equals NaN and is larger than all others.
template<typename T>
bool less(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
    }
    return a < b;
}

uint64_t positive_quiet_nan(DataType type) {
    if (type == DataType::f16) return 0x7e00;
    if (type == DataType::bf16) return 0x7fc0;
    return type == DataType::f32 ? 0x7fc00000 : 0x7ff8000000000000;
}

template<typename T>
uint64_t told(DataType type, uint64_t bits) {
    if constexpr (std::is_floating_point_v<T>) {
        const T value = element<T>(type, bits);
        if (value == 0) return 0;
        if (std::isnan(value)) return positive_quiet_nan(type);
    }
    return bits;
}

// One row's places, the first k of them.
template<typename T>
std::vector<int64_t> places(DataType type, const std::vector<uint64_t> &row, int64_t k,
                            Order order) {
    std::vector<T> elements(row.size());
    std::ranges::transform(row, elements.begin(),
                           [&](uint64_t bits) { return element<T>(type, bits); });
    std::vector<int64_t> result(row.size());
    std::iota(result.begin(), result.end(), 0);
    const auto before = [&](int64_t a, int64_t b) {
        const T first = elements[static_cast<size_t>(a)], second = elements[static_cast<size_t>(b)];
        const bool large = order == Order::largest;
        if (large ? less(second, first) : less(first, second)) return true;
        return !(large ? less(first, second) : less(second, first)) && a < b;
    };
    if (k < std::ssize(result)) std::ranges::nth_element(result, result.begin() + k, before);
    result.resize(static_cast<size_t>(k));
    std::ranges::sort(result, before);
    return result;
}

template<typename T>
TopKResult sorted(const Tensor &input, int64_t k, size_t axis, Order order, DataType index_type) {
    const Shape &shape = input.shape();
    Shape output = shape;
    output[axis] = k;
    TopKResult result{Tensor(output, input.type()), Tensor(output, index_type)};
    if (result.values.elements() == 0) return result;
    const auto product = [&](size_t from, size_t to) {
        return std::accumulate(shape.begin() + from, shape.begin() + to, int64_t{1},
                               std::multiplies<>());
    };
    const int64_t outer = product(0, axis), inner = product(axis + 1, shape.size());
    const int64_t columns = shape[axis];
    const std::vector<uint64_t> all = bits(input);
    std::vector<uint64_t> values(static_cast<size_t>(outer * k * inner)), indices(values.size());
    std::vector<uint64_t> row(static_cast<size_t>(columns));
    for (int64_t y = 0; y < outer; y++) {
        for (int64_t x = 0; x < inner; x++) {
            for (int64_t i = 0; i < columns; i++) {
                row[static_cast<size_t>(i)] =
                    all[static_cast<size_t>((y * columns + i) * inner + x)];
            }
            const std::vector<int64_t> best = places<T>(input.type(), row, k, order);
            for (int64_t i = 0; i < k; i++) {
                const auto to = static_cast<size_t>((y * k + i) * inner + x);
                const auto from = static_cast<size_t>(best[static_cast<size_t>(i)]);
                values[to] = told<T>(input.type(), row[from]);
                indices[to] = from;
            }
        }
    }
    write_bits(result.values, values);
    write_bits(result.indices, indices);
    return result;
}

}  // namespace

TopKResult topk(const Tensor &input, int64_t k, int axis, Order order, DataType index_type) {
    const auto with = [&]<typename T>(T) {
        const int from_front = axis < 0 ? axis + input.rank() : axis;
        return sorted<T>(input, k, static_cast<size_t>(from_front), order, index_type);
    };
    const DataType type = input.type();
    if (type == DataType::f64) return with(double{});
    if (type == DataType::s8) return with(int8_t{});
    if (type == DataType::u8) return with(uint8_t{});
    if (type == DataType::s16) return with(int16_t{});
    if (type == DataType::u16) return with(uint16_t{});
    if (type == DataType::s32) return with(int32_t{});
    if (type == DataType::u32) return with(uint32_t{});
    if (type == DataType::s64) return with(int64_t{});
    if (type == DataType::u64) return with(uint64_t{});
    return with(float{});
}

}  // namespace hk::reference
