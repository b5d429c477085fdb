#include "software_device.h"

#include <dlfcn.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hk/error.h"

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
    Device::cuda().synchronize();
    std::string text(control_->counts(nullptr, 0), ' ');
    control_->counts(text.data(), text.size() + 1);
    return kernels_of(nlohmann::json::parse(text));
}

CallCounts SoftwareDevice::count(bench::Problem &problem, const KernelInfo *row) const {
    problem.bind(bench::placed(problem, problem.draw(), Device::cuda()));
    CallCounts counts;
    counts.kernels = count([&] { problem.run(row); });
    counts.least_bytes = bytes_of(problem);
    if (row) counts.registers = row->resources.registers;
    return counts;
}

}  // namespace hk::counts
