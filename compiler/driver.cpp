// The main() of a generator executable: Halide's command line; what comes out is finished CUDA code
// within its budget, and a report of its resources.

#include <cctype>
#include <filesystem>
#include <iostream>
#include <map>

#include "Halide.h"
#include "compiler/command_line.h"
#include "compiler/embed_device_code.h"
#include "compiler/setup.h"
#include "compiler/tools.h"

using namespace Halide;
namespace fs = std::filesystem;

namespace hk::compiler {

namespace {

std::string replace_all(std::string text, const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

class Compilation {
public:
    explicit Compilation(const CommandLine &line)
        : line_(line),
          tools_(CudaTools::find()),
          scratch_(line.folder, line.base),
          results_(line.folder, line.base) {}

    // All outputs appear, each at once, or none does.
    void run() {
        std::map<OutputFileType, std::string> readable, finished;
        const auto known = Internal::get_output_info(Target(line_.targets[0]));
        for (const OutputFileType kind : line_.outputs) {
            const std::string path =
                (results_.path() / line_.base).string() + known.at(kind).extension;
            (for_readers(kind) ? readable : finished)[kind] = path;
        }
        const std::vector<Target> targets(line_.targets.begin(), line_.targets.end());
        if (!readable.empty())
            compile_multitarget(line_.function, readable, targets, line_.targets,
                                [&](const std::string &name, const Target &target) {
                                    return lowered(name, target);
                                });
        if (!finished.empty())
            compile_multitarget(line_.function, finished, targets, line_.targets,
                                [&](const std::string &name, const Target &target) {
                                    return embedded(name, target);
                                });
        else if (line_.resources)
            for (const Target &target : targets) embedded(line_.function, target);
        if (line_.resources)
            write_file(results_.path() / (line_.base + ".json"), to_json(line_.function, kernels_));
        if (fs::exists(results_.path() / (line_.base + ".h")))
            name_guard(results_.path() / (line_.base + ".h"));
        for (const auto &file : fs::directory_iterator(results_.path()))
            fs::rename(file.path(), fs::path(line_.folder) / file.path().filename());
    }

private:
    const CommandLine &line_;
    const CudaTools tools_;
    const TemporaryFolder scratch_, results_;
    std::map<std::string, Module> modules_;
    std::vector<Resources> kernels_;

    // These show the device code, which has to be text.
    static bool for_readers(OutputFileType kind) {
        return kind == OutputFileType::stmt || kind == OutputFileType::conceptual_stmt ||
               kind == OutputFileType::stmt_html || kind == OutputFileType::conceptual_stmt_html ||
               kind == OutputFileType::device_code;
    }

    // Halide makes the include guard of the path, which is a temporary one here.
    void name_guard(const fs::path &header) const {
        const std::string text = read_file(header);
        const size_t start = text.find("#ifndef ") + 8, end = text.find('\n', start);
        std::string name;
        for (const char c : line_.base)
            name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
        write_file(header,
                   replace_all(text, text.substr(start, end - start), "HALIDE_" + name + "_h"));
    }

    Module lowered(const std::string &name, const Target &target) {
        const std::string key = name + " " + target.to_string();
        auto found = modules_.find(key);
        if (found == modules_.end()) {
            const auto generator =
                Internal::GeneratorRegistry::create(line_.generator, GeneratorContext(target));
            generator->set_generatorparam_values(line_.parameters);
            found = modules_.emplace(key, generator->build_module(name)).first;
        }
        return found->second;
    }

    Module embedded(const std::string &name, const Target &target) {
        const Module module = lowered(name, target);
        std::vector<Resources> kernels = launches(module);
        const Module result =
            embed_device_code(module, tools_, line_.pack, scratch_.path().string(), kernels);
        check(line_.function, kernels, line_.budget);
        kernels_.insert(kernels_.end(), kernels.begin(), kernels.end());
        return result;
    }
};

int run(int argc, char **argv) {
    const CommandLine line = CommandLine::parse({argv + 1, argv + argc});
    if (line.help) {
        std::cout << usage(fs::path(argv[0]).filename().string());
        return 0;
    }
    if (!line.folder.empty()) fs::create_directories(line.folder);
    if (!line.runtime.empty()) return Internal::generate_filter_main(argc, argv);
    Compilation(line).run();
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
