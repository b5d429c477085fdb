#include "compiler/compilation.h"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "Halide.h"
#include "compiler/cache.h"
#include "compiler/embed_device_code.h"
#include "compiler/pipeline.h"
#include "compiler/report.h"
#include "compiler/tools.h"
#include "compiler_version.h"

extern char **environ;

using namespace Halide;
namespace fs = std::filesystem;

namespace hk::compiler {

namespace {

std::string replace_all(std::string text, const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

// Halide's environment variables, which change what it makes.
std::vector<std::string> halide_settings() {
    std::vector<std::string> settings;
    for (char **variable = environ; *variable; variable++)
        if (std::string(*variable).rfind("HL_", 0) == 0) settings.emplace_back(*variable);
    std::sort(settings.begin(), settings.end());
    return settings;
}

// Of this process and of the programs that it ran.
double seconds_used() {
    double seconds = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(who, &used);
        for (const timeval &time : {used.ru_utime, used.ru_stime})
            seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
    return seconds;
}

class Compilation {
public:
    explicit Compilation(const CommandLine &line)
        : line_(line),
          tools_(CudaTools::find()),
          scratch_(line.folder, line.base),
          results_(line.folder, line.base) {}

    void run() {
        const Cache cache = Cache::from_environment();
        const std::string key = cache.is_on() ? this->key() : "";
        if (!cache.take(key, results_.path())) {
            compile();
            cache.keep(key, results_.path());
        }
        for (const auto &file : fs::directory_iterator(results_.path()))
            fs::rename(file.path(), fs::path(line_.folder) / file.path().filename());
    }

private:
    const CommandLine &line_;
    const CudaTools tools_;
    const TemporaryFolder scratch_, results_;
    std::map<std::string, Built> built_;
    std::map<std::string, Module> modules_;
    Report report_{line_.function, {}, {}};
    std::string ptxas_;  // the hash of its content, once it was asked for

    void compile() {
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
        if (line_.resources) {
            report_.seconds = seconds_used();
            report_.content = this->key(false);
            write_file(results_.path() / (line_.base + ".json"), to_json(report_));
        }
        if (fs::exists(results_.path() / (line_.base + ".h")))
            name_guard(results_.path() / (line_.base + ".h"));
    }

    // Everything that decides the outputs; or all of it but names.
    std::string key(bool names = true) {
        CacheKey key;
        key.add("compiler", HK_COMPILER_VERSION);
        for (const std::string &target : line_.targets) {
            key.add("target", Target(target).to_string());
            key.add("pipeline", built(Target(target)).serialized());
        }
        if (Target(line_.targets[0]).has_feature(Target::CUDA)) {
            if (ptxas_.empty()) ptxas_ = hash_of_file(tools_.ptxas);
            key.add("ptxas", ptxas_);
            key.add("fatbinary", hash_of_file(tools_.fatbinary));
        }
        for (const std::string &setting : halide_settings()) key.add("environment", setting);
        line_.add_to(key, names);
        return key.text();
    }

    // compile_multitarget asks for modules without a runtime, whose pipelines are the same.
    const Built &built(const Target &target) {
        const std::string name = target.without_feature(Target::NoRuntime).to_string();
        const auto found = built_.find(name);
        if (found != built_.end()) return found->second;
        return built_.emplace(name, Built(line_.generator, line_.parameters, target)).first->second;
    }

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
            const Built &of = built(target);
            found = modules_.emplace(key, of.module(name, target)).first;
            report_.arguments = arguments_of(*of.generator, found->second, name);
        }
        return found->second;
    }

    Module embedded(const std::string &name, const Target &target) {
        const Module module = lowered(name, target);
        std::vector<Resources> kernels = launches(module);
        const Module result =
            embed_device_code(module, tools_, line_.pack, scratch_.path().string(), line_.budget,
                              kernels);
        check(line_.function, kernels, line_.budget);
        report_.kernels.insert(report_.kernels.end(), kernels.begin(), kernels.end());
        return result;
    }
};

}  // namespace

void compile(const CommandLine &line) { Compilation(line).run(); }

}  // namespace hk::compiler
