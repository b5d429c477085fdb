#include "launches.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cuda_backend.h"

namespace hk::explain {

namespace {

std::vector<Launch> noted;

// Stand-ins for the driver's functions, which return 0 for success.

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

// Of an H100, by the driver's numbers.
int attribute(int *value, int which, int) {
    switch (which) {
        case 1:
            *value = 1024;
            break;  // threads a block
        case 8:
            *value = 48 * 1024;
            break;  // shared memory a block
        case 12:
            *value = 65536;
            break;  // registers a block
        case 75:
            *value = 9;
            break;  // compute capability, major
        case 76:
            *value = 0;
            break;  // minor
        case 97:
            *value = 227 * 1024;
            break;  // shared memory a block after opting in
        default:
            *value = 1;
    }
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
    noted.push_back({{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes});
    return 0;
}

void *stand_in(const char *name) {
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

[[noreturn]] void run_and_report(const std::function<void()> &run, int pipe) {
    detail::set_cuda_driver(stand_in);
    unsetenv("HK_SHARED_LIMIT");  // also rows are run that the limit would refuse
    try {
        run();
    } catch (const std::exception &) {
        noted.clear();
    }
    const size_t bytes = noted.size() * sizeof(Launch);
    const bool written = write(pipe, noted.data(), bytes) == static_cast<ssize_t>(bytes);
    _exit(written ? 0 : 1);
}

}  // namespace

std::vector<Launch> launches_of(const std::function<void()> &run) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_and_report(run, ends[1]);
    }
    close(ends[1]);
    std::vector<Launch> result;
    Launch next;
    while (child > 0 && read(ends[0], &next, sizeof next) == sizeof next) result.push_back(next);
    close(ends[0]);
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    return result;
}

Tensor MadeUpTensors::next(DataType type, const Shape &shape) {
    const Tensor result =
        Tensor::borrow(reinterpret_cast<void *>(address_), type, shape, {}, Device::cuda());
    address_ += static_cast<uintptr_t>(result.elements() * size_of(type) + 511) / 512 * 512;
    return result;
}

}  // namespace hk::explain
