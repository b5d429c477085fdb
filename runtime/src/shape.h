#pragma once
// Arithmetic on shapes and strides that can't overflow silently.

#include <span>

#include "hk/tensor.h"

namespace hk::detail {

// The place of the bytes that a view's elements lie in, relative to its first element.
struct Span {
    int64_t first = 0, end = 0;
};

// Throws InvalidArgument, naming `operation`, for a type that does not exist, a negative size or
// where the bytes overflow.
int64_t checked_elements(const char *operation, const Shape &shape, DataType type);

Shape packed_strides(const Shape &shape);
bool is_packed(const Shape &shape, const Shape &strides);

// The bytes that a view may reach to either side of its first element: more than any address space
// has, and so few that a dimension's size times its stride in bytes, and the sum of two reaches,
// fit 64 bits.
constexpr int64_t kMostReach = int64_t{1} << 61;

// Throws InvalidArgument where the span reaches further. Empty for a shape without elements.
Span checked_span(const char *operation, const Shape &shape, const Shape &strides, DataType type);

// One way of walking over strided memory: `extent` steps of `stride` bytes.
struct Walk {
    int64_t extent = 1, stride = 0;
};

// The fewest walks, innermost first, that visit the bytes of a view's elements; the first one has
// stride 1 and counts bytes.
std::vector<Walk> walks(const Shape &shape, const Shape &strides, int64_t element_size);

// Whether two sets of bytes meet: sets are walks from an address. Exact but for views whose
// dimensions interleave in an unusual way; then true.
bool bytes_meet(int64_t address_a, std::span<const Walk> a, int64_t address_b,
                std::span<const Walk> b);

// Whether two elements of a view may share bytes.
bool overlaps_itself(const Shape &shape, const Shape &strides);

}  // namespace hk::detail
