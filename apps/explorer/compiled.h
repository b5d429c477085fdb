#pragma once
// A candidate compiled in this process, by its generator and Halide's JIT, as a kernel that the
// library's functions take in the place of a row of the table: FAMILY_with(kernel, …).

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "candidate.h"
#include "compiler/arguments.h"
#include "compiler/resources.h"
#include "schedules/schedule.h"

namespace hk::explorer {

// What a kernel is called with: autoschedulers schedule for these sizes.
struct CallArguments {
    struct Argument {
        std::vector<int64_t> mins, extents;  // of a buffer; empty: a scalar, or of no dimension
        std::vector<unsigned char> scalar;   // its bytes
    };
    std::vector<Argument> arguments;  // in the order of the kernel's, without the user's context
    int threads = 1;
};

class Compiled {
public:
    // Throws std::runtime_error with Halide's message. `sizes`: for autoschedulers.
    explicit Compiled(const Candidate &candidate, const CallArguments &sizes = {});
    ~Compiled();
    Compiled(const Compiled &) = delete;
    Compiled &operator=(const Compiled &) = delete;

    // Alive as long as this is.
    const KernelInfo &kernel() const;
    const std::vector<compiler::Resources> &resources() const;  // of each GPU kernel
    double seconds() const;                                     // that it took

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The knobs that the candidate's schedule takes, with the values that it would have, and what it
// says of itself. Throws std::runtime_error where they are not legal. Nothing is compiled.
schedules::KnobSpace knob_space(const Candidate &candidate);
// All of its knobs: those that it names, and what the chooser has for the others.
std::vector<std::pair<std::string, int>> knob_values(const Candidate &candidate);

// An archive with the candidate as a function of that name and its argv entry, as the library's
// kernels are: of several targets, separated by commas, the first that the machine can do runs.
// Throws std::runtime_error with Halide's message.
struct Archive {
    std::vector<compiler::Resources> kernels;  // of a GPU
    std::vector<compiler::FunctionArgument> arguments;
};
Archive compile_archive(const Candidate &candidate, const CallArguments &sizes,
                        const std::string &targets, const std::string &name,
                        const std::filesystem::path &archive);

// Throws Failure "over budget", naming figure and budget, of a GPU's candidate that no row may be,
// one with a stack frame, spills or a number of shared bytes that is not a constant, or that does
// not fit the device. An autoscheduler's, which is no row's, has to fit alone.
void check_budget(const Candidate &candidate, const std::vector<compiler::Resources> &kernels,
                  const DeviceLimits &limits);

// "shared:22784,registers:64", as kernels.cmake has it: the most of the candidate on its device and
// on CUDA, whose registers alone are known, rounded up to a multiple of 8. Empty for the CPU's, and
// where ptxas is not there.
std::string budget_of(const Candidate &candidate);

// The largest figures of a candidate's GPU kernels.
KernelResources resources_of(const std::vector<compiler::Resources> &kernels);

// A kernel that has a row's conditions, and computes nothing: what it is called with. One call of
// `run` with the kernel as its argument has to follow.
CallArguments arguments_of(const KernelInfo &row,
                           const std::function<void(const KernelInfo &)> &run);

}  // namespace hk::explorer
