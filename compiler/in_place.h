#pragma once
// Inputs whose buffer a call may pass as an output, too.
//
// Halide declares that no buffers of a kernel alias, so that LLVM makes each load of one that the
// kernel does not store to an ld.global.nc. PTX has that for what is only read while the kernel
// runs: where one buffer is input and output, the load must be an ld.global.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "Halide.h"

namespace hk::compiler {

// What a generator says of its inputs.
class InPlace {
public:
    virtual ~InPlace() = default;
    virtual std::vector<std::string> inputs_in_place() const { return {}; }
};

// By kernel, the places of these inputs among its parameters, where it has an output, too.
std::map<std::string, std::set<int>> parameters_in_place(const Halide::Module &module,
                                                         const std::set<std::string> &inputs);

// The PTX without .nc of loads from these parameters.
std::string without_read_only_loads(const std::string &ptx,
                                    const std::map<std::string, std::set<int>> &parameters);

}  // namespace hk::compiler
