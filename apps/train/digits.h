#pragma once
// Handwritten digits from a file, in a part to train on and a part to test on (DIGITS.md).

#include <cstdint>
#include <string>
#include <vector>

#include "hk/error.h"

namespace hk::train {

constexpr int64_t kSide = 8, kPixels = kSide * kSide, kClasses = 10;

struct DigitError : Error {
    using Error::Error;
};

struct Digits {
    std::vector<float> pixels;  // kPixels for each digit, row by row, 0 (paper) to 1 (ink)
    std::vector<int32_t> labels;

    int64_t count() const { return static_cast<int64_t>(labels.size()); }
};

struct DigitSets {
    Digits train, test;
};

// Rows of 64 numbers from 0 to 16 and the digit, separated by commas. Of each digit every fifth row
// is for testing. Throws DigitError, with the line, for anything else.
DigitSets read_digits(const std::string &file);

}  // namespace hk::train
