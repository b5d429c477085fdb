#include "compiler/module_like.h"

using namespace Halide;

namespace hk::compiler {

Module module_like(const Module &module) {
    Module result(module.name(), module.target(), module.get_metadata_name_map());
    result.set_any_strict_float(module.any_strict_float());
    for (const Module &other : module.submodules()) result.append(other);
    // What readers see of the pipeline before it is lowered.
    if (module.get_conceptual_stmt().defined())
        result.set_conceptual_code_stmt(module.get_conceptual_stmt());
    if (const AutoSchedulerResults *scheduled = module.get_auto_scheduler_results())
        result.set_auto_scheduler_results(*scheduled);
    return result;
}

}  // namespace hk::compiler
