#include "software_cuda/machine/interpreter_prelude.h"

#define SOFTWARE_CUDA_INSTRUCTION_SET baseline
#define SOFTWARE_CUDA_VECTOR 4
#include "software_cuda/machine/interpreter.h"

namespace software_cuda {

const Interpreter &baseline_interpreter() { return baseline::kInterpreter; }

}  // namespace software_cuda
