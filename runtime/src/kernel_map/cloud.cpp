#include "kernel_map/cloud.h"

#include <bit>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <limits>
#include <string>
#include <vector>

namespace hk::detail {

namespace {

constexpr int kMostBits = 62;
constexpr const char *kAxes[] = {"batch", "x", "y", "z"};

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

// Coordinates whose elements are T.
template<typename T>
struct CoordinateRows {
    const T *data;
    int64_t count, row_stride, axis_stride;

    explicit CoordinateRows(const Tensor &tensor)
        : data(tensor.data<T>()),
          count(tensor.shape()[0]),
          row_stride(tensor.strides()[0]),
          axis_stride(tensor.strides()[1]) {}

    int64_t at(int64_t row, int axis) const { return data[row * row_stride + axis * axis_stride]; }
};

struct Extent {
    std::array<int64_t, 4> least, most;

    Extent() {
        least.fill(std::numeric_limits<int64_t>::max());
        most.fill(std::numeric_limits<int64_t>::min());
    }
    void add(const Extent &other) {
        for (int a = 0; a < 4; a++) {
            least[a] = std::min(least[a], other.least[a]);
            most[a] = std::max(most[a], other.most[a]);
        }
    }
    // Whether all values are 32 bits, batches not negative.
    bool valid() const {
        for (int a = 0; a < 4; a++) {
            if (least[a] < std::numeric_limits<int32_t>::min() ||
                most[a] > std::numeric_limits<int32_t>::max()) {
                return false;
            }
        }
        return least[0] >= 0;
    }
};

template<typename T>
Extent extent_of(const CoordinateRows<T> &rows) {
    std::vector<Extent> extents(static_cast<size_t>(chunks_of(rows.count)));
    each_chunk(rows.count, [&](int64_t chunk, int64_t first, int64_t end) {
        Extent extent;
        for (int64_t i = first; i < end; i++) {
            for (int a = 0; a < 4; a++) {
                const int64_t value = rows.at(i, a);
                extent.least[a] = std::min(extent.least[a], value);
                extent.most[a] = std::max(extent.most[a], value);
            }
        }
        extents[static_cast<size_t>(chunk)] = extent;
    });
    Extent all;
    for (const Extent &extent : extents) all.add(extent);
    return all;
}

template<typename T>
void check_values(const char *operation, const CoordinateRows<T> &rows, const Extent &extent) {
    if (extent.valid()) return;
    for (int64_t i = 0;; i++) {
        for (int a = 0; a < 4; a++) {
            const int64_t value = rows.at(i, a);
            const int64_t least = a == 0 ? 0 : std::numeric_limits<int32_t>::min();
            if (value >= least && value <= std::numeric_limits<int32_t>::max()) continue;
            fail(operation, std::string(kAxes[a]) + " of row " + std::to_string(i) + " is " +
                                std::to_string(value) + ", it must be " + std::to_string(least) +
                                " to " + std::to_string(std::numeric_limits<int32_t>::max()));
        }
    }
}

// The furthest that an offset of an axis leads in either direction.
int64_t furthest(int64_t kernel_size, int64_t dilation) {
    return (kernel_size % 2 == 1 ? kernel_size / 2 : kernel_size - 1) * dilation;
}

std::array<KeyAxis, 4> axes_of(const char *operation, const Extent &extent,
                               const KernelMapOptions &options, int &bits) {
    std::array<KeyAxis, 4> axes;
    std::string spans;
    for (int a = 3; a >= 0; a--) {
        KeyAxis &axis = axes[a];
        axis.least = extent.least[a];
        axis.extent = extent.most[a] - extent.least[a];
        axis.shift = std::min(bits, kMostBits);
        if (a > 0) {
            axis.stride = options.stride[a - 1];
            axis.reach = std::min(furthest(options.kernel_size[a - 1], options.dilation[a - 1]),
                                  axis.extent + axis.stride - 1);
        }
        bits += std::bit_width(static_cast<uint64_t>(axis.extent + axis.reach + axis.stride - 1));
        spans = ", " + std::string(kAxes[a]) + " " + std::to_string(axis.least) + " to " +
                std::to_string(extent.most[a]) + spans;
    }
    if (bits > kMostBits) {
        fail(operation, "coordinates span " + spans.substr(2) +
                            "; with the kernel's reach their keys have " + std::to_string(bits) +
                            " bits, at most " + std::to_string(kMostBits) + " are possible");
    }
    return axes;
}

// Sorts runs on all threads, then merges them by pairs.
template<typename T, typename Less>
void sort_all(Array<T> &items, Less less) {
    const int64_t size = items.size();
    int64_t runs = 1;
    while (runs < halide_get_num_threads() && size / (2 * runs) >= kChunk) runs *= 2;
    const auto at = [&](int64_t run) { return items.begin() + size * run / runs; };
    parallel(runs, [&](int64_t r) { boost::sort::pdqsort_branchless(at(r), at(r + 1), less); });
    if (runs == 1) return;
    Array<T> merged(size);
    for (int64_t width = 1; width < runs; width *= 2) {
        parallel(runs / (2 * width), [&](int64_t pair) {
            const int64_t r = pair * 2 * width;
            std::merge(at(r), at(r + width), at(r + width), at(r + 2 * width),
                       merged.begin() + (at(r) - items.begin()), less);
        });
        items.swap(merged);
    }
}

struct KeyedRow {
    int64_t key;
    int32_t row;
    bool operator<(const KeyedRow &other) const { return key < other.key; }
};

// With items that make(key, row) builds and split(item, key, row) takes apart.
template<typename Item, typename Make, typename Split>
void sort_as(SortedKeys &sorted, Make make, Split split) {
    Array<Item> items(sorted.size());
    each_chunk(sorted.size(), [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; i++)
            items[i] = make(sorted.keys[i], static_cast<int32_t>(i));
    });
    sort_all(items, std::less<>());
    sorted.rows = Array<int32_t>(sorted.size());
    each_chunk(sorted.size(), [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; i++) split(items[i], sorted.keys[i], sorted.rows[i]);
    });
}

