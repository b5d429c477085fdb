#include "compiler/command_line.h"

#include <algorithm>
#include <charconv>
#include <sstream>

using namespace Halide;

namespace hk::compiler {

namespace {

std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    return parts;
}

std::string join(const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

// Kinds of output that need nothing but the module; the others of Halide describe a generator.
const std::pair<const char *, OutputFileType> kinds[] = {
    {"static_library", OutputFileType::static_library},
    {"object", OutputFileType::object},
    {"c_header", OutputFileType::c_header},
    {"stmt", OutputFileType::stmt},
    {"conceptual_stmt", OutputFileType::conceptual_stmt},
    {"stmt_html", OutputFileType::stmt_html},
    {"conceptual_stmt_html", OutputFileType::conceptual_stmt_html},
    {"assembly", OutputFileType::assembly},
    {"llvm_assembly", OutputFileType::llvm_assembly},
    {"device_code", OutputFileType::device_code},
};

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const auto &[name, kind] : kinds) names.push_back(name);
    names.push_back("resources");
    return names;
}

void parse_outputs(const std::string &text, CommandLine &line) {
    for (const std::string &name : split(text)) {
        const auto kind = std::find_if(std::begin(kinds), std::end(kinds),
                                       [&](auto &k) { return k.first == name; });
        if (kind != std::end(kinds))
            line.outputs.push_back(kind->second);
        else if (name == "resources")
            line.resources = true;
        else
            throw UsageError("-e: unknown output " + name + "; known: " + join(kind_names()));
    }
}

void parse_allowances(const std::string &text, Budget &budget) {
    for (const std::string &name : split(text)) {
        if (name == "stack")
            budget.allow_stack = true;
        else if (name == "spills")
            budget.allow_spills = true;
        else if (name == "dynamic_shared")
            budget.allow_dynamic_shared = true;
        else
            throw UsageError("--allow: unknown fault " + name +
                             "; known: stack, spills, dynamic_shared");
    }
}

void parse_budget(const std::string &text, Budget &budget) {
    const auto fail = [](const std::string &part) {
        throw UsageError("--budget: \"" + part + "\" is not shared:BYTES or registers:NUMBER");
    };
    if (text.empty()) fail(text);
    for (const std::string &part : split(text)) {
        const size_t colon = std::min(part.find(':'), part.size());
        const std::string name = part.substr(0, colon);
        int *figure = name == "shared"      ? &budget.shared_bytes
                      : name == "registers" ? &budget.registers
                                            : nullptr;
        const char *first = part.data() + std::min(colon + 1, part.size());
        const char *last = part.data() + part.size();
        int value = 0;
        const auto [end, error] = std::from_chars(first, last, value);
        if (!figure || first == last || error != std::errc() || end != last || value < 0)
            fail(part);
        *figure = value;
    }
}

void parse_targets(const std::string &text, CommandLine &line) {
    line.targets = split(text);
    for (const std::string &target : line.targets)
        if (!Target::validate_target_string(target))
            throw UsageError("target: " + target +
                             " is not a Halide target such as host-cuda-cuda_capability_80");
}

void complete(CommandLine &line) {
    const std::vector<std::string> known = Internal::GeneratorRegistry::enumerate();
    if (line.generator.empty() && known.size() == 1) line.generator = known[0];
    if (line.generator.empty()) throw UsageError("-g is missing; generators: " + join(known));
    if (std::find(known.begin(), known.end(), line.generator) == known.end())
        throw UsageError("-g: unknown generator " + line.generator + "; known: " + join(known));
    if (line.folder.empty()) throw UsageError("-o is missing: the folder of the outputs");
    if (line.targets.empty()) throw UsageError("target=… is missing, such as target=host");
    if (line.function.empty()) line.function = line.generator;
    if (line.base.empty()) line.base = line.function.substr(line.function.rfind(':') + 1);
    if (line.outputs.empty() && !line.resources)
        line.outputs = {OutputFileType::static_library, OutputFileType::c_header};
}

}  // namespace

