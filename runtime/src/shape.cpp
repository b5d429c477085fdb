#include "shape.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "hk/error.h"

namespace hk {

std::string to_string(const Shape &shape) {
    std::string text = "[";
    for (size_t i = 0; i < shape.size(); i++) {
        text += (i ? ", " : "") + std::to_string(shape[i]);
    }
    return text + "]";
}

namespace detail {

int64_t checked_elements(const char *operation, const Shape &shape, DataType type) {
    const auto fail = [&](const std::string &what) {
        throw InvalidArgument(std::string(operation) + ": shape " + to_string(shape) + " of " +
                              std::string(name_of(type)) + " " + what);
    };
    if (size_of(type) == 0) {
        throw InvalidArgument(std::string(operation) + ": data type " +
                              std::to_string(static_cast<int>(type)) + " does not exist");
    }
    for (const int64_t size : shape) {
        if (size < 0) fail("has the negative size " + std::to_string(size));
    }
    // Sizes of 0 come last, so that a shape without elements can still be too large elsewhere.
    int64_t elements = 1, bytes = size_of(type);
    bool empty = false;
    for (const int64_t size : shape) {
        if (size == 0) {
            empty = true;
        } else if (__builtin_mul_overflow(elements, size, &elements) ||
                   __builtin_mul_overflow(bytes, size, &bytes)) {
            fail("needs more than " + std::to_string(INT64_MAX) + " bytes");
        }
    }
    return empty ? 0 : elements;
}

Shape packed_strides(const Shape &shape) {
    Shape strides(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= std::max<int64_t>(shape[i], 1);
    }
    return strides;
}

bool is_packed(const Shape &shape, const Shape &strides) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != stride) return false;
        stride *= shape[i];
    }
    return true;
}

Span checked_span(const char *operation, const Shape &shape, const Shape &strides, DataType type) {
    Span span{0, size_of(type)};
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {};
    for (size_t i = 0; i < shape.size(); i++) {
        int64_t reach;
        int64_t &side = strides[i] < 0 ? span.first : span.end;
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
            __builtin_mul_overflow(reach, size_of(type), &reach) ||
            __builtin_add_overflow(side, reach, &side) || side < -kMostReach || side > kMostReach) {
            throw InvalidArgument(std::string(operation) + ": strides " + to_string(strides) +
                                  " of shape " + to_string(shape) + " span more than " +
                                  std::to_string(kMostReach) + " bytes");
        }
    }
    return span;
}

std::vector<Walk> walks(const Shape &shape, const Shape &strides, int64_t element_size) {
    std::vector<Walk> outer;
    for (size_t i = 0; i < shape.size(); i++) {
        if (shape[i] != 1) outer.push_back({shape[i], strides[i] * element_size});
    }
    std::stable_sort(outer.begin(), outer.end(), [](const Walk &a, const Walk &b) {
        return std::abs(a.stride) < std::abs(b.stride);
    });
    std::vector<Walk> result{{element_size, 1}};
    for (const Walk &walk : outer) {
        if (walk.stride == result.back().stride * result.back().extent) {
            result.back().extent *= walk.extent;
        } else {
            result.push_back(walk);
        }
    }
    return result;
}

namespace {

struct Interval {
    int64_t first, end;
};

Interval reach(int64_t address, std::span<const Walk> walks) {
    Interval interval{address, address + 1};
    for (const Walk &walk : walks) {
        (walk.stride < 0 ? interval.first : interval.end) += (walk.extent - 1) * walk.stride;
    }
    return interval;
}

// The places modulo `period` that walks reach, as one interval where the walks whose strides are
// multiples of the period drop out and the others stay within one period.
bool residues(int64_t address, std::span<const Walk> walks, int64_t period, Interval &interval) {
    std::vector<Walk> inner;
    for (const Walk &walk : walks) {
        if (walk.stride % period != 0) inner.push_back(walk);
    }
    interval = reach(address, inner);
    if (interval.end - interval.first > period) return false;
    const int64_t base = (interval.first % period + period) % period;
    interval = {base, base + interval.end - interval.first};
    return true;
}

bool apart(int64_t address_a, std::span<const Walk> a, int64_t address_b, std::span<const Walk> b,
           int64_t period) {
    Interval x, y;
    if (period <= 1 || !residues(address_a, a, period, x) || !residues(address_b, b, period, y)) {
        return false;
    }
    const auto disjoint = [](Interval p, Interval q) {
        return p.end <= q.first || q.end <= p.first;
    };
    return disjoint(x, y) && disjoint({x.first + period, x.end + period}, y) &&
           disjoint(x, {y.first + period, y.end + period});
}

}  // namespace

bool bytes_meet(int64_t address_a, std::span<const Walk> a, int64_t address_b,
                std::span<const Walk> b) {
    const Interval x = reach(address_a, a), y = reach(address_b, b);
    if (x.end <= y.first || y.end <= x.first) return false;
    for (const auto &walks : {a, b}) {
        for (const Walk &walk : walks) {
            if (apart(address_a, a, address_b, b, std::abs(walk.stride))) return false;
        }
    }
    return true;
}

bool overlaps_itself(const Shape &shape, const Shape &strides) {
    if (is_packed(shape, strides)) return false;
    int64_t reached = 0;
    for (const Walk &walk : walks(shape, strides, 1)) {
        if (walk.extent == 0) return false;
        if (walk.extent > 1 && std::abs(walk.stride) <= reached) return true;
        reached += (walk.extent - 1) * std::abs(walk.stride);
    }
    return false;
}

}  // namespace detail
}  // namespace hk
