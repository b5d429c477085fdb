#pragma once
// The way of transposed copies through memory.

#include <algorithm>

#include "transposed_copy.h"

namespace hk::detail {

// By squares of Square::kSize rows and columns. Four lines of the target's rows at a time, of 16
// rows: lines are written whole, a few next to each other, and the source is read from front to
// end, in more streams than a CPU follows by itself: the next 16 rows are prefetched. Rows of the
// target that are whole pages apart share the sets of the first cache, which hold 8 of them. The
// last squares end with the rows and columns, and copy again what is copied already.
template<typename Square>
__attribute__((always_inline)) inline void copy_squares(Transposition t, char *to,
                                                        const char *from) {
    constexpr int64_t kSize = Square::kBytes, kSquare = Square::kSize;
    constexpr int64_t kColumns = 256 / kSize, kPage = 4096;
    const int64_t together = std::max<int64_t>(t.to_pitch % kPage == 0 ? 8 : 16, kSquare);
    for (int64_t left = 0; left < t.columns; left += kColumns) {
        const int64_t right = std::min(left + kColumns, t.columns);
        for (int64_t top = 0; top < t.rows; top += together) {
            const int64_t bottom = std::min(top + together, t.rows);
            for (int64_t i = left; i < right; i += kSquare) {
                const int64_t column = std::min(i, t.columns - kSquare);
                const char *const source = from + column * t.from_pitch;
                for (int c = 0; c < kSquare; c++)
                    __builtin_prefetch(source + c * t.from_pitch + bottom * kSize);
                for (int64_t k = top; k < bottom; k += kSquare) {
                    const int64_t row = std::min(k, t.rows - kSquare);
                    Square::copy(to + row * t.to_pitch + column * kSize, t.to_pitch,
                                 source + row * kSize, t.from_pitch);
                }
            }
        }
    }
}

}  // namespace hk::detail
