#include "software_cuda/machine/interpreter_prelude.h"

#define SOFTWARE_CUDA_INSTRUCTION_SET baseline
#include "software_cuda/machine/interpreter.h"

namespace software_cuda {

const Interpreter &baseline_interpreter() { return baseline::kInterpreter; }

}  // namespace software_cuda
