#include "compiler/arguments.h"

using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// Halide makes names unique, and those of outputs its own.
std::vector<std::string> names_of(AbstractGenerator &generator) {
    std::vector<std::string> names;
    for (const ArgInfoDirection direction : {ArgInfoDirection::Input, ArgInfoDirection::Output}) {
        for (const AbstractGenerator::ArgInfo &info : generator.arginfos()) {
            if (info.dir != direction) continue;
            size_t count = 0;
            if (direction == ArgInfoDirection::Input) {
                count = generator.input_parameter(info.name).size();
            } else {
                for (const Halide::Func &output : generator.output_func(info.name))
                    count += static_cast<size_t>(output.outputs());
            }
            for (size_t i = 0; i < count; i++)
                names.push_back(count > 1 ? info.name + "_" + std::to_string(i) : info.name);
        }
    }
    return names;
}

std::vector<int64_t> extents_of(const LoweredArgument &argument) {
    std::vector<int64_t> extents(argument.dimensions, 0);
    const Halide::Region &estimates = argument.argument_estimates.buffer_estimates;
    for (size_t d = 0; d < estimates.size(); d++) {
        if (!estimates[d].extent.defined()) continue;
        if (const auto known = as_const_int(estimates[d].extent)) extents[d] = *known;
    }
    return extents;
}

}  // namespace

std::vector<FunctionArgument> arguments_of(AbstractGenerator &generator,
                                           const Halide::Module &module,
                                           const std::string &function) {
    const std::vector<LoweredArgument> taken = module.get_function_by_name(function).args;
    std::vector<std::string> names = names_of(generator);
    // What the generator does not know of comes first: the user's context.
    while (names.size() < taken.size())
        names.insert(names.begin(), taken[taken.size() - names.size() - 1].name);
    std::vector<FunctionArgument> arguments;
    for (size_t i = 0; i < taken.size(); i++) {
        const bool buffer = taken[i].is_buffer();
        arguments.push_back({names[i], buffer ? 0 : taken[i].type.bytes(),
                             buffer ? extents_of(taken[i]) : std::vector<int64_t>()});
    }
    return arguments;
}

}  // namespace hk::compiler
