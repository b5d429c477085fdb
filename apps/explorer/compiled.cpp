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
#include "compiler/pipeline.h"
#include "compiler/resources.h"
#include "compiler/tools.h"
#include "row_files.h"
#include "runtime/src/buffer_checks.h"
#include "tables.h"
#include "worker.h"

namespace hk::explorer {

namespace {

using compiler::Built;
using Halide::Internal::AbstractGenerator;

// Throws InvalidArgument for a CPU that has more than this one.
Halide::Target target_of(const Candidate &candidate) {
    const Halide::Target target(candidate.target()), host = Halide::get_host_target();
    using Target = Halide::Target;
    for (const auto feature : {Target::SSE41, Target::AVX, Target::F16C, Target::FMA, Target::AVX2,
                               Target::AVX512, Target::AVX512_Skylake}) {
        if (target.has_feature(feature) && !host.has_feature(feature))
            throw InvalidArgument("this machine cannot run " + candidate.cpu + " code");
    }
    return target;
}

Built built(const Candidate &candidate, const Halide::Target &target) {
    return Built(candidate.family, candidate.parameters(), target);
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

void autoschedule(Built &built, const std::string &name, const CallArguments &sizes) {
    AbstractGenerator &generator = *built.generator;
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
    built.pipeline.apply_autoscheduler(generator.context().target(), params);
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
    const auto add = [&](const char *name, auto *function) {
        ours.add_symbol_for_export(
            name, Halide::Internal::JITModule::Symbol(reinterpret_cast<void *>(function)));
    };
    add("hk_check_buffer", &detail::hk_check_buffer);
    add("hk_check_region", &detail::hk_check_region);
    return ours;
}

// Of a thread, which ptxas keeps to: a row's own budget, where the candidate is one, its knobs
// written out or not; of others two blocks of 256 threads a multiprocessor. What spills is left out.
int registers_for(const Candidate &candidate) {
    for (const KernelInfo &row : table_of(candidate.family).kernels) {
        if (row.device != DeviceType::cuda || row.type != candidate.type ||
            row.layout != candidate.layout)
            continue;
        const Candidate other = Candidate::of(row);
        if (other.base() == candidate.base() && knob_values(other) == knob_values(candidate))
            return registers_of(row);
    }
    return 128;
}

// With finished device code, and its GPU kernels.
struct FinishedModule {
    Halide::Module module;
    std::vector<compiler::FunctionArgument> arguments;
    std::vector<compiler::Resources> kernels;
};

// With an autoscheduler for the sizes of one call where the candidate's schedule is one.
FinishedModule finish(const Candidate &candidate, const Halide::Target &target,
                      const CallArguments &sizes, const std::string &function,
                      const std::filesystem::path &scratch) {
    Built built = explorer::built(candidate, target);
    if (is_autoscheduler(candidate.schedule)) autoschedule(built, candidate.schedule, sizes);
    Halide::Module module = built.module(function, target);
    FinishedModule finished{module, compiler::arguments_of(*built.generator, module, function), {}};
    if (candidate.device == DeviceType::cpu) return finished;
    finished.kernels = compiler::launches(module);
    compiler::Budget budget;
    if (candidate.device == DeviceType::cuda) budget.registers = registers_for(candidate);
    finished.module = compiler::embed_device_code(module, compiler::CudaTools::find(), true,
                                                  scratch.string(), budget, finished.kernels);
    return finished;
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
    std::vector<compiler::FunctionArgument> told;
    std::vector<KernelArgument> arguments;
    std::vector<compiler::Resources> resources;
    KernelInfo kernel;
    double seconds = 0;

    Impl(const Candidate &given, const CallArguments &sizes)
        : candidate(given), name(given.name()) {
        const auto start = std::chrono::steady_clock::now();
        const std::string function = "hk_candidate";
        const compiler::TemporaryFolder scratch = scratch_folder();
        FinishedModule finished =
            finish(candidate, target_of(candidate), sizes, function, scratch.path());
        const Halide::Module &module = finished.module;
        resources = std::move(finished.kernels);
        told = std::move(finished.arguments);
        for (const compiler::FunctionArgument &argument : told)
            arguments.push_back({argument.name.c_str(), argument.bytes, argument.extents});
        code = Halide::Internal::JITModule(module, module.get_function_by_name(function),
                                           {library_runtime(module.target())});
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
                  .arguments = arguments};
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
};

Compiled::Compiled(const Candidate &candidate, const CallArguments &sizes)
    : impl_(with_errors([&] { return std::make_unique<Impl>(candidate, sizes); })) {}
Compiled::~Compiled() = default;

const KernelInfo &Compiled::kernel() const { return impl_->kernel; }
const std::vector<compiler::Resources> &Compiled::resources() const { return impl_->resources; }
double Compiled::seconds() const { return impl_->seconds; }

schedules::KnobSpace knob_space(const Candidate &candidate) {
    return with_errors([&] {
        const schedules::KnobListener listener;
        built(candidate, target_of(candidate));
        return listener.space();
    });
}

std::vector<std::pair<std::string, int>> knob_values(const Candidate &candidate) {
    std::vector<std::pair<std::string, int>> values;
    for (const schedules::Knob &knob : knob_space(candidate).knobs)
        values.emplace_back(knob.name, knob.value);
    return values;
}

Archive compile_archive(const Candidate &candidate, const CallArguments &sizes,
                        const std::string &targets, const std::string &name,
                        const std::filesystem::path &archive) {
    std::vector<std::string> words;
    std::istringstream in(targets);
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    return with_errors([&] {
        Archive made;
        const std::filesystem::path folder = archive.string() + ".parts";
        std::filesystem::create_directories(folder);
        const auto module_for = [&](const std::string &function, const Halide::Target &target) {
            FinishedModule finished = finish(candidate, target, sizes, function, folder);
            made.kernels.insert(made.kernels.end(), finished.kernels.begin(),
                                finished.kernels.end());
            made.arguments = std::move(finished.arguments);
            return finished.module;
        };
        Halide::compile_multitarget(name,
                                    {{Halide::OutputFileType::static_library, archive.string()}},
                                    {words.begin(), words.end()}, words, module_for);
        std::filesystem::remove_all(folder);
        return made;
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
                            .arguments = {}};
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
            return finish(twin, target_of(twin), {}, "hk_candidate", scratch.path()).kernels;
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

int note_arguments(void **arguments) {
    heard->arguments.clear();
    for (const KernelArgument &told : heard_row->arguments) {
        const void *given = *arguments++;
        if (std::string_view(told.name) == "__user_context") continue;
        CallArguments::Argument argument;
        if (told.bytes > 0) {
            const auto *bytes = static_cast<const unsigned char *>(given);
            argument.scalar.assign(bytes, bytes + told.bytes);
        } else {
            const auto &buffer = *static_cast<const halide_buffer_t *>(given);
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
    KernelInfo listener = row.loaded();
    listener.call = note_arguments;
    run(listener);
    heard = nullptr;
    if (result.arguments.empty()) throw std::runtime_error("the case runs no kernel");
    return result;
}

}  // namespace hk::explorer
