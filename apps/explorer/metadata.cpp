#include "metadata.h"

namespace hk::explorer {

namespace {

int32_t kind_of(const Halide::Argument &argument) {
    if (argument.is_output()) return halide_argument_kind_output_buffer;
    return argument.is_scalar() ? halide_argument_kind_input_scalar
                                : halide_argument_kind_input_buffer;
}

// Generators' arguments as a function has them: inputs before outputs, an array's one by one.
std::vector<std::string> names_of(
    const std::vector<Halide::Internal::AbstractGenerator::ArgInfo> &arguments) {
    using Halide::Internal::ArgInfoDirection;
    std::vector<std::string> names;
    for (const ArgInfoDirection direction : {ArgInfoDirection::Input, ArgInfoDirection::Output}) {
        for (const auto &argument : arguments)
            if (argument.dir == direction) names.push_back(argument.name);
    }
    return names;
}

}  // namespace

Metadata::Metadata(const Halide::Internal::LoweredFunc &function,
                   const std::vector<Halide::Internal::AbstractGenerator::ArgInfo> &arguments)
    : owner_(std::make_shared<Owner>()) {
    Owner &own = *owner_;
    const std::vector<std::string> names = names_of(arguments);
    // What the generator does not know of comes first: the user's context.
    const size_t before = function.args.size() - std::min(names.size(), function.args.size());
    const auto number = [&](const Halide::Expr &value) -> const int64_t * {
        const auto known = value.defined() ? Halide::Internal::as_const_int(value) : std::nullopt;
        return known ? &own.numbers.emplace_back(*known) : nullptr;
    };
    for (size_t i = 0; i < function.args.size(); i++) {
        const Halide::Internal::LoweredArgument &argument = function.args[i];
        halide_filter_argument_t &told = own.arguments.emplace_back();
        told = {};
        own.names.push_back(i < before ? argument.name : names[i - before]);
        told.name = own.names.back().c_str();
        told.kind = kind_of(argument);
        told.dimensions = argument.dimensions;
        told.type = argument.type;
        if (argument.argument_estimates.buffer_estimates.empty()) continue;
        auto &estimates = own.estimates.emplace_back();
        for (const Halide::Range &range : argument.argument_estimates.buffer_estimates) {
            estimates.push_back(number(range.min));
            estimates.push_back(number(range.extent));
        }
        told.buffer_estimates = estimates.data();
    }
    own.metadata = {halide_filter_metadata_t::VERSION, static_cast<int32_t>(own.arguments.size()),
                    own.arguments.data(), "host", "hk_candidate"};
}

}  // namespace hk::explorer
