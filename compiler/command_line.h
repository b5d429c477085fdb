#pragma once
// The command line of a generator executable: Halide's, plus the output `resources`, --budget,
// --allow, --pack and --cache-statistics. Parsed here, not by CLI11: parameters are name=value without
// dashes, and a build of the libraries alone does without the programs' packages.

#include <stdexcept>
#include <string>
#include <vector>

#include "Halide.h"
#include "compiler/cache.h"
#include "compiler/resources.h"

namespace hk::compiler {

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct CommandLine {
    bool help = false;
    bool cache_statistics = false;
    std::string runtime;  // -r: compile the Halide runtime under this name instead of a generator

    std::string generator, function, folder, base;
    std::vector<std::string> targets;
    Halide::GeneratorParamsMap parameters;
    std::vector<Halide::OutputFileType> outputs;
    bool resources = false;
    bool pack = false;  // device code, for runtimes that unpack it
    Budget budget;

    // What of it decides the outputs, but for the parameters and targets, of which the pipeline is
    // made.
    void add_to(CacheKey &key, bool names = true) const;  // or all but what it is called

    // Throws UsageError for what it doesn't know, naming what it does.
    static CommandLine parse(const std::vector<std::string> &arguments);
};

std::string usage(const std::string &program);

}  // namespace hk::compiler
