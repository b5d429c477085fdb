// The main() of a generator executable: Halide's command line, plus the resource report.
#include <fstream>
#include <iostream>
#include <sstream>

#include "Halide.h"

using namespace Halide;

namespace {

std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    return parts;
}

int compile(int argc, char **argv) {
    std::string generator, function, dir = ".", base;
    std::vector<std::string> emit, targets;
    GeneratorParamsMap params;
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        if (arg == "-r") return Internal::generate_filter_main(argc, argv);
        if (arg == "-g") generator = argv[++i];
        else if (arg == "-f") function = argv[++i];
        else if (arg == "-o") dir = argv[++i];
        else if (arg == "-n") base = argv[++i];
        else if (arg == "-e") emit = split(argv[++i]);
        else if (arg.rfind("target=", 0) == 0) targets = split(arg.substr(7));
        else params[arg.substr(0, arg.find('='))] = arg.substr(arg.find('=') + 1);
    }
    if (base.empty()) base = function;
    const auto known = Internal::get_output_info(Target(targets.at(0)));
    std::map<OutputFileType, std::string> outputs;
    for (const auto &e : emit) {
        if (e == "resources") {
            std::ofstream(dir + "/" + base + ".json") << "{\"name\": \"" << function << "\"}\n";
            continue;
        }
        for (const auto &[type, info] : known)
            if (info.name == e) outputs[type] = dir + "/" + base + info.extension;
    }
    std::vector<Target> parsed(targets.begin(), targets.end());
    compile_multitarget(function, outputs, parsed, targets, [&](const std::string &name, const Target &target) {
        auto instance = Internal::GeneratorRegistry::create(generator, GeneratorContext(target));
        instance->set_generatorparam_values(params);
        return instance->build_module(name);
    });
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    try {
        return compile(argc, argv);
    } catch (const Halide::Error &error) {
        std::cerr << argv[0] << ": " << error.what() << "\n";
        return 1;
    } catch (const std::exception &error) {
        std::cerr << argv[0] << ": " << error.what() << "\n";
        return 1;
    }
}
