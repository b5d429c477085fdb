#include "soak.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace hk::train {
namespace {

constexpr double kLearningRate = 0.003;  // small enough for batches of one digit

// Sizes of batches: all of them once, shuffled, then all of them again.
class Sizes {
public:
    Sizes(int64_t largest, uint64_t seed) : random_(seed), sizes_(static_cast<size_t>(largest)) {
        std::iota(sizes_.begin(), sizes_.end(), 1);
    }

    int64_t next() {
        if (place_ == sizes_.size()) {
            for (size_t i = sizes_.size(); i > 1; i--) {
                std::swap(sizes_[i - 1], sizes_[random_() % i]);
            }
            place_ = 0;
        }
        return sizes_[place_++];
    }

private:
    std::mt19937_64 random_;
    std::vector<int64_t> sizes_;
    size_t place_ = 0;  // in the first round they rise
};

}  // namespace

void soak(DigitSets digits, const SoakOptions &options,
          const std::function<void(const SoakReport &)> &each) {
    const auto start = std::chrono::steady_clock::now();
    TrainOptions train;
    train.device = options.device;
    train.seed = options.seed;
    Trainer trainer(std::move(digits), train, Ranks::alone());
    Sizes sizes(options.largest_batch, options.seed);
    SoakReport report;
    for (int64_t number = 0; report.steps < options.steps; number++) {
        const Epoch epoch(trainer.digits().train, train.distortion, train.seed, number);
        int64_t first = 0;
        report.loss = 0;
        while (first < epoch.count() && report.steps < options.steps) {
            const int64_t count = std::min(sizes.next(), epoch.count() - first);
            report.loss += trainer.step(epoch, first, count, kLearningRate).loss;
            first += count;
            report.steps++;
        }
        report.loss /= static_cast<double>(first);
        trainer.test();
        report.pool = MemoryPool::of(options.device).statistics();
        report.resident = memory_of(options.device).resident;
        report.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        each(report);
    }
}

}  // namespace hk::train