// Refuses rows that repeat another, and tells the first of them: equal keys lie in any order.
template<typename T>
void check_repeats(const char *operation, const Cloud &cloud, const CoordinateRows<T> &rows) {
    int64_t repeat = rows.count, before = 0;
    for (int64_t i = 1; i < cloud.size(); i++) {
        if (cloud.keys[i] != cloud.keys[i - 1]) continue;
        int64_t least = cloud.row(i - 1), second = rows.count;
        for (; cloud.keys[i] == cloud.keys[i - 1]; i++) {
            const int64_t row = cloud.row(i);
            second = std::min(second, std::max(least, row));
            least = std::min(least, row);
        }
        if (second < repeat) {
            repeat = second;
            before = least;
        }
    }
    if (repeat == rows.count) return;
    std::string values;
    for (int a = 0; a < 4; a++) values += (a ? ", " : "") + std::to_string(rows.at(repeat, a));
    fail(operation, "rows " + std::to_string(before) + " and " + std::to_string(repeat) +
                        " of the coordinates are both (" + values + ")");
}

template<typename T>
void fill(const char *operation, const CoordinateRows<T> &rows, const KernelMapOptions &options,
          Cloud &cloud) {
    const Extent extent = extent_of(rows);
    check_values(operation, rows, extent);
    cloud.axes = axes_of(operation, extent, options, cloud.bits);
    each_chunk(rows.count, [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; i++) {
            int64_t key = 0;
            for (int a = 0; a < 4; a++)
                key += (rows.at(i, a) - cloud.axes[a].least) << cloud.axes[a].shift;
            cloud.keys[i] = key;
        }
    });
    cloud.sort(cloud.bits);
    check_repeats(operation, cloud, rows);
}

}  // namespace

int64_t KeyAxis::mask() const {
    return static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(extent + reach + stride - 1) + 1) - 1);
}

SortedKeys::SortedKeys(int64_t rows) : row_count(rows), keys(rows + kSentinels) {
    std::fill(keys.begin() + rows, keys.end(), std::numeric_limits<int64_t>::max());
}

