// The arithmetic peak: chains of multiply-adds on registers. A chain waits 4 cycles for its last
// result and two units start one each cycle, so 8 chains would fill them; 12 leave slack and still
// fit the 16 registers of AVX2. An integer chain takes the same operands again and again, which a
// compiler could count out in advance: an empty statement makes them unknown.
// The clock is a chain of additions, of which each waits one cycle for the one before.
// And one pass over data in memory.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hk::bench {

namespace {

constexpr int chains = 12;
constexpr int64_t block = 20000;  // multiply-adds a chain between two looks at the clock

volatile float sink;

#if defined(__x86_64__)

__attribute__((target("avx512f"))) void block_avx512() {
    __m512 sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
    const __m512 factor = _mm512_set1_ps(0.999f), addend = _mm512_set1_ps(0.001f);
    for (int64_t n = 0; n < block; ++n) {
#pragma GCC unroll 12
        for (int i = 0; i < chains; ++i) sums[i] = _mm512_fmadd_ps(sums[i], factor, addend);
    }
    float total = 0;
    for (int i = 0; i < chains; ++i) total += _mm512_cvtss_f32(sums[i]);
    sink = total;
}

__attribute__((target("avx2,fma"))) void block_avx2() {
    __m256 sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
    const __m256 factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(0.001f);
    for (int64_t n = 0; n < block; ++n) {
#pragma GCC unroll 12
        for (int i = 0; i < chains; ++i) sums[i] = _mm256_fmadd_ps(sums[i], factor, addend);
    }
    float total = 0;
    for (int i = 0; i < chains; ++i) total += _mm256_cvtss_f32(sums[i]);
    sink = total;
}

__attribute__((target("avx512f,avx512vnni"))) void block_avx512_vnni() {
    __m512i sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_epi32(i);
    __m512i input = _mm512_set1_epi8(3), weight = _mm512_set1_epi8(-2);
    for (int64_t n = 0; n < block; ++n) {
        asm("" : "+v"(input), "+v"(weight));
#pragma GCC unroll 12
        for (int i = 0; i < chains; ++i) sums[i] = _mm512_dpbusd_epi32(sums[i], input, weight);
    }
    for (int i = 1; i < chains; ++i) sums[0] = _mm512_xor_si512(sums[0], sums[i]);
    sink = static_cast<float>(_mm512_reduce_add_epi32(sums[0]));
}

// Products of 8 bits summed in pairs to 16, those to 32: what stands for vpdpbusd without VNNI.
__attribute__((target("avx2"))) void block_avx2_8bit() {
    __m256i sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = _mm256_set1_epi32(i);
    __m256i input = _mm256_set1_epi8(3), weight = _mm256_set1_epi8(-2);
    const __m256i ones = _mm256_set1_epi16(1);
    for (int64_t n = 0; n < block; ++n) {
#pragma GCC unroll 12
        for (int i = 0; i < chains; ++i) {
            asm("" : "+x"(input), "+x"(weight));
            const __m256i pairs = _mm256_maddubs_epi16(input, weight);
            sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(pairs, ones));
        }
    }
    for (int i = 1; i < chains; ++i) sums[0] = _mm256_xor_si256(sums[0], sums[i]);
    sink = static_cast<float>(_mm256_extract_epi32(sums[0], 0));
}

// Eight chains, so that a maximum waits for none before it.
__attribute__((target("avx512f"))) uint32_t pass_avx512(const uint32_t *words, int64_t count) {
    __m512i best[8];
    for (__m512i &b : best) b = _mm512_setzero_si512();
    int64_t i = 0;
    for (; i + 128 <= count; i += 128) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) {
            best[j] = _mm512_max_epu32(best[j], _mm512_loadu_si512(words + i + 16 * j));
        }
    }
    for (int j = 1; j < 8; ++j) best[0] = _mm512_max_epu32(best[0], best[j]);
    uint32_t lanes[16];
    _mm512_storeu_si512(lanes, best[0]);
    uint32_t result = *std::max_element(lanes, lanes + 16);
    for (; i < count; ++i) result = std::max(result, words[i]);
    return result;
}

