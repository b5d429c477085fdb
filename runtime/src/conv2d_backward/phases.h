#pragma once
// A strided convolution's input gradient as convolutions of stride one: pixels of the input that
// are a stride apart meet the same taps of the filter. Each of these phases is a problem of its
// own on views of the input's gradient and of the filter.

#include <vector>

#include "hk/conv2d.h"

namespace hk::detail {

// The pixels first, first + stride, … and the taps that meet them, in one direction.
struct PhaseAxis {
    int64_t first, pixels;
    int64_t tap, taps, step;  // taps tap, tap + step, …
    int64_t dilation, before, after;
};

struct DataPhase {
    PhaseAxis y, x;
    Conv2dProblem problem;  // of stride one; its paddings may be below zero
};

struct DataPhases {
    std::vector<DataPhase> phases;  // those that have taps
    bool all_pixels = true;         // false: other pixels' gradient is zero
};

// Whether a CPU runs the problem in phases: where more than one pixel is between those of a phase,
// and columns of nchw stay next to each other.
bool runs_in_phases(const Conv2dProblem &problem);
DataPhases data_phases(const Conv2dProblem &problem);

// A phase's part of the input's gradient, and of the weight.
Tensor pixels_of(const DataPhase &phase, const Conv2dProblem &whole, const Tensor &image);
Tensor taps_of(const DataPhase &phase, const Tensor &weight, Layout layout);

}  // namespace hk::detail
