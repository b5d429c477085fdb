#pragma once
// Finishes CUDA code when it is built: in place of PTX text a module carries a fatbin of cubins and
// the PTX for chips to come. The driver's call that loads a module takes either. Users pay no
// compilation at the first call, and Halide's cap of 64 registers for compiled PTX is gone.
//
// OpenCL code stays text. Both are packed (pack.h) where the runtime that they are for unpacks
// them.

#include <string>

#include "Halide.h"
#include "compiler/resources.h"

namespace hk::compiler {

// Paths of NVIDIA's ptxas and fatbinary; empty: not there.
struct CudaTools {
    std::string ptxas, fatbinary;

    static CudaTools find();  // HK_PTXAS and HK_FATBINARY, else on PATH
    bool complete() const { return !ptxas.empty() && !fatbinary.empty(); }
};

// Returns the module with its device code replaced, and adds ptxas' figures to `kernels`. Without
// the tools it warns on stderr and leaves the PTX. `pack`: for a runtime that unpacks. Intermediate
// files go to `folder`. A budget of registers is what ptxas may use: it spills what it cannot
// place.
Halide::Module embed_device_code(const Halide::Module &module, const CudaTools &tools, bool pack,
                                 const std::string &folder, const Budget &budget,
                                 std::vector<Resources> &kernels);

}  // namespace hk::compiler
