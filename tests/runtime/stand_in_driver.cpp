#include "stand_in_driver.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace hk::tests {

Driver &driver() {
    // Never destroyed: Halide's runtime unloads its modules while the process ends.
    static Driver *driver = new Driver;
    return *driver;
}

namespace {

// Counts a call; what it is to fail with.
int enter(const char *name) {
    driver().called[name]++;
    const auto entry = driver().fail.find(name);
    return entry == driver().fail.end() ? 0 : entry->second;
}

#define ENTER(name) \
    if (const int status = enter(name)) return status

int init(unsigned) {
    ENTER("cuInit");
    return 0;
}

int device_count(int *count) {
    ENTER("cuDeviceGetCount");
    *count = driver().devices;
    return 0;
}

int device_get(int *device, int ordinal) {
    *device = 100 + ordinal;
    return 0;
}

int device_name(char *text, int size, int) {
    std::strncpy(text, "Stand-in", static_cast<size_t>(size));
    return 0;
}

int attribute(int *value, int attribute, int) {
    const std::map<int, int> values{{1, 1024}, {8, 49152}, {12, 65536},
                                    {75, 9},   {76, 0},    {97, 232448}};
    *value = values.at(attribute);
    return 0;
}

void *primary_of(int device) {
    return reinterpret_cast<void *>(static_cast<intptr_t>(device * 16));
}

int retain_primary(void **context, int device) {
    ENTER("cuDevicePrimaryCtxRetain");
    *context = primary_of(device);
    return 0;
}

int push(void *context) {
    ENTER("cuCtxPushCurrent");
    driver().current.push_back(context);
    return 0;
}

int pop(void **context) {
    *context = driver().current.back();
    driver().current.pop_back();
    return 0;
}

int allocate(uint64_t *address, size_t bytes) {
    ENTER("cuMemAlloc");
    void *memory = bytes < (size_t{1} << 40) ? std::malloc(bytes) : nullptr;
    if (!memory) return 2;
    driver().allocated++;
    *address = reinterpret_cast<uint64_t>(memory);
    return 0;
}

int release(uint64_t address) {
    ENTER("cuMemFree");
    driver().allocated--;
    std::free(reinterpret_cast<void *>(address));
    return 0;
}

struct Copy2D {
    size_t from_x, from_y;
    unsigned from_type;
    const char *from_host;
    const char *from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    char *to_host;
    char *to_device;
    void *to_array;
    size_t to_pitch, width, height;
};

int copy(const Copy2D *c) {
    ENTER("cuMemcpy2D");
    if (c->from_pitch < c->width || c->to_pitch < c->width) return 1;
    const char *from = c->from_type == 1 ? c->from_host : c->from_device;
    char *to = c->to_type == 1 ? c->to_host : c->to_device;
    for (size_t row = 0; row < c->height; row++) {
        std::memcpy(to + row * c->to_pitch, from + row * c->from_pitch, c->width);
    }
    return 0;
}

int fill(uint64_t address, unsigned char value, size_t bytes) {
    ENTER("cuMemsetD8");
    std::memset(reinterpret_cast<void *>(address), value, bytes);
    return 0;
}

int wait(void *stream) {
    ENTER("cuStreamSynchronize");
    driver().waited_for.push_back(stream);
    return 0;
}

int error_name(int status, const char **text) {
    static const std::map<int, const char *> names{{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
    const auto entry = names.find(status);
    *text = entry == names.end() ? nullptr : entry->second;
    return 0;
}

int load(void **module, const void *, unsigned, void *, void **) {
    ENTER("cuModuleLoadData");
    *module = std::malloc(1);
    driver().modules[*module] = driver().current.back();
    return 0;
}

int unload(void *module) {
    ENTER("cuModuleUnload");
    driver().modules.erase(module);
    std::free(module);
    return 0;
}

int function(void **result, void *module, const char *) {
    ENTER("cuModuleGetFunction");
    *result = static_cast<char *>(module) + 1;
    return 0;
}

int launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
           unsigned bz, unsigned shared, void *stream, void **, void **) {
    ENTER("cuLaunchKernel");
    if (shared > 49152 && driver().opt_in[function] < static_cast<int>(shared)) return 1;
    driver().launches.push_back(
        {function, stream, driver().current.back(), {gx, gy, gz}, {bx, by, bz}, shared});
    return 0;
}

int set_attribute(void *function, int attribute, int value) {
    ENTER("cuFuncSetAttribute");
    if (attribute == 8) driver().opt_in[function] = value;
    return 0;
}

int unused() { return 999; }

template<typename F>
void *address(F *f) {
    return reinterpret_cast<void *>(f);
}

}  // namespace

void *driver_symbol(const char *name) {
    static const std::map<std::string, void *> functions{
        {"cuInit", address(init)},
        {"cuDeviceGetCount", address(device_count)},
        {"cuDeviceGet", address(device_get)},
        {"cuDeviceGetName", address(device_name)},
        {"cuDeviceGetAttribute", address(attribute)},
        {"cuDevicePrimaryCtxRetain", address(retain_primary)},
        {"cuCtxPushCurrent_v2", address(push)},
        {"cuCtxPopCurrent_v2", address(pop)},
        {"cuMemAlloc_v2", address(allocate)},
        {"cuMemFree_v2", address(release)},
        {"cuMemcpy2DUnaligned_v2", address(copy)},
        {"cuMemsetD8_v2", address(fill)},
        {"cuStreamSynchronize", address(wait)},
        {"cuGetErrorName", address(error_name)},
        {"cuModuleLoadDataEx", address(load)},
        {"cuModuleUnload", address(unload)},
        {"cuModuleGetFunction", address(function)},
        {"cuLaunchKernel", address(launch)},
        {"cuFuncSetAttribute", address(set_attribute)}};
    const auto entry = functions.find(name);
    // Halide's runtime also looks for functions that it does not call here.
    return entry == functions.end() ? address(unused) : entry->second;
}

}  // namespace hk::tests
