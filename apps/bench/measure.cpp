#include "measure.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "cores.h"

namespace hk::bench {

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
    const size_t middle = values.size() / 2;
    std::nth_element(values.begin(), values.begin() + middle, values.end());
    if (values.size() % 2 == 1) return values[middle];
    return (values[middle] + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

// Between contestants of several threads: the workers of the last fall asleep.
constexpr std::chrono::milliseconds kPause(2);

// How often to repeat the work in one sample, after a first run, which pays for page faults.
int repeats_for(const Work &work, double sample_seconds) {
    int count = 1;
    for (;;) {
        const double seconds = work(count);
        if (seconds >= sample_seconds / 2 || count >= 1 << 20) {
            return std::max(1, static_cast<int>(std::ceil(count * sample_seconds / seconds)));
        }
        count *= 4;
    }
}

}  // namespace

std::vector<double> measure(std::span<const Work> contestants, const MeasureOptions &options) {
    const size_t size = contestants.size();
    for (const Work &work : contestants) work(1);  // from here on their threads are there
    const OneThreadPerCore placed(options.threads);
    std::vector<int> repeats;
    for (const Work &work : contestants)
        repeats.push_back(repeats_for(work, options.sample_seconds));

    std::vector<std::vector<double>> samples(size);
    const auto start = Clock::now();
    for (int round = 0; round < options.rounds_at_most; ++round) {
        const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
        if (round >= options.rounds_at_least && elapsed > options.budget_seconds) break;
        for (size_t turn = 0; turn < size; ++turn) {
            const size_t i = round % 2 == 0 ? turn : size - 1 - turn;
            if (options.threads > 1) std::this_thread::sleep_for(kPause);
            samples[i].push_back(contestants[i](repeats[i]) * 1e9 / repeats[i]);
        }
    }
    std::vector<double> result;
    for (auto &values : samples) result.push_back(median(std::move(values)));
    return result;
}

double probe(const Work &work) {
    work(1);
    double best = 1e30, total = 0;
    for (int i = 0; i < 20 && (i < 3 || total < 0.03); ++i) {
        const double seconds = work(1);
        best = std::min(best, seconds);
        total += seconds;
    }
    return best * 1e9;
}

}  // namespace hk::bench
