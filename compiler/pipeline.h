#pragma once
// A generator in two steps, where AbstractGenerator::build_module takes one: between them the
// pipeline can be looked at, or scheduled otherwise.

#include <memory>
#include <string>

#include "Halide.h"

namespace hk::compiler {

// A generator that has built its pipeline.
struct Built {
    std::unique_ptr<Halide::Internal::AbstractGenerator> generator;
    Halide::Pipeline pipeline;

    Built(const std::string &name, const Halide::GeneratorParamsMap &parameters,
          const Halide::Target &target);

    Halide::Module module(const std::string &function, const Halide::Target &target) const;

    // All that decides the module but its name and target, and the compiler's own passes: the
    // pipeline with its schedule, and the arguments.
    std::string serialized() const;
};

// A pipeline, its schedule, and what is promised of its inputs and outputs.
std::string serialized(const Halide::Pipeline &pipeline);

}  // namespace hk::compiler
