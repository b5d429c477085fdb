#include "topk_check.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "conv2d_data.h"

namespace hk::bench {

namespace {

// Calls visit(T) with the type whose values the elements are.
template<typename Visit>
auto with_values(DataType type, Visit visit) {
    switch (type) {
        case DataType::f64:
            return visit(double{});
        case DataType::s8:
            return visit(int8_t{});
        case DataType::u8:
            return visit(uint8_t{});
        case DataType::s16:
            return visit(int16_t{});
        case DataType::u16:
            return visit(uint16_t{});
        case DataType::s32:
            return visit(int32_t{});
        case DataType::u32:
            return visit(uint32_t{});
        case DataType::s64:
            return visit(int64_t{});
        case DataType::u64:
            return visit(uint64_t{});
        default:
            return visit(float{});
    }
}

template<typename T>
T value_at(DataType type, const std::byte *data, int64_t index) {
    if (type == DataType::f16 || type == DataType::bf16) {
        uint16_t bits;
        std::memcpy(&bits, data + 2 * index, 2);
        return static_cast<T>(type == DataType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits));
    }
    T value;
    std::memcpy(&value, data + index * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
}

// The first k places of a row, in order.
template<typename T>
std::vector<int64_t> first_places(const std::vector<T> &row, int64_t k, Order order) {
    std::vector<int64_t> places(row.size());
    std::iota(places.begin(), places.end(), 0);
    const auto before = [&](int64_t a, int64_t b) {
        if (row[a] != row[b]) return order == Order::largest ? row[a] > row[b] : row[a] < row[b];
        return a < b;
    };
    if (k < std::ssize(places))
        std::nth_element(places.begin(), places.begin() + k, places.end(), before);
    places.resize(k);
    std::sort(places.begin(), places.end(), before);
    return places;
}

}  // namespace

Tensor random_rows(DataType type, int64_t rows, int64_t columns) {
    const Tensor tensor({rows, columns}, type);
    std::byte *stored = bytes_of(tensor);
    const int64_t size = size_of(type);
    std::mt19937_64 random(1);
    for (int64_t i = 0; i < tensor.elements(); ++i, stored += size) {
        uint64_t bits = random();
        // Multiples of 2^-31 that are not 0.
        const float value = static_cast<float>(static_cast<int32_t>(bits >> 32) | 1) * 0x1p-31f;
        if (type == DataType::f32) std::memcpy(&bits, &value, 4);
        if (type == DataType::f64) {
            const double wide = static_cast<double>(static_cast<int64_t>(bits) | 1) * 0x1p-63;
            std::memcpy(&bits, &wide, 8);
        }
        if (type == DataType::f16) bits = f16_from_f32(value);
        if (type == DataType::bf16) bits = bf16_from_f32(value);
        // Small ones round to zeros in f16, of which none is negative.
        if (type == DataType::f16 && (bits & 0x7fff) == 0) bits = 0;
        std::memcpy(stored, &bits, size);
    }
    return tensor;
}

TopKReference::TopKReference(const TopKProblem &p, const Tensor &input)
    : k_(p.k), element_bytes_(size_of(p.type)) {
    values_.resize(p.rows * p.k * element_bytes_);
    indices_.reserve(p.rows * p.k);
    const std::byte *data = bytes_of(input);
    with_values(p.type, [&]<typename T>(T) {
        std::vector<T> row(p.columns);
        for (int64_t y = 0; y < p.rows; ++y) {
            for (int64_t i = 0; i < p.columns; ++i) {
                row[i] = value_at<T>(p.type, data, y * p.columns + i);
            }
            for (const int64_t place : first_places(row, p.k, p.order)) {
                std::memcpy(&values_[indices_.size() * element_bytes_],
                            data + (y * p.columns + place) * element_bytes_, element_bytes_);
                indices_.push_back(place);
            }
        }
    });
}

Check TopKReference::check(const std::byte *values, const std::byte *indices) const {
    const auto place = [&](size_t i) {
        return std::string("(").append(std::to_string(i / k_)) + ", " + std::to_string(i % k_) +
               ")";
    };
    for (size_t i = 0; i < indices_.size(); ++i) {
        const size_t at = i * element_bytes_;
        if (values && std::memcmp(values + at, &values_[at], element_bytes_) != 0) {
            return {1, "values" + place(i) + " is not element " + std::to_string(indices_[i])};
        }
        int64_t index = indices_[i];
        if (indices) std::memcpy(&index, indices + i * 8, 8);
        if (index != indices_[i]) {
            return {1, "indices" + place(i) + " is " + std::to_string(index) + ", must be " +
                           std::to_string(indices_[i])};
        }
    }
    return {};
}

}  // namespace hk::bench
