#include "software_driver.h"

#include <cstdlib>
#include <stdexcept>

#include "backend.h"
#include "software_cuda/driver/functions.h"

namespace hk::tests {

namespace {

void succeed(int status) {
    if (status) throw std::runtime_error("the driver fails, " + std::to_string(status));
}

// Before the library looks for devices.
[[maybe_unused]] const bool prepared = [] {
    setenv("HK_MEMORY_POOL", "off", 1);
    for (const char *name : {"CHECK", "STRICT", "COUNT", "MEMORY"})
        unsetenv(("SOFTWARE_CUDA_" + std::string(name)).c_str());
    succeed(driver().set("DEVICES", "3"));
    succeed(driver().set("CHIP", "sm_60,sm_90"));
    succeed(driver().set("RUN", "off"));
    succeed(driver().set("REPORT", "off"));
    return true;
}();

}  // namespace

const SoftwareCudaControl &driver() {
    return *software_cuda_control(SOFTWARE_CUDA_CONTROL_VERSION);
}

void begin_driver_test() {
    driver().clear_faults();
    driver().clear();
    driver().record(1);
}

void fail(const char *function, int status) { driver().fail(function, status, 0, UINT64_MAX); }

std::vector<Operation> operations(const std::string &function) {
    std::vector<Operation> all(driver().operations(nullptr, 0));
    driver().operations(all.data(), all.size());
    std::erase_if(all, [&](const Operation &o) { return o.function != function; });
    return all;
}

std::vector<Operation> launches() { return operations("cuLaunchKernel"); }

size_t allocated() { return driver().alive(SOFTWARE_CUDA_ALLOCATIONS); }

void *primary_context(Device device) {
    return detail::require(device).own_stream(device.index()).context;
}

bool has_current_context() {
    void *context = nullptr;
    succeed(software_cuda::cuCtxGetCurrent(&context));
    return context != nullptr;
}

Queue::Queue(Device device) : device_(device) {
    succeed(software_cuda::cuInit(0));
    succeed(software_cuda::cuCtxCreate_v2(&context_, 0, device.index()));
    succeed(software_cuda::cuStreamCreate(&handle_, 0));
    succeed(software_cuda::cuCtxPopCurrent_v2(nullptr));
}

Queue::~Queue() {
    device_.forget(context_);
    software_cuda::cuCtxDestroy_v2(context_);
}

}  // namespace hk::tests
