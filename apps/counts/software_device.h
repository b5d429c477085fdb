#pragma once
// The CUDA device in software (software_cuda) as this process's CUDA.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "counts.h"
#include "problem.h"
#include "software_cuda/control.h"

namespace hk::counts {

// What a program says where it is not built.
std::string how_to_build();

// Of one row's kernel. The least bytes are those of its tensors.
struct RowCounts {
    const KernelInfo *row;
    CallCounts counts;
};

struct CallOfRows {
    CallCounts call;              // all that it launched
    std::vector<RowCounts> rows;  // the first that ran first, those beside the call last
};

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

    // The same, of each row by itself whose kernel is run, too, and of those of run_beside().
    CallOfRows count_rows(bench::Problem &problem, const KernelInfo &row) const;

    // Thread instructions a second that one core of the host executes of such calls, the best of
    // several. `check`: as the setting CHECK; `counts`: memory's traffic is counted. Throws Error
    // where the call launches nothing.
    double rate(bench::Problem &problem, const KernelInfo &row, const char *check,
                bool counts) const;

private:
    const SoftwareCudaControl *control_;

    // Of what was launched since the last clear().
    nlohmann::json counted() const;
};

}  // namespace hk::counts
