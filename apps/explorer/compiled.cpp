#include "compiled.h"

#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "Halide.h"
#include "HalideRuntime.h"
#include "compiler/embed_device_code.h"
#include "compiler/resources.h"
#include "compiler/tools.h"
#include "metadata.h"
#include "worker.h"

namespace hk::explorer {

namespace {

using Halide::Internal::AbstractGenerator;
using Generator = std::unique_ptr<AbstractGenerator>;

Halide::Target target_of(const Candidate &candidate) { return Halide::Target(candidate.target()); }

Generator generator_of(const Candidate &candidate, const Halide::Target &target) {
    Generator generator = Halide::Internal::GeneratorRegistry::create(
        candidate.family, Halide::GeneratorContext(target));
    for (const auto &[name, value] : candidate.parameters())
        generator->set_generatorparam_value(name, value);
    return generator;
}

// Halide's errors are no std::exception.
template<typename Work>
auto with_errors(const Work &work) {
    try {
        return work();
    } catch (const Halide::Error &error) {
        std::string message = error.what();
        while (!message.empty() && message.back() == '\n') message.pop_back();
        throw std::runtime_error(message);
    }
}

Halide::Expr scalar_of(const CallArguments::Argument &argument, Halide::Type type) {
    const auto as = [&]<typename T>(T value) {
        std::memcpy(&value, argument.scalar.data(), std::min(sizeof value, argument.scalar.size()));
        return Halide::Internal::make_const(type, value);
    };
    if (type == Halide::Float(32)) return as(float());
    if (type == Halide::Float(64)) return as(double());
    if (type.bits() <= 8) return as(int8_t());
    return type.bits() == 64 ? as(int64_t()) : as(int32_t());
}

void estimate(Halide::Parameter &parameter, const CallArguments::Argument &argument) {
    if (!parameter.is_buffer()) {
        parameter.set_estimate(scalar_of(argument, parameter.type()));
        return;
    }
    for (size_t d = 0; d < argument.extents.size(); d++) {
        const int at = static_cast<int>(d);
        parameter.set_min_constraint_estimate(at, static_cast<int>(argument.mins[d]));
        parameter.set_extent_constraint_estimate(at, static_cast<int>(argument.extents[d]));
    }
}

void autoschedule(AbstractGenerator &generator, Halide::Pipeline &pipeline, const std::string &name,
                  const CallArguments &sizes) {
    auto argument = sizes.arguments.begin();
    for (const auto &info : generator.arginfos()) {
        if (argument == sizes.arguments.end()) throw std::runtime_error("no sizes for " + name);
        if (info.dir == Halide::Internal::ArgInfoDirection::Input) {
            for (Halide::Parameter parameter : generator.input_parameter(info.name))
                estimate(parameter, *argument++);
            continue;
        }
        Halide::Region region;
        for (size_t d = 0; d < argument->extents.size(); d++)
            region.emplace_back(static_cast<int>(argument->mins[d]),
                                static_cast<int>(argument->extents[d]));
        for (Halide::Func output : generator.output_func(info.name)) output.set_estimates(region);
        ++argument;
    }
    std::string file = name;
    std::transform(file.begin(), file.end(), file.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    Halide::load_plugin(HK_AUTOSCHEDULERS "/libautoschedule_" + file + ".so");
    // Of a GPU, multiprocessors: an H100's.
    const bool is_gpu = generator.context().target().has_gpu_feature();
    Halide::AutoschedulerParams params(
        name, {{"parallelism", std::to_string(is_gpu ? 132 : sizes.threads)}});
    // Beams of the default width take minutes, and more memory than machines have, for a
    // convolution.
    if (name == "Adams2019" || name == "Anderson2021") params.extra["beam_size"] = "4";
    pipeline.apply_autoscheduler(generator.context().target(), params);
}

// As AbstractGenerator::build_module, with an autoscheduler for the sizes of one call.
Halide::Module module_of(AbstractGenerator &generator, const Candidate &candidate,
                         const CallArguments &sizes, const std::string &name) {
    Halide::Pipeline pipeline = generator.build_pipeline();
    if (is_autoscheduler(candidate.schedule))
        autoschedule(generator, pipeline, candidate.schedule, sizes);
    std::vector<Halide::Argument> inputs;
    for (const auto &info : generator.arginfos()) {
        if (info.dir != Halide::Internal::ArgInfoDirection::Input) continue;
        for (const Halide::Parameter &p : generator.input_parameter(info.name))
            inputs.emplace_back(
                p.name(),
                p.is_buffer() ? Halide::Argument::InputBuffer : Halide::Argument::InputScalar,
                p.type(), p.dimensions(), p.get_argument_estimates());
    }
    return pipeline.compile_to_module(inputs, name, generator.context().target(),
                                      Halide::LinkageType::ExternalPlusMetadata);
}

// Halide's JIT brings a runtime of its own, with threads, memory and devices of its own, which
// takes our user context for one of its own. This one, that of the library, goes before it.
Halide::Internal::JITModule library_runtime(const Halide::Target &target) {
    Halide::Internal::JITModule ours;
    for (const auto &theirs : Halide::Internal::JITSharedRuntime::get(nullptr, target)) {
        for (const auto &[name, symbol] : theirs.exports()) {
            if (void *address = dlsym(RTLD_DEFAULT, name.c_str()))
                ours.add_symbol_for_export(name, Halide::Internal::JITModule::Symbol(address));
        }
    }
    return ours;
}

// With finished device code, and its GPU kernels.
struct Built {
    Halide::Module module;
    std::vector<compiler::Resources> kernels;
};

Built build(AbstractGenerator &generator, const Candidate &candidate, const CallArguments &sizes,
            const std::string &function, const std::filesystem::path &scratch) {
    Halide::Module module = module_of(generator, candidate, sizes, function);
    if (candidate.device == DeviceType::cpu) return {module, {}};
    std::vector<compiler::Resources> kernels = compiler::launches(module);
    module = compiler::embed_device_code(module, compiler::CudaTools::find(), true,
                                         scratch.string(), kernels);
    return {module, std::move(kernels)};
}

compiler::TemporaryFolder scratch_folder() {
    return {std::filesystem::temp_directory_path(), "hk"};
}

}  // namespace

KernelResources resources_of(const std::vector<compiler::Resources> &kernels) {
    if (kernels.empty()) return {};
    const compiler::Resources r = compiler::largest("candidate", kernels);
    return {r.registers,     r.stack_bytes,    r.spill_bytes,
            r.shared_static, r.shared_dynamic, r.threads};
}

struct Compiled::Impl {
    Candidate candidate;
    std::string name;
    Halide::Internal::JITModule code;
    Metadata metadata;
    std::vector<compiler::Resources> resources;
    KernelInfo kernel;
    double seconds = 0;

