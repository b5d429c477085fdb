// The arithmetic peak: chains of fused multiply-adds on registers. A chain waits 4 cycles for its
// last result and two units start one each cycle, so 8 chains would fill them; 12 leave slack and
// still fit the 16 registers of AVX2.

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

#endif

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

struct Loop {
    void (*run)();
    int lanes;
    const char *name;
};

Loop widest_loop() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {block_avx512, 16, "AVX-512"};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return {block_avx2, 8, "AVX2"};
    }
#endif
    return {block_scalar, 1, "scalar"};
}

// The best of short bursts: a burst that another process interrupts counts for nothing.
double peak_of_this_thread(const Loop &loop, double seconds) {
    using Clock = std::chrono::steady_clock;
    double best = 0;
    const auto start = Clock::now();
    auto now = start;
    while (std::chrono::duration<double>(now - start).count() < seconds) {
        const auto before = now;
        for (int i = 0; i < 4; ++i) loop.run();
        now = Clock::now();
        const double ns = std::chrono::duration<double, std::nano>(now - before).count();
        best = std::max(best, 4.0 * 2 * loop.lanes * chains * block / ns);
    }
    return best;
}

}  // namespace

double measure_peak(int threads, double seconds) {
    const Loop loop = widest_loop();
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

std::string peak_instructions() { return widest_loop().name; }

}  // namespace hk::bench
