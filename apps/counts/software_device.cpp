#include "software_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "hk/error.h"
#include "kernel_call.h"

namespace hk::counts {

namespace {

namespace fs = std::filesystem;

// Its name is that by which the library loads a driver, which finds the one that is there.
const SoftwareCudaControl *load() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path path = program.parent_path().parent_path() / "software-cuda" / "libcuda.so.1";
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Error("there is no " + path.string() + ": " + how_to_build());
    using Find = const SoftwareCudaControl *(*)(uint32_t);
    const auto find = reinterpret_cast<Find>(dlsym(library, "software_cuda_control"));
    const SoftwareCudaControl *control = find ? find(SOFTWARE_CUDA_CONTROL_VERSION) : nullptr;
    if (!control) throw Error(path.string() + " is of another version: " + how_to_build());
    return control;
}

void set(const SoftwareCudaControl &control, const char *name, const char *value) {
    if (control.set(name, value) == 0) return;
    std::string reason(control.report(nullptr, 0), ' ');
    control.report(reason.data(), reason.size() + 1);
    throw Error(reason);
}

// Settings that a rate is measured with; when it is gone they are again what all else has.
class UsualSettings {
public:
    explicit UsualSettings(const SoftwareCudaControl &control) : control_(control) {}
    ~UsualSettings() {
        control_.set("THREADS", of_environment("SOFTWARE_CUDA_THREADS", "0"));
        control_.set("CHECK", of_environment("SOFTWARE_CUDA_CHECK", "none"));
        control_.set("COUNT", "on");
    }
    UsualSettings(const UsualSettings &) = delete;
    UsualSettings &operator=(const UsualSettings &) = delete;

private:
    const SoftwareCudaControl &control_;

    static const char *of_environment(const char *variable, const char *without) {
        const char *value = std::getenv(variable);
        return value ? value : without;
    }
};

// Of all operands, each once: read, written, or both.
double bytes_of(const bench::Problem &problem) {
    if (const auto arithmetic = problem.arithmetic()) return arithmetic->bytes;
    double bytes = 0;
    for (const bench::Operand &operand : problem.operands()) {
        double of_one = static_cast<double>(size_of(operand.type));
        for (const int64_t extent : operand.shape) of_one *= static_cast<double>(extent);
        bytes += of_one * (operand.is_read() + operand.is_written());
    }
    return bytes;
}

}  // namespace

std::string how_to_build() { return "cmake --build build --target software_cuda makes it"; }

SoftwareDevice::SoftwareDevice() : control_(load()) {
    set(*control_, "CHIP", "sm_90");
    set(*control_, "COUNT", "on");
    if (!Device::cuda().available()) throw Error("the CUDA device in software does not start");
    if (control_->calls("cuInit") == 0) throw Error("another CUDA driver was loaded before");
}

std::vector<KernelCounts> SoftwareDevice::count(const std::function<void()> &run) const {
    Device::cuda().synchronize();
    control_->clear();
    run();
    return kernels_of(counted());
}

nlohmann::json SoftwareDevice::counted() const {
    Device::cuda().synchronize();
    std::string text(control_->counts(nullptr, 0), ' ');
    control_->counts(text.data(), text.size() + 1);
    return nlohmann::json::parse(text);
}

CallCounts SoftwareDevice::count(bench::Problem &problem, const KernelInfo *row) const {
    problem.bind(bench::placed(problem, problem.draw(), Device::cuda()));
    CallCounts counts;
    counts.kernels = count([&] { problem.run(row); });
    counts.least_bytes = bytes_of(problem);
    if (row) counts.registers = row->resources.registers;
    return counts;
}

CallOfRows SoftwareDevice::count_rows(bench::Problem &problem, const KernelInfo &asked) const {
    CallOfRows result;
    // Each row has a module of its own.
    std::map<std::string, size_t> of_module;
    const auto hear = [&](const KernelInfo &row, int64_t bytes) {
        const auto same = [&](const RowCounts &one) {
            return std::string_view(one.row->name) == row.name;
        };
        if (std::ranges::any_of(result.rows, same)) return;
        for (const nlohmann::json &kernel : counted())
            of_module.try_emplace(kernel.at("module"), result.rows.size());
        result.rows.push_back({&row, {}});
        result.rows.back().counts.least_bytes = static_cast<double>(bytes);
        result.rows.back().counts.registers = row.resources.registers;
    };
    const auto run = [&](const std::function<void()> &call) {
        const detail::KernelWatch watch(hear);
        call();
        return counted();
    };
    problem.bind(bench::placed(problem, problem.draw(), Device::cuda()));
    Device::cuda().synchronize();
    control_->clear();
    result.call.kernels = kernels_of(run([&] { problem.run(&asked); }));
    result.call.least_bytes = bytes_of(problem);
    result.call.registers = asked.resources.registers;
    const nlohmann::json all = run([&] { problem.run_beside(); });
    std::vector<nlohmann::json> own(result.rows.size(), nlohmann::json::array());
    for (const nlohmann::json &kernel : all)
        own[of_module.at(kernel.at("module"))].push_back(kernel);
    for (size_t i = 0; i < own.size(); i++) result.rows[i].counts.kernels = kernels_of(own[i]);
    return result;
}

double SoftwareDevice::rate(bench::Problem &problem, const KernelInfo &row, const char *check,
                            bool counts) const {
    constexpr double kSeconds = 0.5;  // of all calls
    problem.bind(bench::placed(problem, problem.draw(), Device::cuda()));
    const UsualSettings restored(*control_);
    set(*control_, "THREADS", "1");
    set(*control_, "CHECK", check);
    set(*control_, "COUNT", counts ? "on" : "");
    double best = 0;
    for (double all = 0; all < kSeconds;) {
        Device::cuda().synchronize();
        control_->clear();
        problem.run(&row);
        double instructions = 0, seconds = 0;
        for (const nlohmann::json &kernel : counted()) {
            for (const auto &[name, number] : kernel.at("thread_instructions").items())
                instructions += number.get<double>();
            seconds += kernel.at("seconds").get<double>();
        }
        if (seconds == 0) throw Error(std::string(row.name) + " launched nothing");
        best = std::max(best, instructions / seconds);
        all += seconds;
    }
    return best;
}

}  // namespace hk::counts
