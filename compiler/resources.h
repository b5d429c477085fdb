#pragma once
// What a compiled function takes of a device, kernel by kernel.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

namespace hk::compiler {

// The fields of hk::KernelResources. -1: not known for this target.
struct Resources {
    static constexpr int dynamic = -2;  // not a constant of the compiled code

    using Field = std::pair<const char *, int Resources::*>;
    static std::span<const Field> fields();  // all figures and their names

    // Of a block, static and dynamic; -1: not known.
    int shared_bytes() const;

    std::string name;
    int registers = -1, stack_bytes = -1, spill_bytes = -1, shared_static = -1, shared_dynamic = -1,
        threads = -1;
};

// The GPU kernels that a lowered module launches: their names, threads and dynamic shared bytes.
std::vector<Resources> launches(const Halide::Module &module);

// Adds what `ptxas -v` printed to the kernels of its names; of several chips the largest figure.
void add_ptxas_report(const std::string &report, std::vector<Resources> &kernels);

// Budget that every GPU kernel keeps: no stack frame, no spills and a constant number of shared
// bytes unless allowed, and at most the stated figures; registers are known of CUDA only. Throws
// Halide::CompileError naming function, kernel, figure and budget.
struct Budget {
    static constexpr int not_stated = -1;

    int shared_bytes = not_stated;  // a block, static and dynamic
    int registers = not_stated;     // a thread
    bool allow_stack = false, allow_spills = false, allow_dynamic_shared = false;
};
void check(const std::string &function, const std::vector<Resources> &kernels,
           const Budget &budget);

// The largest figure of each field over all kernels; -1 where one is dynamic.
Resources largest(const std::string &function, const std::vector<Resources> &kernels);

}  // namespace hk::compiler
