// The driver's functions: initialisation, errors, devices.

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "software_cuda/driver/attributes.h"
#include "software_cuda/driver/call.h"
#include "software_cuda/driver/functions.h"

namespace software_cuda {

namespace {

constexpr int kVersion = 12040;

// Writes as much of a text as there is room for, ended with a zero.
void put_text(char *out, int room, const std::string &text) {
    require_pointer(out, "the text");
    require(room > 0, CUDA_ERROR_INVALID_VALUE, "no room for the text");
    const size_t length = std::min(text.size(), static_cast<size_t>(room) - 1);
    std::memcpy(out, text.data(), length);
    out[length] = 0;
}

// The newest function of a name in this library: names end with the version of what they take.
void *symbol_of(const std::string &name) {
    static void *self = [] {
        Dl_info info{};
        dladdr(reinterpret_cast<void *>(&driver), &info);
        return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    if (!self || name.compare(0, 2, "cu") != 0) return nullptr;
    for (const char *suffix : {"_v2", ""}) {
        if (void *function = dlsym(self, (name + suffix).c_str())) return function;
    }
    return nullptr;
}

}  // namespace

CUresult cuInit(unsigned flags) {
    return call_early("cuInit", [&] {
        require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags are not 0");
        driver().initialise();
    });
}

CUresult cuDriverGetVersion(int *version) {
    return call_early("cuDriverGetVersion", [&] {
        require_pointer(version, "version");
        *version = kVersion;
    });
}

CUresult cuGetErrorName(CUresult status, const char **text) {
    return call_early("cuGetErrorName", [&] {
        require_pointer(text, "text");
        *text = status_name(status);
        require(*text, CUDA_ERROR_INVALID_VALUE, "");
    });
}

CUresult cuGetErrorString(CUresult status, const char **text) {
    return call_early("cuGetErrorString", [&] {
        require_pointer(text, "text");
        *text = status_text(status);
        require(*text, CUDA_ERROR_INVALID_VALUE, "");
    });
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int, uint64_t, int *found) {
    return call_early("cuGetProcAddress", [&] {
        require_pointer(symbol, "symbol");
        require_pointer(function, "function");
        *function = symbol_of(symbol);
        if (found) *found = *function ? 0 : 1;  // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
        require(*function, CUDA_ERROR_NOT_FOUND, std::string("there is no function ") + symbol);
    });
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

CUresult cuDeviceGetCount(int *count) {
    return call("cuDeviceGetCount", [&] {
        require_pointer(count, "count");
        *count = driver().device_count();
    });
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    return call("cuDeviceGet", [&] {
        require_pointer(device, "device");
        *device = driver().device(ordinal).ordinal;
    });
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device) {
    return call("cuDeviceGetName", [&] {
        put_text(name, room, "software " + std::string(driver().device(device).chip.name));
    });
}

// Its number in the last byte, so that processes agree on it.
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    return call("cuDeviceGetUuid", [&] {
        require_pointer(uuid, "uuid");
        std::memcpy(uuid->bytes, "software cuda  ", 15);
        uuid->bytes[15] = static_cast<char>(driver().device(device).ordinal);
    });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid(uuid, device); }

CUresult cuDeviceGetPCIBusId(char *id, int room, CUdevice device) {
    return call("cuDeviceGetPCIBusId", [&] {
        char text[16];
        std::snprintf(text, sizeof text, "0000:%02x:00.0", driver().device(device).ordinal + 1);
        put_text(id, room, text);
    });
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    return call("cuDeviceTotalMem", [&] {
        require_pointer(bytes, "bytes");
        *bytes = driver().device(device).memory.capacity();
    });
}

// Of the interface before CUDA 3.2, which counts in 32 bits.
CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device) {
    return call("cuDeviceTotalMem", [&] {
        require_pointer(bytes, "bytes");
        const uint64_t all = driver().device(device).memory.capacity();
        *bytes = static_cast<unsigned>(std::min<uint64_t>(all, UINT32_MAX));
    });
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    return call("cuDeviceGetAttribute", [&] {
        require_pointer(value, "value");
        const std::optional<int> known = attribute_of(driver().device(device), attribute);
        require(known.has_value(), CUDA_ERROR_INVALID_VALUE,
                "there is no attribute " + std::to_string(attribute));
        *value = *known;
    });
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    return call("cuDeviceComputeCapability", [&] {
        require_pointer(major, "major");
        require_pointer(minor, "minor");
        const uint32_t capability = driver().device(device).chip.capability;
        *major = static_cast<int>(capability / 10);
        *minor = static_cast<int>(capability % 10);
    });
}

// Kernels of one device do not reach the memory of another.
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    return call("cuDeviceCanAccessPeer", [&] {
        require_pointer(can, "can");
        driver().device(device);
        driver().device(peer);
        *can = 0;
    });
}

CUresult cuProfilerStart() {
    return call("cuProfilerStart", [] { current_context(); });
}

CUresult cuProfilerStop() {
    return call("cuProfilerStop", [] { current_context(); });
}

}  // namespace software_cuda
