#pragma once
// What the memory pool gains in a training run.

#include "trainer.h"

namespace hk::train {

// Seconds of the same epochs, the first left out: medians.
struct PoolGain {
    double pool = 0, off = 0;

    double factor() const { return off / pool; }
};

// Trains `rounds` times with the pool and as often without (MemoryPool::set_caching), in turn. At
// least two epochs.
PoolGain pool_gain(const DigitSets &digits, TrainOptions options, int rounds);

}  // namespace hk::train