    static const halide_filter_metadata_t *current;

    Impl(const Candidate &given, const CallArguments &sizes)
        : candidate(given), name(given.name()) {
        const auto start = std::chrono::steady_clock::now();
        const Generator generator = generator_of(candidate, target_of(candidate));
        const std::string function = "hk_candidate";
        const compiler::TemporaryFolder scratch = scratch_folder();
        auto [module, kernels] = build(*generator, candidate, sizes, function, scratch.path());
        resources = std::move(kernels);
        const Halide::Internal::LoweredFunc &lowered = module.get_function_by_name(function);
        code = Halide::Internal::JITModule(module, lowered, {library_runtime(module.target())});
        metadata = Metadata(lowered, generator->arginfos());
        current = metadata.get();
        kernel = {.name = name.c_str(),
                  .family = candidate.family.c_str(),
                  .row = "candidate",
                  .algorithm = candidate.algorithm.c_str(),
                  .schedule = candidate.schedule.c_str(),
                  .knobs = candidate.knobs.c_str(),
                  .type = candidate.type,
                  .layout = candidate.layout,
                  .device = candidate.device,
                  .where = candidate.where,
                  .resources = resources_of(resources),
                  .call = reinterpret_cast<int (*)(void **)>(code.argv_function()),
                  .metadata = [] { return current; }};
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
};

const halide_filter_metadata_t *Compiled::Impl::current = nullptr;

Compiled::Compiled(const Candidate &candidate, const CallArguments &sizes)
    : impl_(with_errors([&] { return std::make_unique<Impl>(candidate, sizes); })) {}
Compiled::~Compiled() = default;

const KernelInfo &Compiled::kernel() const { return impl_->kernel; }
const std::vector<compiler::Resources> &Compiled::resources() const { return impl_->resources; }
double Compiled::seconds() const { return impl_->seconds; }

schedules::KnobSpace knob_space(const Candidate &candidate) {
    return with_errors([&] {
        const schedules::KnobListener listener;
        generator_of(candidate, target_of(candidate))->build_pipeline();
        return listener.space();
    });
}

std::vector<compiler::Resources> compile_archive(const Candidate &candidate,
                                                 const CallArguments &sizes,
                                                 const std::string &targets,
                                                 const std::string &name,
                                                 const std::filesystem::path &archive) {
    std::vector<std::string> words;
    std::istringstream in(targets);
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    return with_errors([&] {
        std::vector<compiler::Resources> all;
        const std::filesystem::path folder = archive.string() + ".parts";
        std::filesystem::create_directories(folder);
        const auto module_for = [&](const std::string &function, const Halide::Target &target) {
            const Generator generator = generator_of(candidate, target);
            auto [module, kernels] = build(*generator, candidate, sizes, function, folder);
            all.insert(all.end(), kernels.begin(), kernels.end());
            return module;
        };
        Halide::compile_multitarget(name,
                                    {{Halide::OutputFileType::static_library, archive.string()}},
                                    {words.begin(), words.end()}, words, module_for);
        std::filesystem::remove_all(folder);
        return all;
    });
}

void check_budget(const Candidate &candidate, const std::vector<compiler::Resources> &kernels,
                  const DeviceLimits &limits) {
    if (candidate.device == DeviceType::cpu) return;
    if (!is_autoscheduler(candidate.schedule)) {
        try {
            compiler::check(candidate.schedule, kernels, {});
        } catch (const Halide::CompileError &error) {
            const std::string message = error.what();
            throw Failure("over budget", message.substr(0, message.find(" (--allow")));
        }
    }
    const KernelInfo kernel{.name = "",
                            .family = "",
                            .row = "",
                            .algorithm = "",
                            .schedule = "",
                            .knobs = "",
                            .type = candidate.type,
                            .layout = candidate.layout,
                            .device = candidate.device,
                            .where = {},
                            .resources = resources_of(kernels),
                            .call = nullptr,
                            .metadata = nullptr};
    const Selection selection = select(
        {&kernel, 1}, kernel.type, kernel.layout, kernel.device, limits,
        [](std::string_view) { return 0; }, true);
    if (!selection.kernel) throw Failure("over budget", selection.rejected[0].reason);
}

std::string budget_of(const Candidate &candidate) {
    if (candidate.device == DeviceType::cpu) return "";
    int shared = 0, registers = 0;
    for (const DeviceType device : std::set{candidate.device, DeviceType::cuda}) {
        Candidate twin = candidate;
        twin.device = device;
        const auto kernels = with_errors([&] {
            const compiler::TemporaryFolder scratch = scratch_folder();
            const Generator generator = generator_of(twin, target_of(twin));
            return build(*generator, twin, {}, "hk_candidate", scratch.path()).kernels;
        });
        const KernelResources used = resources_of(kernels);
        shared = std::max(shared, used.shared_bytes());
        registers = std::max(registers, used.registers);
    }
    if (registers <= 0) return "";
    return "shared:" + std::to_string(shared) +
           ",registers:" + std::to_string((registers + 7) / 8 * 8);
}

namespace {

CallArguments *heard = nullptr;
const KernelInfo *heard_row = nullptr;

int hear(void **arguments) {
    const halide_filter_metadata_t &metadata = *heard_row->metadata();
    heard->arguments.clear();
    for (int i = 0; i < metadata.num_arguments; i++) {
        const halide_filter_argument_t &told = metadata.arguments[i];
        if (std::string_view(told.name) == "__user_context") continue;
        CallArguments::Argument argument;
        if (told.kind == halide_argument_kind_input_scalar) {
            const auto *bytes = static_cast<const unsigned char *>(arguments[i]);
            argument.scalar.assign(bytes, bytes + (told.type.bits + 7) / 8);
        } else {
            const auto &buffer = *static_cast<const halide_buffer_t *>(arguments[i]);
            for (int d = 0; d < buffer.dimensions; d++) {
                argument.mins.push_back(buffer.dim[d].min);
                argument.extents.push_back(buffer.dim[d].extent);
            }
        }
        heard->arguments.push_back(std::move(argument));
    }
    return 0;
}

}  // namespace

CallArguments arguments_of(const KernelInfo &row,
                           const std::function<void(const KernelInfo &)> &run) {
    CallArguments result;
    heard = &result;
    heard_row = &row;
    KernelInfo listener = row;
    listener.call = hear;
    run(listener);
    heard = nullptr;
    if (result.arguments.empty()) throw std::runtime_error("the case runs no kernel");
    return result;
}

}  // namespace hk::explorer
