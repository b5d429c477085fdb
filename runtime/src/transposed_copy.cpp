#include "transposed_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "parallel.h"
#include "transposed_taps.h"
#include "transposed_words.h"

namespace hk::detail {

namespace {

// As many rows and columns as 16 bytes have elements, which every x86-64 has registers for.
template<typename Element>
struct Square {
    static constexpr int kSize = 16 / sizeof(Element);
    typedef Element Vector __attribute__((vector_size(16)));

    // The elements of the lower or the upper halves of both in turns.
    template<int kHalf, int... i>
    static Vector interleave(Vector a, Vector b, std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(a, b, (i % 2 * kSize + kHalf * kSize / 2 + i / 2)...);
    }

    static void copy(char *to, int64_t to_pitch, const char *from, int64_t from_pitch) {
        constexpr std::make_integer_sequence<int, kSize> lanes;
        Vector rows[kSize], next[kSize];
        for (int i = 0; i < kSize; i++) std::memcpy(&rows[i], from + i * from_pitch, 16);
        for (int done = 1; done < kSize; done *= 2) {
            for (int i = 0; i < kSize / 2; i++) {
                next[2 * i] = interleave<0>(rows[i], rows[i + kSize / 2], lanes);
                next[2 * i + 1] = interleave<1>(rows[i], rows[i + kSize / 2], lanes);
            }
            std::ranges::copy(next, rows);
        }
        for (int i = 0; i < kSize; i++) std::memcpy(to + i * to_pitch, &rows[i], 16);
    }
};

// Four lines of the target's rows at a time, of 16 rows: lines are written whole, a few next to
// each other, and the source is read from front to end, in more streams than a CPU follows by
// itself: the next 16 rows are prefetched. Rows of the target that are whole pages apart share the
// sets of the first cache, which hold 8 of them.
template<typename Element>
void copy_rows(const Transposition &t, char *to, const char *from) {
    constexpr int64_t kSize = sizeof(Element), kSquare = Square<Element>::kSize;
    constexpr int64_t kColumns = 256 / kSize, kPage = 4096;
    const int64_t together = std::max<int64_t>(t.to_pitch % kPage == 0 ? 8 : 16, kSquare);
    const auto one_by_one = [&](int64_t row, int64_t end_row, int64_t column, int64_t end_column) {
        for (int64_t r = row; r < end_row; r++) {
            for (int64_t c = column; c < end_column; c++) {
                std::memcpy(to + r * t.to_pitch + c * kSize, from + c * t.from_pitch + r * kSize,
                            kSize);
            }
        }
    };
    for (int64_t left = 0; left < t.columns; left += kColumns) {
        const int64_t right = std::min(left + kColumns, t.columns);
        for (int64_t top = 0; top < t.rows; top += together) {
            const int64_t bottom = std::min(top + together, t.rows);
            const int64_t squares = (bottom - top) / kSquare * kSquare;
            int64_t column = left;
            for (; column + kSquare <= right; column += kSquare) {
                for (int64_t c = column; c < column + kSquare; c++)
                    __builtin_prefetch(from + c * t.from_pitch + bottom * kSize);
                for (int64_t row = top; row < top + squares; row += kSquare) {
                    Square<Element>::copy(to + row * t.to_pitch + column * kSize, t.to_pitch,
                                          from + column * t.from_pitch + row * kSize, t.from_pitch);
                }
                one_by_one(top + squares, bottom, column, column + kSquare);
            }
            one_by_one(top, bottom, column, right);
        }
    }
}

auto copy_of(const Transposition &t) {
    // Rows of four, as those of 2x2 filters are, fill squares, and a quarter of wide vectors.
    const bool wide = t.columns != 4 && has_wide_vectors();
    switch (t.size) {
        case 1:
            return copy_rows<uint8_t>;
        case 2:
            return copy_rows<uint16_t>;
        case 4:
            if (wide && is_of_taps(t)) return copy_transposed_taps;
            return wide ? copy_transposed_words : copy_rows<uint32_t>;
        default:
            return copy_rows<uint64_t>;
    }
}

}  // namespace

void copy_transposed(const Transposition &t, char *to, const char *from) {
    constexpr int64_t kTask = 1 << 18, kRows = 64;
    const int64_t rows = std::max(kTask / (t.columns * t.size) / kRows * kRows, kRows);
    const auto copy = copy_of(t);
    if (rows >= t.rows) return copy(t, to, from);
    parallel((t.rows + rows - 1) / rows, [&](int64_t task) {
        const int64_t first = task * rows;
        Transposition part = t;
        part.rows = std::min(rows, t.rows - first);
        copy(part, to + first * t.to_pitch, from + first * t.size);
    });
}

}  // namespace hk::detail
