#pragma once
// How a filter's gradient is divided among the threads of a CPU.

#include "schedules/conv2d_backward/conv2d_backward_weight.h"

namespace hk::schedules::cpu {

// In how many tasks a filter is worth dividing, whose elements are sums over so many pixels: one of
// one thread, as all of them read all pixels; else as many as are worth beginning. No sum depends
// on it.
Halide::Expr parts_that_pay(const Conv2dBackwardWeightContext &context, const Halide::Expr &pixels);

// Of `size` in so many parts, whole multiples of `sums`: at least `least`, and at most what its
// sums' memory is worth.
Halide::Expr block_of(const Halide::Expr &size, int most, int sums, int least,
                      const Halide::Expr &parts);

}  // namespace hk::schedules::cpu
