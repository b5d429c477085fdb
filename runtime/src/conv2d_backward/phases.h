#pragma once
// A strided convolution's input gradient as convolutions of stride one: pixels of the input that
// are a stride apart meet the same taps of the filter. Each of these phases is a problem of its
// own on views of the input's gradient and of the filter.

#include <vector>

#include "convolution/operands.h"
#include "hk/conv2d_backward.h"

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

bool is_strided(const Conv2dProblem &problem);

// Whether a row of the input's gradient takes the phases of a problem: rows that stage tiles of
// nchw need columns next to each other, which are apart where they have a stride.
bool takes_columns_of_phases(const KernelInfo &row, const Conv2dProblem &problem);
DataPhases data_phases(const Conv2dProblem &problem);
// The phases are not empty.
const DataPhase &with_most_taps(const DataPhases &phases);

// Operands as phases are made of: taps that are channels, or meet nothing, are no phases of their
// own.
Conv2dOperands folded_for_phases(Conv2dOperands whole);

// Of the operands of a strided problem those of a phase: its pixels of the input's gradient, its
// taps of the weight.
Conv2dOperands operands_of(const DataPhase &phase, Conv2dOperands whole);

// Whether CUDA's rows of products take a strided problem's phases: that with the most taps speaks
// for all. None of these rows takes it whole.
bool products_take_phases(const Conv2dOperands &whole, DeviceType device,
                          const DeviceLimits &limits);

}  // namespace hk::detail
