// The main() of a generator executable: Halide's command line; what comes out is finished CUDA code
// within its budget, and a report of its resources.

#include <filesystem>
#include <iostream>

#include "Halide.h"
#include "compiler/cache.h"
#include "compiler/command_line.h"
#include "compiler/compilation.h"
#include "compiler/setup.h"

namespace fs = std::filesystem;

namespace hk::compiler {

namespace {

int run(int argc, char **argv) {
    const CommandLine line = CommandLine::parse({argv + 1, argv + argc});
    if (line.help) {
        std::cout << usage(fs::path(argv[0]).filename().string());
        return 0;
    }
    if (line.cache_statistics) {
        std::cout << Cache::from_environment().statistics();
        return 0;
    }
    if (!line.folder.empty()) fs::create_directories(line.folder);
    if (!line.runtime.empty()) return Halide::Internal::generate_filter_main(argc, argv);
    compile(line);
    return 0;
}

}  // namespace

}  // namespace hk::compiler

int main(int argc, char **argv) {
    const auto fail = [&](const std::string &message) {
        std::cerr << fs::path(argv[0]).filename().string() << ": " << message
                  << (message.empty() || message.back() != '\n' ? "\n" : "");
        return 1;
    };
    hk::compiler::set_up_halide();
    try {
        return hk::compiler::run(argc, argv);
    } catch (const Halide::Error &error) {
        return fail(error.what());
    } catch (const std::exception &error) {
        return fail(error.what());
    }
}
