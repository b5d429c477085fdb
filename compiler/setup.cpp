#include "compiler/setup.h"

#include <cstdlib>
#include <cstring>
#include <iostream>

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
    // LLVM's vectoriser of straight-line code makes vectors of the addresses of unrolled loads, and
    // takes them apart again: an int8 tile of 14 pixels is a sixth slower with it.
    setenv("HL_LLVM_ARGS", "-vectorize-slp=false", 0);
    static Reporter reporter;
    Halide::set_custom_compile_time_error_reporter(&reporter);
}

}  // namespace hk::compiler
