#include "cuda_backend.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "HalideRuntimeCuda.h"
#include "call_context.h"
#include "hk/error.h"
#include "immortal.h"

namespace hk::detail {

namespace {

// Names, values and layouts are those of the driver's interface, cuda.h.
using CUresult = int;
using CUdevice = int;
using CUcontext = void *;
using CUstream = void *;
using CUevent = void *;
using CUdeviceptr = uint64_t;

constexpr CUresult kSuccess = 0, kOutOfMemory = 2;
enum Attribute {
    kMaxThreads = 1,
    kSharedMemory = 8,
    kRegisters = 12,
    kMajor = 75,
    kMinor = 76,
    kSharedMemoryOptIn = 97,
};
enum MemoryType : unsigned { kHost = 1, kDevice = 2 };

struct Copy2D {
    size_t from_x = 0, from_y = 0;
    MemoryType from_type = kHost;
    const void *from_host = nullptr;
    CUdeviceptr from_device = 0;
    void *from_array = nullptr;
    size_t from_pitch = 0;
    size_t to_x = 0, to_y = 0;
    MemoryType to_type = kHost;
    void *to_host = nullptr;
    CUdeviceptr to_device = 0;
    void *to_array = nullptr;
    size_t to_pitch = 0;
    size_t width = 0, height = 0;
};

struct Driver {
    CUresult (*init)(unsigned);
    CUresult (*device_count)(int *);
    CUresult (*device)(CUdevice *, int);
    CUresult (*device_name)(char *, int, CUdevice);
    CUresult (*attribute)(int *, int, CUdevice);
    CUresult (*retain_primary)(CUcontext *, CUdevice);
    CUresult (*push)(CUcontext);
    CUresult (*pop)(CUcontext *);
    CUresult (*allocate)(CUdeviceptr *, size_t);
    CUresult (*free)(CUdeviceptr);
    CUresult (*copy)(const Copy2D *);
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t, CUstream);
    CUresult (*fill_rows)(CUdeviceptr, size_t pitch, unsigned char, size_t, size_t, CUstream);
    CUresult (*wait)(CUstream);
    CUresult (*create_event)(CUevent *, unsigned);
    CUresult (*destroy_event)(CUevent);
    CUresult (*record)(CUevent, CUstream);
    CUresult (*query)(CUevent);
    CUresult (*wait_event)(CUevent);
    CUresult (*make_wait)(CUstream, CUevent, unsigned);
    CUresult (*error_name)(CUresult, const char **);

    bool load() {
        const auto f = [](const char *name, auto *&function) {
            return resolve(cuda_symbol, name, function);
        };
        return f("cuInit", init) && f("cuDeviceGetCount", device_count) &&
               f("cuDeviceGet", device) && f("cuDeviceGetName", device_name) &&
               f("cuDeviceGetAttribute", attribute) &&
               f("cuDevicePrimaryCtxRetain", retain_primary) && f("cuCtxPushCurrent_v2", push) &&
               f("cuCtxPopCurrent_v2", pop) && f("cuMemAlloc_v2", allocate) &&
               f("cuMemFree_v2", free) && f("cuMemcpy2DUnaligned_v2", copy) &&
               f("cuMemsetD8Async", fill) && f("cuMemsetD2D8Async", fill_rows) &&
               f("cuStreamSynchronize", wait) && f("cuEventCreate", create_event) &&
               f("cuEventDestroy_v2", destroy_event) && f("cuEventRecord", record) &&
               f("cuEventQuery", query) && f("cuEventSynchronize", wait_event) &&
               f("cuStreamWaitEvent", make_wait) && f("cuGetErrorName", error_name);
    }
};

std::atomic<SymbolLookup> stand_in{nullptr};

struct Gpu {
    CUdevice device = 0;
    DeviceLimits limits;
    std::string description;
    std::once_flag once;
    CUcontext primary = nullptr;  // kept until the process ends
    CUresult status = kSuccess;
};

class CudaBackend final : public Backend {
public:
    int count() override {
        std::call_once(once_, [this] { open(); });
        return static_cast<int>(gpus_.size());
    }

    std::string missing() override { return count() ? "" : missing_; }
    DeviceLimits limits(int index) override { return gpus_[index].limits; }
    std::string description(int index) override { return gpus_[index].description; }

    std::unique_ptr<MemoryUpstream> upstream(int index, void *context, bool pieces) override;

