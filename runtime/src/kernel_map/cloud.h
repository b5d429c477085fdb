#pragma once
// The coordinates of a kernel map as integers of 64 bits in ascending order.
//
// A key is the sum over the axes of (coordinate - least) * 2^shift. Each axis has room for all
// values from -(reach + stride - 1) to extent + reach, where reach is the furthest that an offset
// leads. So the sum of a key and of an offset's delta is the key of another row exactly where the
// coordinates agree: no axis is mistaken for its neighbour.

#include <array>

#include "hk/kernel_map.h"
#include "kernel_map/array.h"
#include "parallel.h"

namespace hk::detail {

// Along an axis. An offset further than `reach` connects nothing.
struct KeyAxis {
    int64_t least = 0, extent = 0;  // of the coordinates: least to least + extent
    int64_t stride = 1, reach = 0;
    int shift = 0;

    int64_t mask() const;  // of the axis' room, not shifted
};

// Keys in ascending order, and whose they are. Room for them, until sort() has put them in order.
struct SortedKeys {
    // Throws OutOfMemory.
    explicit SortedKeys(int64_t rows);

    // `bits`: of the largest key, at most.
    void sort(int bits);

    int64_t size() const { return row_count; }
    int64_t row(int64_t place) const { return rows.empty() ? place : rows[place]; }
    bool in_order() const { return rows.empty(); }

    static constexpr int kSentinels = 8;
    int64_t row_count = 0;
    Array<int64_t> keys;  // ascending; then kSentinels that are larger than any
    Array<int32_t> rows;  // of each key; empty where key i is row i's
};

struct Cloud : SortedKeys {
    // Throws InvalidArgument, OutOfMemory.
    Cloud(const char *operation, const Tensor &coordinates, const KernelMapOptions &options);

    std::array<KeyAxis, 4> axes;
    int bits = 0;  // of the largest key, at most
};

// Throws InvalidArgument for a coordinate of more than 32 bits and for a batch below 0.
void check_values(const char *operation, const Tensor &coordinates);

// Keys of all different floor(coordinate / stride) * stride, ascending.
Array<int64_t> strided_keys(const Cloud &cloud);

// The coordinates of such keys, divided by the stride.
Tensor strided_coordinates(const Cloud &cloud, const Array<int64_t> &keys);

}  // namespace hk::detail
