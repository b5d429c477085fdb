#pragma once
// How a CUDA kernel is launched, found by running its host code against a driver that notes what it
// is told and does nothing. No CUDA device or driver is needed.

#include <functional>
#include <vector>

#include "problem.h"
#include "stand_in.h"

namespace hk::explain {

using absent::Launch;

// The launches of `run`, which is called in a process of its own, so that this one stays free to
// use a real driver. Empty where `run` throws. Call it before anything in this process has used
// CUDA.
std::vector<Launch> launches_of(const std::function<void()> &run);

// A problem's tensors on Device::cuda(), at made-up addresses, one after the other.
bench::Tensors made_up_tensors(const bench::Problem &problem);

}  // namespace hk::explain
