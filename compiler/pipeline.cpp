#include "compiler/pipeline.h"

#include <map>
#include <set>
#include <sstream>

#include "compiler/command_line.h"
#include "compiler/compact_checks.h"
#include "compiler/device_code.h"
#include "compiler/in_place.h"
#include "compiler/instruction_calls.h"
#include "compiler/setup.h"

using namespace Halide;
using Internal::AbstractGenerator;
using Internal::ArgInfoDirection;

namespace hk::compiler {

namespace {

std::vector<Argument> inputs_of(AbstractGenerator &generator) {
    std::vector<Argument> inputs;
    for (const AbstractGenerator::ArgInfo &info : generator.arginfos()) {
        if (info.dir != ArgInfoDirection::Input) continue;
        for (const Parameter &p : generator.input_parameter(info.name))
            inputs.emplace_back(p.name(),
                                p.is_buffer() ? Argument::InputBuffer : Argument::InputScalar,
                                p.type(), p.dimensions(), p.get_argument_estimates());
    }
    return inputs;
}

// As the generator names them.
std::vector<std::string> names_in_place(const AbstractGenerator &generator) {
    const auto *says = dynamic_cast<const InPlace *>(&generator);
    return says ? says->inputs_in_place() : std::vector<std::string>();
}

// What is promised of an argument: Halide's bytes have its name alone.
void write_constraints(std::ostream &text, const Parameter &p) {
    text << p.name() << " " << p.type() << " " << p.dimensions() << "\n";
    if (!p.is_buffer()) {
        text << p.min_value() << " " << p.max_value() << " " << p.estimate() << "\n";
        return;
    }
    text << p.host_alignment() << "\n";
    for (int d = 0; d < p.dimensions(); d++)
        text << p.min_constraint(d) << " " << p.extent_constraint(d) << " "
             << p.stride_constraint(d) << " " << p.min_constraint_estimate(d) << " "
             << p.extent_constraint_estimate(d) << "\n";
}

}  // namespace

Built::Built(const std::string &name, const GeneratorParamsMap &parameters, const Target &target)
    : generator(Internal::GeneratorRegistry::create(name, GeneratorContext(target))) {
    try {
        generator->set_generatorparam_values(parameters);
    } catch (const Error &error) {
        throw UsageError(error.what());
    }
    pipeline = generator->build_pipeline();
}

Module Built::module(const std::string &function, const Target &target) const {
    set_llvm_options(target);
    Pipeline lowered = pipeline;
    const Module module = compact_checks(lowered.compile_to_module(
        inputs_of(*generator), function, target, LinkageType::ExternalPlusArgv));
    std::set<std::string> in_place;
    for (const std::string &name : names_in_place(*generator))
        for (const Parameter &p : generator->input_parameter(name)) in_place.insert(p.name());
    const auto parameters = parameters_in_place(module, in_place);
    return replace_device_code(module, [&](DeviceCode kind, const std::string &text) {
        if (kind != DeviceCode::ptx) return text;
        return without_read_only_loads(make_instructions(text.c_str()), parameters) + '\0';
    });
}

std::string Built::serialized() const {
    std::ostringstream text;
    for (const Argument &argument : inputs_of(*generator))
        text << argument.name << " " << argument.kind << " " << argument.type << " "
             << int(argument.dimensions) << "\n";
    for (const std::string &name : names_in_place(*generator)) text << name << " in place\n";
    return text.str() + compiler::serialized(pipeline);
}

std::string serialized(const Pipeline &pipeline) {
    std::vector<uint8_t> bytes;
    std::map<std::string, Parameter> inputs;
    serialize_pipeline(pipeline, bytes, inputs);
    std::ostringstream text;
    for (const auto &[name, input] : inputs) write_constraints(text, input);
    for (const Func &output : pipeline.outputs())
        for (const OutputImageParam &buffer : output.output_buffers())
            write_constraints(text, buffer.parameter());
    return text.str() + std::string(bytes.begin(), bytes.end());
}

}  // namespace hk::compiler
