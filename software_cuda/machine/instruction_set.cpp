// The interpreters that the host can run.
#include "software_cuda/machine/block_state.h"

namespace software_cuda {

bool host_has(InstructionSet set) {
    switch (set) {
        case InstructionSet::kAvx512:
            return __builtin_cpu_supports("x86-64-v4");
        case InstructionSet::kAvx2:
            return __builtin_cpu_supports("x86-64-v3");
        default:
            return true;
    }
}

const Interpreter &interpreter_of(InstructionSet set) {
    static const InstructionSet widest = host_has(InstructionSet::kAvx512) ? InstructionSet::kAvx512
                                         : host_has(InstructionSet::kAvx2)
                                             ? InstructionSet::kAvx2
                                             : InstructionSet::kBaseline;
    switch (set == InstructionSet::kWidest ? widest : set) {
        case InstructionSet::kAvx512:
            return avx512_interpreter();
        case InstructionSet::kAvx2:
            return avx2_interpreter();
        default:
            return baseline_interpreter();
    }
}

}  // namespace software_cuda
