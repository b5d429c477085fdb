#include "compiler/setup.h"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "Halide.h"

namespace hk::compiler {

namespace {

// 16-bit floats are storage types here: that their arithmetic is emulated is meant.
class Reporter : public Halide::CompileTimeErrorReporter {
public:
    void warning(const char *message) override {
        if (!std::strstr(message, "float16 type operation is emulated")) std::cerr << message;
    }
    [[noreturn]] void error(const char *message) override { throw Halide::CompileError(message); }
};

}  // namespace

void set_up_halide() {
    static Reporter reporter;
    Halide::set_custom_compile_time_error_reporter(&reporter);
}

void set_llvm_options(const Halide::Target &target) {
    // LLVM's vectoriser of straight-line code makes vectors of the addresses of unrolled loads, and
    // takes them apart again: an int8 tile of 14 pixels is a sixth slower with it.
    std::string options = "-vectorize-slp=false";
    // What a loop leaves behind would be copied in each turn: 15 copies for 16 multiplications of
    // conv2d_backward_weight_1x1, and no registers for 24. PTX is left to ptxas.
    // And constants of what follows a loop would be loaded before it, in place of its sums.
    if (!target.has_gpu_feature())
        options += " -no-phi-elim-live-out-early-exit -sink-insts-to-avoid-spills";
    setenv("HL_LLVM_ARGS", options.c_str(), 0);
}

}  // namespace hk::compiler
