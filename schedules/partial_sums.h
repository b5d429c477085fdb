#pragma once
// How a long sum over pixels is divided: lanes side by side in a row, parts of the rows. It decides
// the order of adding, and so the last bits of the result.

#include "schedules/conv2d_sizes.h"

namespace hk::schedules {

struct PartialSums {
    int lanes, parts;

    // With the knobs `lanes` and `parts`; throws Halide::CompileError for others.
    PartialSums with(const std::string &knobs) const;
};

}  // namespace hk::schedules
