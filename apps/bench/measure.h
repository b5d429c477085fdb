#pragma once
// Interleaved timing, and the arithmetic peak that timings are held against.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hk/data_type.h"

namespace hk::bench {

// Something to time: does the work `count` times, returns when all of it is done, and gives the
// seconds that it took. What runs in another process has a clock there, so that the time until that
// process wakes is not in them; what returns nothing is timed here.
class Work {
public:
    template<typename F>
    requires(std::invocable<F &, int> && !std::same_as<std::remove_cvref_t<F>, Work>) Work(F run) {
        if constexpr (std::is_void_v<std::invoke_result_t<F &, int>>) {
            run_ = [run = std::move(run)](int count) {
                const auto start = std::chrono::steady_clock::now();
                run(count);
                const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
                return all.count();
            };
        } else {
            run_ = std::move(run);
        }
    }

    double operator()(int count) const { return run_(count); }

private:
    std::function<double(int count)> run_;
};

struct MeasureOptions {
    double sample_seconds = 2e-3;  // a sample repeats the work until it lasts this long
    double budget_seconds = 0.5;   // rounds go on until one case has taken this long
    int rounds_at_least = 5;
    int rounds_at_most = 41;
    int threads = 1;               // of a contestant: several are given a core each
};

// The median time of one run of each, in nanoseconds. Rounds take the contestants in turn, every
// second round backwards, so that a machine that slows down slows all of them.
std::vector<double> measure(std::span<const Work> contestants, const MeasureOptions &options);

// A rough time of one run in nanoseconds, to choose between variants: the best of a few.
double probe(const Work &work);

// Additions and multiplications a nanosecond of `threads` cores that do nothing else, in the widest
// vectors that this machine has: in 8 bits with sums of 32 for u8 and s8, in f32 for other types.
double measure_peak(DataType type, int threads, double seconds = 0.03);

// Of one core, a nanosecond: clock cycles, and multiply-adds of the widest vectors of f32.
struct Throughput {
    double cycles, fmas;
};
Throughput measure_throughput(double seconds);

// Vector extension that measure_peak uses: "AVX-512", "AVX2", "AVX-512 VNNI", …
std::string peak_instructions(DataType type);

// The largest of the 32-bit words, read once in the widest vectors that this machine has.
uint32_t one_pass(const void *data, int64_t bytes);

}  // namespace hk::bench
