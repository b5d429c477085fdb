// Conversion of elements: casts and fills.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "hk/error.h"
#include "rethrow.h"
#include "storage.h"

namespace hk {

namespace {

struct F16 {
    uint16_t bits;
};

struct Bf16 {
    uint16_t bits;
};

// f(T()) for the C++ type of elements of a type.
template<typename F>
void visit(DataType type, F &&f) {
    switch (type) {
        case DataType::f32:
            return f(float());
        case DataType::f16:
            return f(F16());
        case DataType::bf16:
            return f(Bf16());
        case DataType::f64:
            return f(double());
        case DataType::s8:
            return f(int8_t());
        case DataType::u8:
            return f(uint8_t());
        case DataType::s16:
            return f(int16_t());
        case DataType::u16:
            return f(uint16_t());
        case DataType::s32:
            return f(int32_t());
        case DataType::u32:
            return f(uint32_t());
        case DataType::s64:
            return f(int64_t());
        case DataType::u64:
            return f(uint64_t());
    }
}

// The f32 towards zero with its last bit set where bits are lost, so that rounding it to 16 bits is
// the only rounding (Boldo and Melquiond 2008). long double holds every s64, u64 and f64.
template<typename T>
float rounded_to_odd(T value) {
    const auto nearest = static_cast<float>(value);
    if constexpr (sizeof(T) <= 2 || std::is_same_v<T, float>) {
        return nearest;
    } else {
        static_assert(std::numeric_limits<long double>::digits >= 64);
        const auto exact = static_cast<long double>(value),
                   rounded = static_cast<long double>(nearest);
        if (rounded == exact || std::isnan(exact)) return nearest;
        auto bits = std::bit_cast<uint32_t>(nearest);
        if (std::abs(rounded) > std::abs(exact)) bits--;
        return std::bit_cast<float>(bits | 1);
    }
}

template<typename To, typename From>
To truncated(From value) {
    constexpr To least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();
    if (std::isnan(value)) return 0;
    if (value <= static_cast<From>(least)) return least;
    if (value >= static_cast<From>(most)) return most;
    return static_cast<To>(value);
}

template<typename To, typename From>
To converted(From value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else if constexpr (std::is_same_v<From, F16>) {
        return converted<To>(f32_from_f16(value.bits));
    } else if constexpr (std::is_same_v<From, Bf16>) {
        return converted<To>(f32_from_bf16(value.bits));
    } else if constexpr (std::is_same_v<To, F16>) {
        return {f16_from_f32(rounded_to_odd(value))};
    } else if constexpr (std::is_same_v<To, Bf16>) {
        return {bf16_from_f32(rounded_to_odd(value))};
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        return truncated<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

// Strides in elements.
struct Loop {
    int64_t extent = 1, to = 0, from = 0;
};

// Innermost first, as few as possible, at least one.
std::vector<Loop> loops_over(const Tensor &to, const Tensor &from) {
    std::vector<Loop> loops;
    for (size_t i = to.shape().size(); i-- > 0;) {
        const Loop loop{to.shape()[i], to.strides()[i], from.strides()[i]};
        if (loop.extent == 1) continue;
        const Loop *inner = loops.empty() ? nullptr : &loops.back();
        if (inner && loop.to == inner->extent * inner->to &&
            loop.from == inner->extent * inner->from) {
            loops.back().extent *= loop.extent;
        } else {
            loops.push_back(loop);
        }
    }
    if (loops.empty()) loops.emplace_back();
    return loops;
}

template<typename To, typename From>
void convert_row(To *to, const From *from, const Loop &row) {
    if (row.from == 0) {
        const To value = converted<To>(*from);
        for (int64_t i = 0; i < row.extent; i++) to[i * row.to] = value;
    } else if (row.to == 1 && row.from == 1) {
        for (int64_t i = 0; i < row.extent; i++) to[i] = converted<To>(from[i]);
    } else {
        for (int64_t i = 0; i < row.extent; i++) {
            to[i * row.to] = converted<To>(from[i * row.from]);
        }
    }
}

template<typename To, typename From>
void convert(To *to, const From *from, const std::vector<Loop> &loops, size_t level) {
    const Loop &loop = loops[level];
    if (level == 0) return convert_row(to, from, loop);
    for (int64_t i = 0; i < loop.extent; i++) {
        convert(to + i * loop.to, from + i * loop.from, loops, level - 1);
    }
}

// On the host; both have elements and one shape, a view of `to` none twice.
void convert(const Tensor &to, const Tensor &from) {
    const std::vector<Loop> loops = loops_over(to, from);
    visit(to.type(), [&]<typename To>(To) {
        visit(from.type(), [&]<typename From>(From) {
            convert(to.data<To>(), static_cast<const From *>(from.data<From>()), loops,
                    loops.size() - 1);
        });
    });
}

}  // namespace

Tensor Tensor::cast(DataType type) const try {
    if (!defined()) throw InvalidArgument("cast: the tensor is undefined");
    if (!device().is_cpu()) return to(Device::cpu()).cast(type).to(device());
    Tensor result(shape_, type);
    if (elements() > 0) convert(result, *this);
    return result;
} catch (...) {
    detail::rethrow_as_error("cast");
}

void Tensor::fill(double value) const try {
    if (!defined()) throw InvalidArgument("fill: the tensor is undefined");
    if (elements() == 0) return;
    if (value == 0 && !std::signbit(value)) return fill_zero();
    if (!device().is_cpu()) {
        const Tensor host(shape_, type_);
        host.fill(value);
        return copy_from(host);
    }
    const Tensor one = borrow(&value, DataType::f64, {}).cast(type_);
    convert(*this, Access::make(one.storage_, type_, shape_, Shape(shape_.size(), 0)));
} catch (...) {
    detail::rethrow_as_error("fill");
}

}  // namespace hk
