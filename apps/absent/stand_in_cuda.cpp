// CUDA's driver. Its functions return 0 for success.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "stand_in.h"
#include "stand_in_driver.h"

namespace hk::absent {

namespace {

int succeed() { return 0; }

int device_count(int *count) {
    *count = 1;
    return 0;
}

int device(int *handle, int) {
    *handle = 0;
    return 0;
}

int device_name(char *name, int length, int) {
    std::snprintf(name, static_cast<size_t>(length), "launches are noted, not run");
    return 0;
}

// By the driver's numbers.
int64_t value_of(int attribute) {
    switch (attribute) {
        case 1:
            return told_limits.threads;
        case 8:
            return told_limits.shared_bytes;
        case 12:
            return told_limits.registers;
        case 75:
            return told_limits.compute_capability / 10;
        case 76:
            return told_limits.compute_capability % 10;
        case 97:
            return told_limits.shared_bytes_opt_in;
        default:
            return 1;
    }
}

int attribute(int *value, int which, int) {
    *value = static_cast<int>(value_of(which));
    return 0;
}

// Any handle that is not null.
int context(void **handle, int) {
    static char place;
    *handle = &place;
    return 0;
}

int pop(void **handle) { return context(handle, 0); }

int load_module(void **handle, const void *) { return context(handle, 0); }

int load_module_with_options(void **handle, const void *, unsigned, int *, void **) {
    return context(handle, 0);
}

int find_function(void **handle, void *, const char *) { return context(handle, 0); }

int allocate(uint64_t *address, size_t bytes) {
    static uint64_t next = uint64_t{1} << 40;
    *address = next;
    next += (bytes + 511) / 512 * 512;
    return 0;
}

// Of a pointer: its context, or that it is the device's memory.
int pointer_attribute(void *value, int which, uint64_t) {
    if (which == 1) return context(static_cast<void **>(value), 0);
    const int device_memory = 2;
    std::memcpy(value, &device_memory, sizeof device_memory);
    return 0;
}

int error_name(int, const char **name) {
    *name = "stand-in";
    return 0;
}

int launch(void *, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
           unsigned block_y, unsigned block_z, unsigned shared_bytes, void *, void **, void **) {
    noted_launches().push_back(
        {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes});
    return 0;
}

}  // namespace

void *stand_in_cuda(const char *name) {
    struct Entry {
        std::string_view name;
        void *function;
    };
    static const Entry entries[] = {
        {"cuDeviceGetCount", reinterpret_cast<void *>(device_count)},
        {"cuDeviceGet", reinterpret_cast<void *>(device)},
        {"cuDeviceGetName", reinterpret_cast<void *>(device_name)},
        {"cuDeviceGetAttribute", reinterpret_cast<void *>(attribute)},
        {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(context)},
        {"cuCtxPopCurrent_v2", reinterpret_cast<void *>(pop)},
        {"cuModuleLoadData", reinterpret_cast<void *>(load_module)},
        {"cuModuleLoadDataEx", reinterpret_cast<void *>(load_module_with_options)},
        {"cuModuleGetFunction", reinterpret_cast<void *>(find_function)},
        {"cuMemAlloc_v2", reinterpret_cast<void *>(allocate)},
        {"cuPointerGetAttribute", reinterpret_cast<void *>(pointer_attribute)},
        {"cuGetErrorName", reinterpret_cast<void *>(error_name)},
        {"cuLaunchKernel", reinterpret_cast<void *>(launch)},
    };
    for (const Entry &entry : entries) {
        if (entry.name == name) return entry.function;
    }
    return reinterpret_cast<void *>(succeed);
}

}  // namespace hk::absent