void SortedKeys::sort(int bits) {
    if (std::is_sorted(keys.begin(), keys.begin() + row_count)) return;
    const int row_bits = std::bit_width(static_cast<uint64_t>(row_count));
    if (bits + row_bits <= 63) {
        // Key and row in one number: half the bytes to move.
        sort_as<int64_t>(
            *this, [=](int64_t key, int32_t row) { return key << row_bits | row; },
            [=](int64_t item, int64_t &key, int32_t &row) {
                key = item >> row_bits;
                row = static_cast<int32_t>(item & ((int64_t{1} << row_bits) - 1));
            });
        return;
    }
    sort_as<KeyedRow>(
        *this,
        [](int64_t key, int32_t row) {
            return KeyedRow{key, row};
        },
        [](const KeyedRow &item, int64_t &key, int32_t &row) {
            key = item.key;
            row = item.row;
        });
}

Cloud::Cloud(const char *operation, const Tensor &coordinates, const KernelMapOptions &options)
    : SortedKeys(coordinates.shape()[0]) {
    if (row_count == 0) return;
    if (coordinates.type() == DataType::s64) {
        fill(operation, CoordinateRows<int64_t>(coordinates), options, *this);
    } else {
        fill(operation, CoordinateRows<int32_t>(coordinates), options, *this);
    }
}

void check_values(const char *operation, const Tensor &coordinates) {
    const auto check = [&](const auto &rows) { check_values(operation, rows, extent_of(rows)); };
    if (coordinates.type() == DataType::s64) {
        check(CoordinateRows<int64_t>(coordinates));
    } else {
        check(CoordinateRows<int32_t>(coordinates));
    }
}

Array<int64_t> strided_keys(const Cloud &cloud) {
    // floor((least + digit) / stride) * stride - least, with a numerator that is not negative.
    std::array<uint64_t, 4> phase{};
    std::array<int64_t, 4> mask{};
    for (int a = 1; a < 4; a++) {
        mask[a] = cloud.axes[a].mask();
        const int64_t stride = cloud.axes[a].stride, least = cloud.axes[a].least;
        phase[a] = static_cast<uint64_t>((least % stride + stride) % stride);
    }
    Array<int64_t> keys(cloud.size());
    each_chunk(cloud.size(), [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; i++) {
            int64_t key = cloud.keys[i];
            for (int a = 1; a < 4; a++) {
                const KeyAxis &axis = cloud.axes[a];
                if (axis.stride == 1) continue;
                const auto digit = static_cast<uint64_t>(cloud.keys[i] >> axis.shift & mask[a]);
                const uint64_t remainder = (digit + phase[a]) % static_cast<uint64_t>(axis.stride);
                key -= static_cast<int64_t>(remainder) << axis.shift;
            }
            keys[i] = key;
        }
    });
    // Neighbours fall together before they are sorted.
    keys.shrink(std::unique(keys.begin(), keys.end()) - keys.begin());
    if (!std::is_sorted(keys.begin(), keys.end())) sort_all(keys, std::less<>());
    keys.shrink(std::unique(keys.begin(), keys.end()) - keys.begin());
    return keys;
}

Tensor strided_coordinates(const Cloud &cloud, const Array<int64_t> &keys) {
    Tensor coordinates({keys.size(), 4}, DataType::s32);
    auto *values = coordinates.data<int32_t>();
    int64_t bias = 0;  // so that no digit is negative
    std::array<int64_t, 4> mask;
    for (int a = 0; a < 4; a++) {
        bias += (cloud.axes[a].stride - 1) << cloud.axes[a].shift;
        mask[a] = cloud.axes[a].mask();
    }
    each_chunk(keys.size(), [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; i++) {
            for (int a = 0; a < 4; a++) {
                const KeyAxis &axis = cloud.axes[a];
                const int64_t digit = (keys[i] + bias) >> axis.shift & mask[a];
                const int64_t value = digit - (axis.stride - 1) + axis.least;
                values[4 * i + a] = static_cast<int32_t>(value / axis.stride);
            }
        }
    });
    return coordinates;
}

}  // namespace hk::detail
