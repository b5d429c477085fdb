#include "transposed_taps.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace hk::detail {

namespace {

constexpr int64_t kWord = 4, kTaps = 9, kLine = kTaps * kWord;

// Taps are next to each other in the target; else in the source.
bool joins_taps(const Transposition &t) { return t.columns == kTaps && t.to_pitch == kLine; }

}  // namespace

bool is_of_taps(const Transposition &t) noexcept {
    return t.size == kWord && (joins_taps(t) || (t.rows == kTaps && t.from_pitch == kLine));
}

#if defined(__x86_64__)

namespace {

#define HK_AVX2 __attribute__((target("avx2"), always_inline)) inline

constexpr int kLanes = 8;
typedef int32_t Vector __attribute__((vector_size(32)));

// Lanes whose number has the bit are of b.
template<int kBit, int... i>
HK_AVX2 Vector blended(Vector a, Vector b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (i & kBit ? kLanes + i : i)...);
}

// Lane l is what lane (l + by) % 8 was.
template<int kBy, int... i>
HK_AVX2 Vector turned(Vector a, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, a, (i + kBy) % kLanes...);
}

// Lane l of vector i becomes what lane l of vector (i + l) % 9 was: lanes are moved by their
// number's bits, one after the other.
template<int kBit>
HK_AVX2 void move_lanes(Vector *vectors) {
    constexpr std::make_integer_sequence<int, kLanes> lanes;
    Vector moved[kTaps];
    for (int i = 0; i < kTaps; i++)
        moved[i] = blended<kBit>(vectors[i], vectors[(i + kBit) % kTaps], lanes);
    for (int i = 0; i < kTaps; i++) vectors[i] = moved[i];
}

HK_AVX2 void skew(Vector *vectors) {
    move_lanes<1>(vectors);
    move_lanes<2>(vectors);
    move_lanes<4>(vectors);
}

// Lines of 8 filters as they lie in memory have tap t of line c in lane l = (c + t) % 8 of vector
// (l - t) % 9, so that skewed vector 9 - t has all lines' tap t, turned by t lanes.
template<int... tap>
HK_AVX2 void split(char *to, int64_t pitch, const char *from, std::integer_sequence<int, tap...>) {
    constexpr std::make_integer_sequence<int, kLanes> lanes;
    Vector vectors[kTaps];
    (std::memcpy(&vectors[tap], from + tap * sizeof(Vector), sizeof(Vector)), ...);
    skew(vectors);
    Vector rows[] = {turned<tap % kLanes>(vectors[(kTaps - tap) % kTaps], lanes)...};
    (std::memcpy(to + tap * pitch, &rows[tap], sizeof(Vector)), ...);
}

// The other way round.
template<int... tap>
HK_AVX2 void join(char *to, const char *from, int64_t pitch, std::integer_sequence<int, tap...>) {
    constexpr std::make_integer_sequence<int, kLanes> lanes;
    Vector rows[kTaps], vectors[kTaps];
    (std::memcpy(&rows[tap], from + tap * pitch, sizeof(Vector)), ...);
    ((vectors[tap] = turned<(2 * kLanes - tap) % kLanes>(rows[tap], lanes)), ...);
    skew(vectors);
    ((rows[tap] = vectors[(kTaps - tap) % kTaps]), ...);
    (std::memcpy(to + tap * sizeof(Vector), &rows[tap], sizeof(Vector)), ...);
}

}  // namespace

__attribute__((target("avx2"))) void copy_transposed_taps(const Transposition &t, char *to,
                                                          const char *from) {
    constexpr std::make_integer_sequence<int, kTaps> taps;
    constexpr int64_t kAhead = 16 * kLine;
    const bool joins = joins_taps(t);
    const int64_t lines = joins ? t.rows : t.columns, whole = lines / kLanes * kLanes;
    for (int64_t line = 0; line < whole; line += kLanes) {
        if (joins) {
            join(to + line * kLine, from + line * kWord, t.from_pitch, taps);
        } else {
            __builtin_prefetch(from + line * kLine + kAhead);
            split(to + line * kWord, t.to_pitch, from + line * kLine, taps);
        }
    }
    for (int64_t line = whole; line < lines; line++) {
        for (int64_t tap = 0; tap < kTaps; tap++) {
            if (joins)
                std::memcpy(to + line * kLine + tap * kWord,
                            from + tap * t.from_pitch + line * kWord, kWord);
            else
                std::memcpy(to + tap * t.to_pitch + line * kWord, from + line * kLine + tap * kWord,
                            kWord);
        }
    }
}

#else

void copy_transposed_taps(const Transposition &, char *, const char *) {}

#endif

}  // namespace hk::detail