    void copy(int index, const Rows &to, const Rows &from, int64_t width, int64_t rows) override {
        Copy2D copy;
        copy.width = static_cast<size_t>(width);
        copy.height = static_cast<size_t>(rows);
        copy.from_pitch = static_cast<size_t>(from.pitch);
        copy.to_pitch = static_cast<size_t>(to.pitch);
        copy.from_type = from.host ? kHost : kDevice;
        copy.to_type = to.host ? kHost : kDevice;
        const char *source = static_cast<const char *>(from.memory) + from.offset;
        char *target = static_cast<char *>(to.memory) + to.offset;
        copy.from_host = from.host ? source : nullptr;
        copy.from_device = from.host ? 0 : reinterpret_cast<CUdeviceptr>(source);
        copy.to_host = to.host ? target : nullptr;
        copy.to_device = to.host ? 0 : reinterpret_cast<CUdeviceptr>(target);
        Current current(*this, index);
        check(driver_.copy(&copy), "cuMemcpy2D");
    }

    void fill_zero(int index, const Rows &to, int64_t width, int64_t rows,
                   const Stream &stream) override {
        Current current(*this, index, stream.context);
        const CUdeviceptr start =
            reinterpret_cast<CUdeviceptr>(to.memory) + static_cast<uint64_t>(to.offset);
        const size_t bytes = static_cast<size_t>(width);
        if (rows == 1) {
            check(driver_.fill(start, 0, bytes, stream.handle), "cuMemsetD8Async");
        } else {
            check(driver_.fill_rows(start, static_cast<size_t>(to.pitch), 0, bytes,
                                    static_cast<size_t>(rows), stream.handle),
                  "cuMemsetD2D8Async");
        }
    }

    void wait(int index, void *) override {
        Current current(*this, index);
        if (const CUresult status = driver_.wait(nullptr)) {
            throw KernelFailure("cuda:" + std::to_string(index) + ": " + name(status) +
                                " in work that was queued before");
        }
    }

    Stream resolve(const char *, int index, const Stream &stream) override {
        return {stream.context ? stream.context : primary(index), stream.handle};
    }

    Stream own_stream(int index) override { return {primary(index), nullptr}; }

    Event mark(int index, const Stream &stream) noexcept override;

    bool passed(const Event &event) noexcept override {
        constexpr CUresult kNotReady = 600;
        return driver_.query(event.get()) != kNotReady;  // a failure is told by the work itself
    }

    void make_wait(int index, const Stream &stream, const Event &event) override {
        Current current(*this, index, stream.context);
        check(driver_.make_wait(stream.handle, event.get(), 0), "cuStreamWaitEvent");
    }

    void wait(const Event &event) noexcept override { driver_.wait_event(event.get()); }

    // All contexts share one address space.
    bool reachable(void *, const Stream &) override { return true; }

    bool addressable(int, int64_t, int64_t) override { return true; }
    std::string addressing(int) override { return "nothing"; }

    void forget(int index, void *context) override {
        CallContext call(Device::cuda(index), {context, nullptr});
        halide_device_release(&call, halide_cuda_device_interface());
    }

    CUresult primary_of(int index, CUcontext *context) {
        if (index < 0 || index >= count()) return 100;  // CUDA_ERROR_NO_DEVICE
        Gpu &gpu = gpus_[index];
        std::call_once(gpu.once,
                       [&] { gpu.status = driver_.retain_primary(&gpu.primary, gpu.device); });
        *context = gpu.primary;
        return gpu.status;
    }

private:
    class Memory;

    // Makes a context, the device's primary one where it is null, current on this thread, for as
    // long as this object lives.
    class Current {
    public:
        Current(CudaBackend &backend, int index, CUcontext context = nullptr) : backend_(backend) {
            if (!context) context = backend.primary(index);
            backend.check(backend.driver_.push(context), "cuCtxPushCurrent");
        }
        ~Current() {
            CUcontext context;
            backend_.driver_.pop(&context);
        }
        Current(const Current &) = delete;
        Current &operator=(const Current &) = delete;

    private:
        CudaBackend &backend_;
    };

    CUcontext primary(int index) {
        CUcontext context = nullptr;
        check(primary_of(index, &context), "cuDevicePrimaryCtxRetain");
        return context;
    }

    std::string name(CUresult status) {
        const char *text = nullptr;
        driver_.error_name(status, &text);
        return text ? text : "CUDA error " + std::to_string(status);
    }

