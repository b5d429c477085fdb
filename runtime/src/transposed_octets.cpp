#include "transposed_octets.h"

#include "cpu_limit.h"
#include "transposed_squares.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hk::detail {

#if defined(__x86_64__)

namespace {

#define HK_AVX2 __attribute__((target("avx2"), always_inline)) inline

struct Octets {
    static constexpr int kBytes = 4, kSize = 8;

    // Four elements of lines i and 4 + i of the source.
    HK_AVX2 static __m256 halves(const char *from, int64_t pitch, int i) {
        const auto *const low = reinterpret_cast<const float *>(from + i * pitch);
        const auto *const high = reinterpret_cast<const float *>(from + (4 + i) * pitch);
        return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high),
                                    1);
    }

    HK_AVX2 static void store(char *to, __m256d row) {
        _mm256_storeu_ps(reinterpret_cast<float *>(to), _mm256_castpd_ps(row));
    }

    HK_AVX2 static void copy_half(char *to, int64_t to_pitch, const char *from, int64_t pitch) {
        const __m256 a = halves(from, pitch, 0), b = halves(from, pitch, 1);
        const __m256 c = halves(from, pitch, 2), d = halves(from, pitch, 3);
        const __m256d low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b));
        const __m256d high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
        const __m256d next_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
        const __m256d next_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
        store(to, _mm256_unpacklo_pd(low, next_low));
        store(to + to_pitch, _mm256_unpackhi_pd(low, next_low));
        store(to + 2 * to_pitch, _mm256_unpacklo_pd(high, next_high));
        store(to + 3 * to_pitch, _mm256_unpackhi_pd(high, next_high));
    }

    __attribute__((target("avx2"))) static void copy(char *to, int64_t to_pitch, const char *from,
                                                     int64_t pitch) {
        copy_half(to, to_pitch, from, pitch);
        copy_half(to + 4 * to_pitch, to_pitch, from + 4 * kBytes, pitch);
    }
};

}  // namespace

bool takes_octets(const Transposition &t) noexcept {
    static const bool has_vectors = may_use("avx2") && __builtin_cpu_supports("avx2");
    return has_vectors && t.size == Octets::kBytes && std::min(t.rows, t.columns) >= Octets::kSize;
}

void copy_octets(const Transposition &t, char *to, const char *from) {
    copy_squares<Octets>(t, to, from);
}

#else

bool takes_octets(const Transposition &) noexcept { return false; }

void copy_octets(const Transposition &, char *, const char *) {}

#endif

}  // namespace hk::detail
