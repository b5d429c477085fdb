#include "tests/reference/elements.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace hk::reference {
namespace {

double decode(DataType type, uint16_t bits) {
    return type == DataType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits);
}

uint16_t encode(DataType type, double value) {
    const auto narrow = static_cast<float>(value);
    return type == DataType::f16 ? f16_from_f32(narrow) : bf16_from_f32(narrow);
}

// Calls visit(place) with every element's place relative to the first, in row-major order.
template<typename Visit>
void for_each_place(const Tensor &tensor, Visit visit) {
    if (tensor.elements() == 0) {
        return;
    }
    const Shape &shape = tensor.shape();
    const Shape &strides = tensor.strides();
    const int64_t size = shape.empty() ? 1 : shape.back(),
                  step = shape.empty() ? 0 : strides.back();
    Shape index(shape.size(), 0);
    int64_t row = 0;
    for (;;) {
        for (int64_t i = 0; i < size; i++) visit(row + i * step);
        int d = tensor.rank() - 2;
        for (; d >= 0; d--) {
            row += strides[d];
            if (++index[d] < shape[d]) {
                break;
            }
            row -= strides[d] * shape[d];
            index[d] = 0;
        }
        if (d < 0) {
            return;
        }
    }
}

[[noreturn]] void refuse(const char *what) {
    throw std::invalid_argument(std::string("reference: ") + what);
}

// Calls visit with a null pointer of the type that stores the elements.
template<typename Visit>
auto with_storage(DataType type, Visit visit) {
    switch (type) {
        case DataType::f32:
            return visit(static_cast<float *>(nullptr));
        case DataType::f64:
            return visit(static_cast<double *>(nullptr));
        case DataType::f16:
        case DataType::bf16:
            return visit(static_cast<uint16_t *>(nullptr));
        case DataType::u8:
            return visit(static_cast<uint8_t *>(nullptr));
        case DataType::s8:
            return visit(static_cast<int8_t *>(nullptr));
        case DataType::s32:
            return visit(static_cast<int32_t *>(nullptr));
        case DataType::s64:
            return visit(static_cast<int64_t *>(nullptr));
        default:
            refuse("elements must be f32, f64, f16, bf16, u8, s8, s32 or s64");
    }
}

// The same with the unsigned integer of the elements' width.
template<typename Visit>
auto with_bits(DataType type, Visit visit) {
    switch (size_of(type)) {
        case 1:
            return visit(static_cast<uint8_t *>(nullptr));
        case 2:
            return visit(static_cast<uint16_t *>(nullptr));
        case 4:
            return visit(static_cast<uint32_t *>(nullptr));
        default:
            return visit(static_cast<uint64_t *>(nullptr));
    }
}

// The place of the element of a packed tensor at which `find` stops; -1 where that is its end.
template<typename Find>
int64_t first_place(const Tensor &packed, Find find) {
    if (packed.elements() == 0) return -1;
    return with_bits(packed.type(), [&](auto *storage) -> int64_t {
        using T = std::remove_pointer_t<decltype(storage)>;
        const std::span<const T> elements(packed.data<T>(), static_cast<size_t>(packed.elements()));
        const auto found = find(elements);
        return found == elements.end() ? -1 : found - elements.begin();
    });
}

template<typename T>
T stored(DataType type, double value) {
    if constexpr (std::is_same_v<T, uint16_t>) {
        return encode(type, value);
    } else if constexpr (std::is_integral_v<T>) {
        if (!(value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max()) ||
            value != std::trunc(value)) {
            refuse("an integer type can't hold the value");
        }
    }
    return static_cast<T>(value);
}

template<typename T>
double loaded(DataType type, T stored) {
    if constexpr (std::is_same_v<T, uint16_t>) return decode(type, stored);
    return static_cast<double>(stored);
}

}  // namespace

std::vector<double> read(const Tensor &tensor) {
    std::vector<double> values;
    values.reserve(static_cast<size_t>(tensor.elements()));
    with_storage(tensor.type(), [&](auto *storage) {
        using T = std::remove_pointer_t<decltype(storage)>;
        const T *data = tensor.elements() ? tensor.data<T>() : nullptr;
        for_each_place(tensor, [&](int64_t place) {
            values.push_back(loaded<T>(tensor.type(), data[place]));
        });
    });
    return values;
}

void write(const Tensor &tensor, std::span<const double> values) {
    if (static_cast<int64_t>(values.size()) != tensor.elements()) {
        refuse("as many values as elements are needed");
    }
    const double *next = values.data();
    with_storage(tensor.type(), [&](auto *storage) {
        using T = std::remove_pointer_t<decltype(storage)>;
        T *data = tensor.elements() ? tensor.data<T>() : nullptr;
        for_each_place(tensor,
                       [&](int64_t place) { data[place] = stored<T>(tensor.type(), *next++); });
    });
}

std::vector<uint64_t> bits(const Tensor &tensor) {
    std::vector<uint64_t> result;
    result.reserve(static_cast<size_t>(tensor.elements()));
    with_bits(tensor.type(), [&](auto *storage) {
        const auto *data =
            tensor.elements() ? tensor.data<std::decay_t<decltype(*storage)>>() : storage;
        for_each_place(tensor, [&](int64_t place) { result.push_back(data[place]); });
    });
    return result;
}

void write_bits(const Tensor &tensor, std::span<const uint64_t> bits) {
    if (static_cast<int64_t>(bits.size()) != tensor.elements()) {
        refuse("as many values as elements are needed");
    }
    const uint64_t *next = bits.data();
    with_bits(tensor.type(), [&](auto *storage) {
        using T = std::remove_pointer_t<decltype(storage)>;
        T *data = tensor.elements() ? tensor.data<T>() : nullptr;
        for_each_place(tensor, [&](int64_t place) { data[place] = static_cast<T>(*next++); });
    });
}

void fill_bits(const Tensor &tensor, uint64_t bits) {
    with_bits(tensor.type(), [&](auto *storage) {
        using T = std::remove_pointer_t<decltype(storage)>;
        T *data = tensor.elements() ? tensor.data<T>() : nullptr;
        for_each_place(tensor, [&](int64_t place) { data[place] = static_cast<T>(bits); });
    });
}

int64_t first_with_bits(const Tensor &packed, uint64_t bits) {
    return first_place(packed, [&](const auto &elements) {
        using T = std::ranges::range_value_t<decltype(elements)>;
        return std::ranges::find(elements, static_cast<T>(bits));
    });
}

int64_t first_without_bits(const Tensor &packed, uint64_t bits) {
    return first_place(packed, [&](const auto &elements) {
        using T = std::ranges::range_value_t<decltype(elements)>;
        return std::ranges::find_if(elements, [&](T e) { return e != static_cast<T>(bits); });
    });
}

int64_t first_difference(const Tensor &a, const Tensor &b) {
    return first_place(a, [&](const auto &elements) {
        using T = std::ranges::range_value_t<decltype(elements)>;
        return std::mismatch(elements.begin(), elements.end(), b.data<T>()).first;
    });
}

double rounded(DataType type, double value) {
    return with_storage(type, [&](auto *storage) {
        using T = std::remove_pointer_t<decltype(storage)>;
        return loaded<T>(type, stored<T>(type, value));
    });
}

}  // namespace hk::reference
