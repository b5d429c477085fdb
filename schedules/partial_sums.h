#pragma once
// How a long sum over pixels is divided: lanes side by side in a row, parts of the rows. It decides
// the order of adding, and so the last bits of the result.

#include "schedules/conv2d_sizes.h"

namespace hk::schedules {

struct PartialSums {
    int lanes, parts;
};

// A lane for each element of a vector of columns (nchw), one where vectors are of channels (nhwc);
// eight parts. Knobs `lanes` and `parts` override it; throws Halide::CompileError for others.
PartialSums partial_sums(const Conv2dSizes &sizes);

}  // namespace hk::schedules
