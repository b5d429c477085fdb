#include "transposed_words.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cpu_limit.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hk::detail {

#if defined(__x86_64__)

namespace {

#define HK_AVX512 __attribute__((target("avx512f"), always_inline)) inline

constexpr int kSize = 16;  // of a block, in both directions

struct Block {
    int rows, columns;  // of the target, at most kSize
};

typedef int32_t Vector __attribute__((vector_size(64)));

// Places in two vectors, of elements of one.
struct Words {  // of both in turns, of the lower or the upper half of each quarter
    static constexpr int at(int half, int i) {
        return i / 4 * 4 + half * 2 + i % 4 / 2 + i % 2 * kSize;
    }
};
struct Pairs {  // the same of pairs
    static constexpr int at(int half, int i) {
        return i / 4 * 4 + half * 2 + i % 2 + i % 4 / 2 * kSize;
    }
};
struct Quarters {  // every second quarter of both, from the first or the second on
    static constexpr int at(int first, int i) {
        return i / 8 * kSize + (i / 4 % 2 * 2 + first) * 4 + i % 4;
    }
};

template<typename Places, int kWhich, int... i>
HK_AVX512 Vector shuffled(Vector a, Vector b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, Places::at(kWhich, i)...);
}

template<typename Places>
HK_AVX512 void shuffle(Vector a, Vector b, Vector &first, Vector &second) {
    constexpr std::make_integer_sequence<int, kSize> lanes;
    first = shuffled<Places, 0>(a, b, lanes);
    second = shuffled<Places, 1>(a, b, lanes);
}

// Of each quarter of four lines four by four elements.
HK_AVX512 void transpose_quarters(const Vector *lines, Vector *columns) {
    Vector low, high, next_low, next_high;
    shuffle<Words>(lines[0], lines[1], low, high);
    shuffle<Words>(lines[2], lines[3], next_low, next_high);
    shuffle<Pairs>(low, next_low, columns[0], columns[1]);
    shuffle<Pairs>(high, next_high, columns[2], columns[3]);
}

// What is outside of the block is neither read nor written.
HK_AVX512 void copy_block(char *to, int64_t to_pitch, const char *from, int64_t from_pitch,
                          Block block) {
    const auto first = [](int count) { return static_cast<__mmask16>((1U << count) - 1); };
    const __mmask16 of_line = first(block.rows), of_row = first(block.columns);
    Vector lines[kSize], quarters[kSize], rows[kSize];
    for (int i = 0; i < kSize; i++) {
        const int line = std::min(i, block.columns - 1);  // past the last may be no memory
        lines[i] =
            reinterpret_cast<Vector>(_mm512_maskz_loadu_epi32(of_line, from + line * from_pitch));
    }
    for (int i = 0; i < kSize; i += 4) transpose_quarters(lines + i, quarters + i);
    for (int i = 0; i < 4; i++) {
        Vector even, odd, last_even, last_odd;
        shuffle<Quarters>(quarters[i], quarters[4 + i], even, odd);
        shuffle<Quarters>(quarters[8 + i], quarters[12 + i], last_even, last_odd);
        shuffle<Quarters>(even, last_even, rows[i], rows[8 + i]);
        shuffle<Quarters>(odd, last_odd, rows[4 + i], rows[12 + i]);
    }
    for (int i = 0; i < kSize && i < block.rows; i++)
        _mm512_mask_storeu_epi32(to + i * to_pitch, of_row, reinterpret_cast<__m512i>(rows[i]));
}

// As copy_squares goes through memory.
__attribute__((target("avx512f"))) void copy_blocks(const Transposition &t, char *to,
                                                    const char *from) {
    constexpr int64_t kWord = 4, kColumns = 64, kAhead = 2 * kSize;
    for (int64_t left = 0; left < t.columns; left += kColumns) {
        const int64_t right = std::min(left + kColumns, t.columns);
        for (int64_t top = 0; top < t.rows; top += kSize) {
            const int rows = static_cast<int>(std::min<int64_t>(kSize, t.rows - top));
            for (int64_t column = left; column < right; column += kSize) {
                const int columns = static_cast<int>(std::min<int64_t>(kSize, right - column));
                char *const target = to + top * t.to_pitch + column * kWord;
                const char *const source = from + column * t.from_pitch + top * kWord;
                for (int i = 0; i < columns; i++)
                    __builtin_prefetch(source + i * t.from_pitch + kAhead * kWord);
                if (rows == kSize && columns == kSize)  // sizes that the compiler knows
                    copy_block(target, t.to_pitch, source, t.from_pitch, {kSize, kSize});
                else
                    copy_block(target, t.to_pitch, source, t.from_pitch, {rows, columns});
            }
        }
    }
}

}  // namespace

bool has_wide_vectors() noexcept {
    static const bool has_vectors = may_use("avx512") && __builtin_cpu_supports("avx512f");
    return has_vectors;
}

void copy_transposed_words(const Transposition &t, char *to, const char *from) {
    copy_blocks(t, to, from);
}

#else

bool has_wide_vectors() noexcept { return false; }

void copy_transposed_words(const Transposition &, char *, const char *) {}

#endif

}  // namespace hk::detail
