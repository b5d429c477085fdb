#pragma once
// The digits of an epoch in a shuffled order, each a little moved, turned and scaled, as tensors.

#include <random>

#include "digits.h"
#include "hk/tensor.h"

namespace hk::train {

// How much of a digit changes at most. Zeros leave it as it is.
struct Distortion {
    double shift = 0.7;   // pixels, in both directions
    double degrees = 12;  // turned about its middle
    double scale = 0.12;  // larger or smaller, a part of its size
};

struct Batch {
    Tensor images;  // [N, 8, 8, 1], of the type asked for
    Tensor labels;  // [N], s32

    int64_t count() const { return labels.elements(); }
};

// Digits from `first` on, as they stand in the file.
Batch batch_of(const Digits &digits, int64_t first, int64_t count, DataType type, Device device);

// An epoch is a function of the seed and its number alone: whoever takes a part of a batch, on
// whatever device, gets the digits that the whole has there.
class Epoch {
public:
    Epoch(const Digits &digits, const Distortion &distortion, uint64_t seed, int64_t epoch);

    int64_t count() const { return digits_.count(); }

    Batch batch(int64_t first, int64_t count, DataType type, Device device) const {
        return batch_of(digits_, first, count, type, device);
    }

private:
    Digits digits_;  // shuffled and distorted
};

// Uniform in [0, 1), the same with every standard library, as std::uniform_real_distribution isn't.
double uniform(std::mt19937_64 &random);

}  // namespace hk::train
