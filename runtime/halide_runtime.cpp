// Writes Halide's runtime for a target as one object file: halide_runtime.generator FILE TARGET
// Every kernel of the library shares it, so that there is one device context and one thread pool.

#include <cstdio>
#include <exception>

#include "Halide.h"

int main(int count, char **arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: %s FILE TARGET\n", arguments[0]);
        return 2;
    }
    try {
        Halide::compile_standalone_runtime(arguments[1], Halide::Target(arguments[2]));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", arguments[0], error.what());
        return 1;
    }
    return 0;
}
