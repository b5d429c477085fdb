#pragma once
// Matrix transposition of elements of 1, 2 or 4 bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hk::bench {

// `count` matrices of rows x columns, each transposed.
inline std::vector<std::byte> transposed(const void *data, int64_t element_bytes, int64_t count,
                                         int64_t rows, int64_t columns) {
    std::vector<std::byte> result(count * rows * columns * element_bytes);
    const auto copy = [&]<typename T>(T) {
        const T *from = static_cast<const T *>(data);
        T *to = reinterpret_cast<T *>(result.data());
        for (int64_t i = 0; i < count; ++i, from += rows * columns, to += rows * columns) {
            for (int64_t row = 0; row < rows; ++row) {
                for (int64_t column = 0; column < columns; ++column) {
                    to[column * rows + row] = from[row * columns + column];
                }
            }
        }
    };
    if (element_bytes == 1) copy(uint8_t{});
    if (element_bytes == 2) copy(uint16_t{});
    if (element_bytes == 4) copy(uint32_t{});
    return result;
}

}  // namespace hk::bench
