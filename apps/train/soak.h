#pragma once
// Very many steps of mixed batch sizes, with the memory counted: it must stay where it was.

#include <functional>

#include "hk/memory.h"
#include "trainer.h"

namespace hk::train {

struct SoakOptions {
    int64_t steps = 100000;
    int64_t largest_batch = 32;
    Device device;
    uint64_t seed = 1;
};

// At the end of an epoch.
struct SoakReport {
    int64_t steps = 0;
    double seconds = 0;
    double loss = 0;  // a digit, in this epoch
    MemoryStatistics pool;
    int64_t resident = 0;
};

// Each epoch goes through all digits in batches of 1 to largest_batch, in an order of its own, and
// ends with the test. `each` is called at the end of each epoch, and after the last step.
void soak(DigitSets digits, const SoakOptions &options,
          const std::function<void(const SoakReport &)> &each);

}  // namespace hk::train
