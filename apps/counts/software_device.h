#pragma once
// The CUDA device in software (software_cuda) as this process's CUDA.

#include <functional>
#include <string>
#include <vector>

#include "counts.h"
#include "problem.h"
#include "software_cuda/control.h"

namespace hk::counts {

// What a program says where it is not built.
std::string how_to_build();

class SoftwareDevice {
public:
    // Device::cuda() is from here on the one in software, with the limits of compute capability
    // 9.0: call it before anything in this process has used CUDA. Throws Error where the driver is
    // not in software-cuda/ beside the program's folder, or another was loaded before.
    SoftwareDevice();

    // What `run` launches, when it has ended.
    std::vector<KernelCounts> count(const std::function<void()> &run) const;

    // A call of the problem, which is prepared, on random data; null: of the row that selection
    // takes.
    CallCounts count(bench::Problem &problem, const KernelInfo *row) const;

private:
    const SoftwareCudaControl *control_;
};

}  // namespace hk::counts