__attribute__((target("avx2"))) uint32_t pass_avx2(const uint32_t *words, int64_t count) {
    __m256i best[8];
    for (__m256i &b : best) b = _mm256_setzero_si256();
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) {
            const auto *at = reinterpret_cast<const __m256i *>(words + i + 8 * j);
            best[j] = _mm256_max_epu32(best[j], _mm256_loadu_si256(at));
        }
    }
    for (int j = 1; j < 8; ++j) best[0] = _mm256_max_epu32(best[0], best[j]);
    uint32_t lanes[8];
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(lanes), best[0]);
    uint32_t result = *std::max_element(lanes, lanes + 8);
    for (; i < count; ++i) result = std::max(result, words[i]);
    return result;
}

#endif

void block_scalar_8bit() {
    int32_t sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = i;
    int32_t input = 3, weight = -2;
    for (int64_t n = 0; n < block; ++n) {
        for (int i = 0; i < chains; ++i) {
            asm("" : "+r"(input), "+r"(weight));
            sums[i] += input * weight;
        }
    }
    int32_t total = 0;
    for (int32_t sum : sums) total ^= sum;
    sink = static_cast<float>(total);
}

void block_scalar() {
    float sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = static_cast<float>(i);
    for (int64_t n = 0; n < block; ++n) {
        for (int i = 0; i < chains; ++i) sums[i] = sums[i] * 0.999f + 0.001f;
    }
    float total = 0;
    for (float sum : sums) total += sum;
    sink = total;
}

void block_clock() {
    int64_t sum = 0, one = 1;
    for (int64_t n = 0; n < block; ++n) {
#if defined(__x86_64__)
        asm volatile(
            "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
            "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
            "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0"
            : "+r"(sum)
            : "r"(one));
#else
        for (int i = 0; i < chains; ++i) {
            sum += one;
            asm volatile("" : "+r"(sum));
        }
#endif
    }
    sink = static_cast<float>(sum);
}

struct Loop {
    void (*run)();
    int products;  // of one step of one chain
    const char *name;
};

Loop widest_f32_loop() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {block_avx512, 16, "AVX-512"};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return {block_avx2, 8, "AVX2"};
    }
#endif
    return {block_scalar, 1, "scalar"};
}

Loop widest_8bit_loop() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) {
        return {block_avx512_vnni, 64, "AVX-512 VNNI"};
    }
    if (__builtin_cpu_supports("avx2")) return {block_avx2_8bit, 32, "AVX2, 8 bits"};
#endif
    return {block_scalar_8bit, 1, "scalar, integers"};
}

Loop widest_loop(DataType type) {
    return size_of(type) == 1 ? widest_8bit_loop() : widest_f32_loop();
}

// How often a nanosecond the chains step. Of several bursts the best counts: one that another
// process interrupts says nothing.
double burst(void (*run)()) {
    using Clock = std::chrono::steady_clock;
    const auto before = Clock::now();
    for (int i = 0; i < 4; ++i) run();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - before).count();
    return 4.0 * chains * block / ns;
}

// Calls `look` again and again.
template<typename Look>
void for_seconds(double seconds, const Look &look) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) look();
}

double peak_of_this_thread(const Loop &loop, double seconds) {
    double best = 0;
    for_seconds(seconds, [&] { best = std::max(best, 2 * loop.products * burst(loop.run)); });
    return best;
}

}  // namespace

double measure_peak(DataType type, int threads, double seconds) {
    const Loop loop = widest_loop(type);
    if (threads <= 1) return peak_of_this_thread(loop, seconds);
    std::vector<double> rates(threads);
    std::vector<std::thread> workers;
    for (double &rate : rates) {
        workers.emplace_back([&] { rate = peak_of_this_thread(loop, seconds); });
    }
    for (std::thread &worker : workers) worker.join();
    double sum = 0;
    for (double rate : rates) sum += rate;
    return sum;
}

Throughput measure_throughput(double seconds) {
    const Loop loop = widest_f32_loop();
    Throughput best{};
    for_seconds(seconds, [&] {
        best.cycles = std::max(best.cycles, burst(block_clock));
        best.fmas = std::max(best.fmas, burst(loop.run));
    });
    return best;
}

uint32_t one_pass(const void *data, int64_t bytes) {
    const auto *words = static_cast<const uint32_t *>(data);
    const int64_t count = bytes / 4;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return pass_avx512(words, count);
    if (__builtin_cpu_supports("avx2")) return pass_avx2(words, count);
#endif
    return count > 0 ? *std::max_element(words, words + count) : 0;
}

std::string peak_instructions(DataType type) { return widest_loop(type).name; }

}  // namespace hk::bench
