#pragma once
// Training and testing, a step at a time.

#include <functional>
#include <string>
#include <vector>

#include "batches.h"
#include "network.h"
#include "ranks.h"

namespace hk::train {

struct TrainOptions {
    DataType type = DataType::f32;
    Device device;
    int64_t epochs = 30, batch = 32;
    int64_t steps = 0;  // at most; 0: as many as the epochs have
    uint64_t seed = 1;
    double learning_rate = 0.03;  // at its highest: it rises during the first epoch, then falls
                                  // along a cosine to 0
    double momentum = 0.9, weight_decay = 5e-4;
    Distortion distortion;
};

// How good answers were: the mean loss, and the share of digits whose label was the best answer, or
// among the best three.
struct Score {
    double loss = 0, top1 = 0, top3 = 0;
};

// Bytes of the device's pool, and of the process in memory.
struct Memory {
    int64_t live = 0, peak = 0, reserved = 0, resident = 0;
};

Memory memory_of(Device device);

struct StepReport {
    double loss = 0;
    Memory memory;  // live: after the step; peak: during the step
};

struct EpochReport {
    Score train, test;
    double seconds = 0, learning_rate = 0;  // at its end
    Memory memory;                          // live: after it; peak: during it
};

class Trainer {
public:
    // What is called after each step: steps done in this epoch, steps it has, mean loss so far.
    using Progress = std::function<void(int64_t, int64_t, double)>;

    Trainer(DigitSets digits, const TrainOptions &options, Ranks ranks);

    // Trains one epoch, or until the last step, and tests.
    EpochReport epoch(const Progress &progress = {});
    bool done() const { return epochs_done_ >= options_.epochs || stopped(); }

    // One step on the whole batch, of which each rank takes its part. Returns this rank's sums of
    // loss and right answers. After an exception the parameters are as they were, and the step may
    // be tried again.
    Score step(const Epoch &epoch, int64_t first, int64_t count, double learning_rate);

    // Of the digits for testing, all ranks together.
    Score test();

    const Network &network() const { return network_; }
    const DigitSets &digits() const { return digits_; }
    const std::vector<StepReport> &steps() const { return steps_; }

    // A hash (FNV-1a) of all bits of all parameters.
    std::string fingerprint() const;

private:
    bool stopped() const;  // by the number of steps
    double rate(int64_t step) const;
    Score summed(const Score &sums, int64_t count) const;

    DigitSets digits_;
    TrainOptions options_;
    Ranks ranks_;
    Network network_;
    std::vector<StepReport> steps_;
    int64_t epochs_done_ = 0;
};

}  // namespace hk::train
