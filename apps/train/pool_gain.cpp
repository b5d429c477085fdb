#include "pool_gain.h"

#include <algorithm>
#include <vector>

#include "hk/memory.h"

namespace hk::train {
namespace {

double seconds_of(const DigitSets &digits, const TrainOptions &options, bool caching) {
    MemoryPool::of(options.device).set_caching(caching);
    Trainer trainer(digits, options, Ranks::alone());
    trainer.epoch();
    double seconds = 0;
    while (!trainer.done()) seconds += trainer.epoch().seconds;
    return seconds;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

PoolGain pool_gain(const DigitSets &digits, TrainOptions options, int rounds) {
    options.epochs = std::max<int64_t>(options.epochs, 2);
    std::vector<double> pool, off;
    for (int round = 0; round < rounds; round++) {
        pool.push_back(seconds_of(digits, options, true));
        off.push_back(seconds_of(digits, options, false));
    }
    MemoryPool::of(options.device).set_caching(true);
    return {median(pool), median(off)};
}

}  // namespace hk::train