CommandLine CommandLine::parse(const std::vector<std::string> &arguments) {
    CommandLine line;
    for (size_t i = 0; i < arguments.size(); i++) {
        const std::string &argument = arguments[i];
        const auto value = [&]() -> const std::string & {
            if (i + 1 == arguments.size()) throw UsageError(argument + " needs a value");
            return arguments[++i];
        };
        const size_t equals = argument.find('=');
        if (argument == "-h" || argument == "--help")
            line.help = true;
        else if (argument == "--cache-statistics")
            line.cache_statistics = true;
        else if (argument == "-r")
            line.runtime = value();
        else if (argument == "-g")
            line.generator = value();
        else if (argument == "-f")
            line.function = value();
        else if (argument == "-o")
            line.folder = value();
        else if (argument == "-n")
            line.base = value();
        else if (argument == "-e")
            parse_outputs(value(), line);
        else if (argument == "--pack")
            line.pack = true;
        else if (argument.rfind("--budget=", 0) == 0)
            parse_budget(argument.substr(equals + 1), line.budget);
        else if (argument.rfind("--allow=", 0) == 0)
            parse_allowances(argument.substr(equals + 1), line.budget);
        else if (argument[0] == '-' || equals == std::string::npos || equals == 0)
            throw UsageError("unknown argument " + argument + "; --help shows the known ones");
        else if (argument.substr(0, equals) == "target")
            parse_targets(argument.substr(equals + 1), line);
        else
            line.parameters[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
    if (!line.help && !line.cache_statistics && line.runtime.empty()) complete(line);
    return line;
}

void CommandLine::add_to(CacheKey &key, bool names) const {
    key.add("generator", generator);
    if (names) {
        key.add("function", function);
        key.add("base", base);
    }
    for (const OutputFileType kind : outputs)
        key.add("output", std::to_string(static_cast<int>(kind)));
    key.add("resources", std::to_string(resources));
    key.add("pack", std::to_string(pack));
    for (const int figure : {budget.shared_bytes, budget.registers, int(budget.allow_stack),
                             int(budget.allow_spills), int(budget.allow_dynamic_shared)})
        key.add("budget", std::to_string(figure));
}

std::string usage(const std::string &program) {
    return "usage: " + program +
           " -g GENERATOR -f FUNCTION -o FOLDER [-n BASE] [-e OUTPUT,…] [--pack]\n"
           "           [--budget=shared:BYTES,registers:NUMBER] [--allow=FAULT,…]\n"
           "           target=TARGET[,TARGET…] [PARAMETER=VALUE …]\n"
           "       " +
           program +
           " -r NAME -o FOLDER [-e static_library,object] target=TARGET    (the Halide runtime)\n"
           "       " +
           program +
           " --cache-statistics\n"
           "\n"
           "outputs: " +
           join(kind_names()) +
           "\n"
           "  default static_library,c_header; resources: registers, stack, spills, shared bytes "
           "and\n"
           "  threads of every GPU kernel, as JSON\n"
           "budget: the most shared bytes a block and registers a thread that a GPU kernel may "
           "use;\n"
           "  registers are known of CUDA only\n"
           "faults: stack, spills, dynamic_shared: what a GPU kernel must not have unless "
           "allowed\n"
           "pack: OpenCL programs take a third of the bytes; only this project's runtime reads "
           "them\n"
           "environment: HK_PTXAS, HK_FATBINARY: NVIDIA's tools, else those on PATH\n"
           "  HK_CACHE_DIR: what was compiled before is taken from there (default: halide-kernels "
           "in "
           "the\n"
           "  user's cache directory); HK_CACHE=off: compiles always; HK_CACHE_SIZE=4G: the most "
           "it "
           "takes\n"
           "generators: " +
           join(Internal::GeneratorRegistry::enumerate()) + "\n";
}

}  // namespace hk::compiler
