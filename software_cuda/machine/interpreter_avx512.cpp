#include "software_cuda/machine/interpreter_prelude.h"

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#pragma GCC target("prefer-vector-width=512")
#define SOFTWARE_CUDA_INSTRUCTION_SET avx512
#define SOFTWARE_CUDA_VECTOR 16
#include "software_cuda/machine/interpreter.h"
#pragma GCC pop_options

namespace software_cuda {

const Interpreter &avx512_interpreter() { return avx512::kInterpreter; }

}  // namespace software_cuda
