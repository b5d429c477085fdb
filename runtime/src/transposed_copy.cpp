#include "transposed_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "parallel.h"
#include "transposed_octets.h"
#include "transposed_squares.h"
#include "transposed_taps.h"
#include "transposed_words.h"

namespace hk::detail {

namespace {

// As many rows and columns as 16 bytes have elements, which every x86-64 has registers for.
template<typename Element>
struct Square {
    static constexpr int kBytes = sizeof(Element), kSize = 16 / sizeof(Element);
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

template<typename Element>
void copy_rows(const Transposition &transposition, char *to, const char *from) {
    const Transposition t = transposition;
    if (std::min(t.rows, t.columns) >= Square<Element>::kSize)
        return copy_squares<Square<Element>>(t, to, from);
    for (int64_t row = 0; row < t.rows; row++) {
        for (int64_t column = 0; column < t.columns; column++) {
            std::memcpy(to + row * t.to_pitch + column * sizeof(Element),
                        from + column * t.from_pitch + row * sizeof(Element), sizeof(Element));
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
            if (wide) return copy_transposed_words;
            return takes_octets(t) ? copy_octets : copy_rows<uint32_t>;
        default:
            return copy_rows<uint64_t>;
    }
}

}  // namespace

void copy_transposed(const Transposition &t, char *to, const char *from) {
    constexpr int64_t kTask = 1 << 18, kRows = 64;
    const int64_t rows = std::max(kTask / (t.columns * t.size) / kRows * kRows, kRows);
    if (rows >= t.rows) return copy_of(t)(t, to, from);
    parallel((t.rows + rows - 1) / rows, [&](int64_t task) {
        const int64_t first = task * rows;
        Transposition part = t;
        part.rows = std::min(rows, t.rows - first);
        copy_of(part)(part, to + first * t.to_pitch, from + first * t.size);
    });
}

}  // namespace hk::detail