    void check(CUresult status, const char *function) {
        if (status == kOutOfMemory)
            throw OutOfMemory(std::string("cuda: no memory for ") + function);
        if (status != kSuccess)
            throw DeviceError(std::string(function) + " failed: " + name(status));
    }

    void open() {
        int count = 0;
        if (!driver_.load()) {
            missing_ = "CUDA's driver, libcuda.so.1, is not installed";
        } else if (const CUresult status = driver_.init(0)) {
            missing_ = "cuInit failed: " + name(status);
        } else if (driver_.device_count(&count) != kSuccess || count == 0) {
            missing_ = "CUDA's driver finds no device";
        } else {
            std::vector<Gpu> gpus(static_cast<size_t>(count));
            for (int i = 0; i < count; i++) describe(gpus[static_cast<size_t>(i)], i);
            gpus_ = std::move(gpus);
        }
    }

    void describe(Gpu &gpu, int index) {
        driver_.device(&gpu.device, index);
        const auto get = [&](Attribute attribute) {
            int value = 0;
            driver_.attribute(&value, attribute, gpu.device);
            return value;
        };
        gpu.limits.shared_bytes = get(kSharedMemory);
        gpu.limits.shared_bytes_opt_in = std::max(get(kSharedMemoryOptIn), get(kSharedMemory));
        gpu.limits.threads = get(kMaxThreads);
        gpu.limits.registers = get(kRegisters);
        gpu.limits.compute_capability = 10 * get(kMajor) + get(kMinor);
        char text[256] = "";
        driver_.device_name(text, sizeof text, gpu.device);
        gpu.description = text;
    }

    std::once_flag once_;
    Driver driver_{};
    std::vector<Gpu> gpus_;
    std::string missing_;
};

// Pieces of 2 MB, which is what the driver maps at a time, or single blocks.
class CudaBackend::Memory final : public MemoryUpstream {
public:
    Memory(CudaBackend &backend, int index, CUcontext context, bool pieces)
        : backend_(backend), index_(index), context_(context), pieces_(pieces) {}

    void *allocate(size_t bytes, void *) override {
        Current current(backend_, index_, context_);
        CUdeviceptr memory = 0;
        const CUresult status = backend_.driver_.allocate(&memory, bytes);
        if (status == kOutOfMemory) return nullptr;
        backend_.check(status, "cuMemAlloc");
        return reinterpret_cast<void *>(memory);
    }

    // cuMemFree waits for the work that uses the memory.
    void release(void *memory, size_t) noexcept override try {
        Current current(backend_, index_, context_);
        backend_.driver_.free(reinterpret_cast<CUdeviceptr>(memory));
    } catch (const Error &) {
        // The context is gone, and its memory with it.
    }

    size_t granule() const noexcept override { return pieces_ ? size_t{2} << 20 : 256; }
    bool divides() const noexcept override { return pieces_; }
    bool joins() const noexcept override { return false; }

private:
    CudaBackend &backend_;
    const int index_;
    const CUcontext context_;
    const bool pieces_;
};

std::unique_ptr<MemoryUpstream> CudaBackend::upstream(int index, void *context, bool pieces) {
    return std::make_unique<Memory>(*this, index, context, pieces);
}

Event CudaBackend::mark(int index, const Stream &stream) noexcept try {
    constexpr unsigned kDisableTiming = 2;
    Current current(*this, index, stream.context);
    CUevent event = nullptr;
    CUresult status = driver_.create_event(&event, kDisableTiming);
    if (status == kSuccess) {
        try {
            Event shared(event, [this](void *event) { driver_.destroy_event(event); });
            status = driver_.record(event, stream.handle);
            if (status == kSuccess) return shared;
        } catch (const std::bad_alloc &) {  // which has destroyed it
        }
    }
    driver_.wait(stream.handle);
    return nullptr;
} catch (const std::exception &) {
    return nullptr;  // there is no context, and no work
}

CudaBackend &instance() noexcept {
    static Immortal<CudaBackend> backend;
    return *backend;
}

}  // namespace

void *cuda_symbol(const char *name) noexcept {
    if (const SymbolLookup lookup = stand_in.load()) return lookup(name);
    static void *library = open_library({"libcuda.so.1", "libcuda.so"});
    return library ? dlsym(library, name) : nullptr;
}

void set_cuda_driver(SymbolLookup lookup) noexcept { stand_in = lookup; }

Backend &cuda_backend() noexcept { return instance(); }

int cuda_context(int index, void **context) { return instance().primary_of(index, context); }

}  // namespace hk::detail
