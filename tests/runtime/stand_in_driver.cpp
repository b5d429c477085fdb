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

SharedLimits shared_limits_of(int device) {
    return device == 0 ? SharedLimits{49152, 49152} : SharedLimits{49152, 232448};
}

namespace {

[[maybe_unused]] const int pools_off = setenv("HK_MEMORY_POOL", "off", 1);

// Device handles are not their indices.
constexpr int kFirstDevice = 100;

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
    *device = kFirstDevice + ordinal;
    return 0;
}

int device_name(char *text, int size, int) {
    std::strncpy(text, "Stand-in", static_cast<size_t>(size));
    return 0;
}

int attribute(int *value, int attribute, int device) {
    const int index = device - kFirstDevice;
    const auto [without_asking, opt_in] = shared_limits_of(index);
    const std::map<int, int> values{
        {1, 1024},  // threads a block
        {8, static_cast<int>(without_asking)},
        {12, 65536},  // registers a block
        {75, index == 0 ? 6 : 9},
        {76, 0},
        {97, static_cast<int>(opt_in)},
    };
    *value = values.at(attribute);
    return 0;
}

void *primary_of(int device) {
    return reinterpret_cast<void *>(static_cast<intptr_t>(device * 16));
}

int retain_primary(void **context, int device) {
    ENTER("cuDevicePrimaryCtxRetain");
    if (device == kFirstDevice + 2) return 46;
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

int copy_in(uint64_t to, const void *from, size_t bytes) {
    ENTER("cuMemcpyHtoD");
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    return 0;
}

int copy_in_async(uint64_t to, const void *from, size_t bytes, void *) {
    return copy_in(to, from, bytes);
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

int create_event(void **event, unsigned) {
    ENTER("cuEventCreate");
    *event = std::malloc(1);
    driver().live_events++;
    return 0;
}

int destroy_event(void *event) {
    ENTER("cuEventDestroy");
    driver().live_events--;
    std::free(event);
    return 0;
}

int record_event(void *event, void *stream) {
    ENTER("cuEventRecord");
    driver().events.push_back({EventStep::recorded, event, stream, driver().current.back()});
    return 0;
}

int query_event(void *) {
    ENTER("cuEventQuery");
    return driver().busy ? 600 : 0;  // CUDA_ERROR_NOT_READY
}

int wait_event(void *) {
    ENTER("cuEventSynchronize");
    return 0;
}

int stream_wait_event(void *stream, void *event, unsigned) {
    ENTER("cuStreamWaitEvent");
    driver().events.push_back({EventStep::waited, event, stream, driver().current.back()});
    return 0;
}

int error_name(int status, const char **text) {
    static const std::map<int, const char *> names{{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                                   {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
    const auto entry = names.find(status);
    *text = entry == names.end() ? nullptr : entry->second;
    return 0;
}

// A module has one function.
void *function_of(void *module) { return static_cast<char *>(module) + 1; }
void *module_of(void *function) { return static_cast<char *>(function) - 1; }

int load(void **module, const void *, unsigned, void *, void **) {
    ENTER("cuModuleLoadData");
    *module = std::malloc(1);
    driver().modules[*module] = driver().current.back();
    return 0;
}

int unload(void *module) {
    ENTER("cuModuleUnload");
    driver().modules.erase(module);
    driver().opt_in.erase(function_of(module));
    std::free(module);
    return 0;
}

int function(void **result, void *module, const char *) {
    ENTER("cuModuleGetFunction");
    *result = function_of(module);
    return 0;
}

// Notes a fault; CUDA_ERROR_INVALID_VALUE.
int fault(const std::string &what) {
    driver().faults.push_back(what);
    return 1;
}

// The index of a context's device; -1 for one that nobody made.
int device_of(void *context) {
    for (int i = 0; i < driver().devices; i++) {
        if (context == primary_of(kFirstDevice + i)) return i;
    }
    const auto entry = driver().contexts.find(context);
    return entry == driver().contexts.end() ? -1 : entry->second;
}

int check_place(const Launch &l) {
    const auto module = driver().modules.find(module_of(l.function));
    if (module == driver().modules.end()) return fault("the function is not of a loaded module");
    if (module->second != l.context) return fault("the function is of another context");
    if (device_of(l.context) < 0) return fault("the context is unknown");
    if (!l.stream) return 0;
    const auto stream = driver().streams.find(l.stream);
    if (stream == driver().streams.end()) return fault("the stream is unknown");
    return stream->second == l.context ? 0 : fault("the stream is of another context");
}

// The limits of every chip since compute capability 3.0.
int check_extents(const Launch &l) {
    const unsigned most_blocks[3] = {0x7fffffff, 65535, 65535}, most_threads[3] = {1024, 1024, 64};
    size_t threads = 1;
    for (int d = 0; d < 3; d++) {
        const auto is = [&](const char *what, unsigned extent) {
            return std::string(what) + " " + "xyz"[d] + " is " + std::to_string(extent);
        };
        if (l.grid[d] < 1 || l.grid[d] > most_blocks[d]) return fault(is("grid", l.grid[d]));
        if (l.block[d] < 1 || l.block[d] > most_threads[d]) return fault(is("block", l.block[d]));
        threads *= l.block[d];
    }
    return threads <= 1024 ? 0 : fault(std::to_string(threads) + " threads a block");
}

int check_shared(const Launch &l) {
    const auto [without_asking, opt_in] = shared_limits_of(device_of(l.context));
    const std::string wanted = std::to_string(l.shared_bytes) + " bytes of shared memory";
    if (l.shared_bytes > opt_in) return fault(wanted + ", more than the device has");
    if (l.shared_bytes <= without_asking) return 0;
    const auto asked = driver().opt_in.find(l.function);
    const bool enough =
        asked != driver().opt_in.end() && asked->second >= static_cast<int>(l.shared_bytes);
    return enough ? 0 : fault(wanted + " that nobody asked for");
}

int launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
           unsigned bz, unsigned shared, void *stream, void **, void **) {
    ENTER("cuLaunchKernel");
    const Launch l{function, stream, driver().current.back(), {gx, gy, gz}, {bx, by, bz}, shared};
    for (const auto &check : {check_place, check_extents, check_shared}) {
        if (const int status = check(l)) return status;
    }
    driver().launches.push_back(l);
    return 0;
}

int set_attribute(void *function, int attribute, int value) {
    ENTER("cuFuncSetAttribute");
    constexpr int kMaxDynamicSharedBytes = 8;
    if (attribute != kMaxDynamicSharedBytes) return fault("an attribute that nobody needs");
    const auto [without_asking, opt_in] = shared_limits_of(device_of(driver().current.back()));
    const std::string asked = std::to_string(value) + " bytes of shared memory asked for: ";
    if (value <= static_cast<int>(without_asking)) return fault(asked + "no need to ask");
    if (value > static_cast<int>(opt_in)) return fault(asked + "more than the device allows");
    driver().opt_in[function] = value;
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
        {"cuMemcpyHtoD_v2", address(copy_in)},
        {"cuMemcpyHtoDAsync_v2", address(copy_in_async)},
        {"cuMemsetD8_v2", address(fill)},
        {"cuStreamSynchronize", address(wait)},
        {"cuEventCreate", address(create_event)},
        {"cuEventDestroy_v2", address(destroy_event)},
        {"cuEventRecord", address(record_event)},
        {"cuEventQuery", address(query_event)},
        {"cuEventSynchronize", address(wait_event)},
        {"cuStreamWaitEvent", address(stream_wait_event)},
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
