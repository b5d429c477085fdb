#include "software_cuda/machine/interpreter_prelude.h"

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define SOFTWARE_CUDA_INSTRUCTION_SET avx2
#define SOFTWARE_CUDA_VECTOR 8
#include "software_cuda/machine/interpreter.h"
#pragma GCC pop_options

namespace software_cuda {

const Interpreter &avx2_interpreter() { return avx2::kInterpreter; }

}  // namespace software_cuda
