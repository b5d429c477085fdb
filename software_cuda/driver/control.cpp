#include "software_cuda/control.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "software_cuda/driver/call.h"

namespace software_cuda {

namespace {

size_t put(const std::string &text, char *out, size_t room) {
    if (out && text.size() < room) std::memcpy(out, text.c_str(), text.size() + 1);
    return text.size();
}

int set(const char *name, const char *value) {
    try {
        driver().set(name, value);
        return 0;
    } catch (const std::exception &error) {
        driver().log.add(error.what());
        return 1;
    }
}

void fail(const char *function, int status, uint64_t skip, uint64_t times) {
    driver().journal.fail(function, static_cast<Status>(status), skip, times);
}

size_t operations(SoftwareCudaOperation *out, size_t room) {
    const std::vector<SoftwareCudaOperation> all = driver().journal.operations();
    if (out) std::copy_n(all.begin(), std::min(room, all.size()), out);
    return all.size();
}

uint64_t alive(SoftwareCudaObjects kind) {
    switch (kind) {
        case SOFTWARE_CUDA_ALLOCATIONS:
            return driver().allocation_count();
        case SOFTWARE_CUDA_CONTEXTS:
            return driver().contexts().size();
        case SOFTWARE_CUDA_STREAMS:
            return driver().streams.size();
        case SOFTWARE_CUDA_EVENTS:
            return driver().events.size();
        case SOFTWARE_CUDA_MODULES:
            return driver().modules.size();
    }
    return 0;
}

const SoftwareCudaControl kControl{
    SOFTWARE_CUDA_CONTROL_VERSION,
    set,
    fail,
    [] { driver().journal.clear_faults(); },
    [](const char *function) { return driver().journal.calls(function); },
    [](int on) { driver().journal.record(on != 0); },
    operations,
    [] { driver().journal.clear(); },
    alive,
    [](char *out, size_t room) { return put(driver().log.last(), out, room); },
    [] { return driver().journal.finding_count(); },
    [](char *out, size_t room) { return put(driver().journal.findings_json(), out, room); },
    [](char *out, size_t room) { return put(driver().journal.counts_json(), out, room); },
    [](int device, int held) { driver().scheduler.hold(device, held != 0); },
};

// When the process ends, or the library is unloaded.
__attribute__((destructor)) void write_counts() {
    const std::string path = driver().settings().count;
    if (path.empty()) return;
    std::ofstream file(path);
    file << driver().journal.counts_json() << "\n";
    if (!file.flush()) driver().log.add(path + " can't be written");
}

}  // namespace

}  // namespace software_cuda

const SoftwareCudaControl *software_cuda_control(uint32_t version) {
    return version == SOFTWARE_CUDA_CONTROL_VERSION ? &software_cuda::kControl : nullptr;
}
