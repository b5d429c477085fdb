#pragma once
// What the model of gpu.h says of the cases of a list: how far each is from what its operations and
// its tensors' bytes alone take.

#include <string>
#include <vector>

#include "choice.h"
#include "gpu.h"
#include "software_device.h"

namespace hk::counts {

struct ListChoice {
    bench::Choice choice;
    std::string list;
    int64_t batch = 0;  // 0: the list's own
    bool allow_tf32 = false;
    std::string gpu = "H100 SXM";
};

// A case, all kernels of its call together.
struct ModelledCase {
    std::string name, row;
    int64_t count = 1;      // how often the network has it
    double seconds = 0;     // by the model: the largest bound of each kernel, added up
    std::string bound_by;   // of the kernel that takes longest
    double filled = 1;      // its
    double least = 0;       // the larger one of the two below
    double operations = 0;  // its multiply-adds at the rate of the unit that the row uses
    double memory = 0;      // each tensor once
    double share() const { return seconds > 0 ? least / seconds : 1; }
};

// Throws InvalidArgument for what there is none of.
std::vector<ModelledCase> model_of(const SoftwareDevice &device, const ListChoice &choice);

// A line for each case, and of all together, as often as the network has them.
void print(const std::vector<ModelledCase> &cases);

}  // namespace hk::counts
