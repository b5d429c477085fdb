#include "opencl_backend.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "HalideRuntimeOpenCL.h"
#include "call_context.h"
#include "hk/error.h"
#include "immortal.h"
#include "opencl_driver.h"

namespace hk::detail {

namespace {

struct ClDevice {
    cl_device_id id = nullptr;
    DeviceLimits limits;
    int64_t alignment = 1;  // of the first byte that a kernel's buffer may start at
    std::string description;
    std::once_flag once;
    cl_context context = nullptr;  // kept until the process ends, with its queue
    cl_command_queue queue = nullptr;
    cl_int status = CL_SUCCESS;
};

class OpenClBackend final : public Backend {
public:
    int count() override {
        std::call_once(once_, [this] { open(); });
        return static_cast<int>(devices_.size());
    }

    std::string missing() override { return count() ? "" : missing_; }
    DeviceLimits limits(int index) override { return devices_[index].limits; }
    std::string description(int index) override { return devices_[index].description; }

    std::unique_ptr<MemoryUpstream> upstream(int index, void *context, bool pieces) override;

    void copy(int index, const Rows &to, const Rows &from, int64_t width, int64_t rows) override {
        const cl_command_queue queue = queue_of(index, to.host ? from.memory : to.memory);
        const size_t region[3] = {static_cast<size_t>(width), static_cast<size_t>(rows), 1};
        const size_t to_origin[3] = {static_cast<size_t>(to.offset), 0, 0};
        const size_t from_origin[3] = {static_cast<size_t>(from.offset), 0, 0};
        const auto pitch = [](const Rows &rows) { return static_cast<size_t>(rows.pitch); };
        cl_int status;
        if (to.host) {
            status = driver_.clEnqueueReadBufferRect(
                queue, static_cast<cl_mem>(from.memory), CL_FALSE, from_origin, to_origin, region,
                pitch(from), 0, pitch(to), 0, to.memory, 0, nullptr, nullptr);
        } else if (from.host) {
            status = driver_.clEnqueueWriteBufferRect(
                queue, static_cast<cl_mem>(to.memory), CL_FALSE, to_origin, from_origin, region,
                pitch(to), 0, pitch(from), 0, from.memory, 0, nullptr, nullptr);
        } else {
            status = driver_.clEnqueueCopyBufferRect(
                queue, static_cast<cl_mem>(from.memory), static_cast<cl_mem>(to.memory),
                from_origin, to_origin, region, pitch(from), 0, pitch(to), 0, 0, nullptr, nullptr);
        }
        check(status, "copy");
    }

    void fill_zero(int index, const Rows &to, int64_t width, int64_t rows,
                   const Stream &stream) override {
        const char zero = 0;
        const cl_command_queue queue = stream.handle ? static_cast<cl_command_queue>(stream.handle)
                                                     : queue_of(index, to.memory);
        for (int64_t row = 0; row < rows; row++) {
            check(driver_.clEnqueueFillBuffer(queue, static_cast<cl_mem>(to.memory), &zero, 1,
                                              static_cast<size_t>(to.offset + row * to.pitch),
                                              static_cast<size_t>(width), 0, nullptr, nullptr),
                  "clEnqueueFillBuffer");
        }
    }

    void wait(int index, void *memory) override {
        const cl_command_queue queue = memory ? queue_of(index, memory) : opened(index).queue;
        if (const cl_int status = driver_.clFinish(queue)) {
            throw KernelFailure("opencl:" + std::to_string(index) + ": " +
                                opencl_error_name(status) + " in work that was queued before");
        }
    }

    Stream resolve(const char *operation, int index, const Stream &stream) override;

    Stream own_stream(int index) override {
        const ClDevice &device = opened(index);
        return {device.context, device.queue};
    }

    Event mark(int index, const Stream &stream) noexcept override;

    bool passed(const Event &event) noexcept override {
        cl_int status = CL_COMPLETE;
        driver_.clGetEventInfo(static_cast<cl_event>(event.get()),
                               CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        return status <= CL_COMPLETE;  // negative: an error, told by the work itself
    }

    void make_wait(int, const Stream &stream, const Event &event) override {
        const auto waited_for = static_cast<cl_event>(event.get());
        check(driver_.clEnqueueBarrierWithWaitList(static_cast<cl_command_queue>(stream.handle), 1,
                                                   &waited_for, nullptr),
              "clEnqueueBarrierWithWaitList");
    }

    void wait(const Event &event) noexcept override {
        const auto waited_for = static_cast<cl_event>(event.get());
        driver_.clWaitForEvents(1, &waited_for);
    }

    bool reachable(void *memory, const Stream &stream) override {
        return context_of(memory) == stream.context;
    }

    bool addressable(int index, int64_t offset, int64_t reach_back) override {
        return reach_back == 0 && offset % devices_[index].alignment == 0;
    }

    std::string addressing(int index) override {
        return "a multiple of " + std::to_string(devices_[index].alignment) + " and 0";
    }

    void forget(int index, void *context) override {
        CallContext call(Device::opencl(index), {context, queue_for(index, context)});
        halide_device_release(&call, halide_opencl_device_interface());
        const std::lock_guard lock(mutex_);
        const auto entry = foreign_.find({static_cast<cl_context>(context), index});
        if (entry == foreign_.end()) return;
        driver_.clReleaseCommandQueue(entry->second);
        foreign_.erase(entry);
    }

    cl_int handles(int index, const Stream &stream, void **context, void **queue) noexcept;

private:
    class Memory;

    ClDevice &opened(int index) {
        ClDevice &device = devices_[index];
        std::call_once(device.once, [&] {
            device.context =
                driver_.clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &device.status);
            if (device.status == CL_SUCCESS) {
                device.queue =
                    driver_.clCreateCommandQueue(device.context, device.id, 0, &device.status);
            }
        });
        check(device.status, "creating the context of a device");
        // Halide's runtime looks its functions up when it first needs them, without a lock.
        std::call_once(halide_once_, [&] {
            CallContext call(Device::opencl(0), {device.context, device.queue});
            int major = 0, minor = 0;
            halide_opencl_device_interface()->compute_capability(&call, &major, &minor);
        });
        return device;
    }

    cl_context context_of(void *memory) {
        cl_context context = nullptr;
        check(driver_.clGetMemObjectInfo(static_cast<cl_mem>(memory), CL_MEM_CONTEXT,
                                         sizeof context, &context, nullptr),
              "clGetMemObjectInfo");
        return context;
    }

    // A queue of the context that memory belongs to, which a caller may have made.
    cl_command_queue queue_of(int index, void *memory) {
        return queue_for(index, context_of(memory));
    }

    cl_command_queue queue_for(int index, void *context) {
        ClDevice &device = opened(index);
        if (context == device.context) return device.queue;
        const std::lock_guard lock(mutex_);
        cl_command_queue &queue = foreign_[{static_cast<cl_context>(context), index}];
        if (!queue) {
            cl_int status;
            queue = driver_.clCreateCommandQueue(static_cast<cl_context>(context), device.id, 0,
                                                 &status);
            check(status, "clCreateCommandQueue");
        }
        return queue;
    }

    void check(cl_int status, const char *what) {
        if (status == CL_SUCCESS) return;
        const std::string text = std::string("opencl: ") + what + ": " + opencl_error_name(status);
        if (is_out_of_memory(status)) throw OutOfMemory(text);
        throw DeviceError(text);
    }

    void open();
    void describe(ClDevice &device);

    std::once_flag once_, halide_once_;
    OpenClDriver driver_{};
    std::vector<ClDevice> devices_;
    std::string missing_;
    std::mutex mutex_;
    std::map<std::pair<cl_context, int>, cl_command_queue> foreign_;
};

// Buffers, each a block: a kernel may start at some bytes of a buffer only.
class OpenClBackend::Memory final : public MemoryUpstream {
public:
    Memory(OpenClBackend &backend, int index, cl_context context)
        : backend_(backend), index_(index), context_(context) {}

    void *allocate(size_t bytes, void *) override {
        const cl_context context = context_ ? context_ : backend_.opened(index_).context;
        cl_int status;
        cl_mem memory =
            backend_.driver_.clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
        if (is_out_of_memory(status)) return nullptr;
        backend_.check(status, "clCreateBuffer");
        return memory;
    }

    // Takes effect when the commands queued that use the buffer have finished.
    void release(void *memory, size_t) noexcept override {
        backend_.driver_.clReleaseMemObject(static_cast<cl_mem>(memory));
    }

    size_t granule() const noexcept override { return 128; }
    bool divides() const noexcept override { return false; }
    bool joins() const noexcept override { return false; }

private:
    OpenClBackend &backend_;
    const int index_;
    const cl_context context_;
};

std::unique_ptr<MemoryUpstream> OpenClBackend::upstream(int index, void *context, bool) {
    return std::make_unique<Memory>(*this, index, static_cast<cl_context>(context));
}

Event OpenClBackend::mark(int, const Stream &stream) noexcept {
    const auto queue = static_cast<cl_command_queue>(stream.handle);
    cl_event event = nullptr;
    if (driver_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event) == CL_SUCCESS) {
        driver_.clFlush(queue);  // another queue may wait for it
        try {
            return Event(event, [this](void *event) {
                driver_.clReleaseEvent(static_cast<cl_event>(event));
            });
        } catch (const std::bad_alloc &) {  // which has released it
        }
    }
    driver_.clFinish(queue);
    return nullptr;
}

Stream OpenClBackend::resolve(const char *operation, int index, const Stream &stream) {
    ClDevice &device = opened(index);
    if (!stream.context && !stream.handle) return {device.context, device.queue};
    const auto fail = [&](const std::string &what) {
        throw InvalidArgument(std::string(operation) + ": the stream's " + what);
    };
    Stream result = stream;
    if (stream.handle) {
        cl_context of_queue = nullptr;
        if (driver_.clGetCommandQueueInfo(static_cast<cl_command_queue>(stream.handle),
                                          CL_QUEUE_CONTEXT, sizeof of_queue, &of_queue, nullptr)) {
            fail("handle is not a command queue");
        }
        if (stream.context && stream.context != of_queue) {
            fail("command queue belongs to another context than the stream's context");
        }
        result.context = of_queue;
    }
    cl_uint devices = 0;
    if (driver_.clGetContextInfo(static_cast<cl_context>(result.context), CL_CONTEXT_NUM_DEVICES,
                                 sizeof devices, &devices, nullptr)) {
        fail("context is not an OpenCL context");
    }
    if (devices != 1) fail("context has " + std::to_string(devices) + " devices, it must have 1");
    cl_device_id id = nullptr;
    driver_.clGetContextInfo(static_cast<cl_context>(result.context), CL_CONTEXT_DEVICES, sizeof id,
                             &id, nullptr);
    if (id != device.id) {
        fail("context is of another device than opencl:" + std::to_string(index));
    }
    if (!result.handle) result.handle = queue_for(index, result.context);
    return result;
}

cl_int OpenClBackend::handles(int index, const Stream &stream, void **context,
                              void **queue) noexcept try {
    if (index < 0 || index >= count()) return CL_DEVICE_NOT_FOUND;
    if (stream.context && stream.handle) {
        *context = stream.context;
        *queue = stream.handle;
        return CL_SUCCESS;
    }
    const ClDevice &device = opened(index);
    *context = device.context;
    *queue = device.queue;
    return CL_SUCCESS;
} catch (const std::exception &) {
    return CL_DEVICE_NOT_AVAILABLE;
}

void OpenClBackend::open() {
    cl_uint platforms = 0;
    if (!driver_.load()) {
        missing_ = "OpenCL's loader, libOpenCL.so.1, is not installed";
        return;
    }
    if (driver_.clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS || platforms == 0) {
        missing_ = "OpenCL's loader finds no platform";
        return;
    }
    std::vector<cl_platform_id> platform_ids(platforms);
    driver_.clGetPlatformIDs(platforms, platform_ids.data(), nullptr);
    std::vector<cl_device_id> ids;
    for (cl_platform_id platform : platform_ids) {
        cl_uint devices = 0;
        if (driver_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices)) continue;
        const size_t before = ids.size();
        ids.resize(before + devices);
        driver_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, &ids[before], nullptr);
    }
    std::erase_if(ids, [&](cl_device_id id) {
        cl_bool available = CL_FALSE, compiler = CL_FALSE;
        driver_.clGetDeviceInfo(id, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr);
        driver_.clGetDeviceInfo(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler,
                                nullptr);
        return !available || !compiler;
    });
    if (ids.empty()) missing_ = "OpenCL's platforms have no device";
    std::vector<ClDevice> devices(ids.size());
    for (size_t i = 0; i < ids.size(); i++) {
        devices[i].id = ids[i];
        describe(devices[i]);
    }
    devices_ = std::move(devices);
}

void OpenClBackend::describe(ClDevice &device) {
    const auto get = [&](cl_device_info info, auto value) {
        driver_.clGetDeviceInfo(device.id, info, sizeof value, &value, nullptr);
        return value;
    };
    device.limits.shared_bytes = static_cast<int64_t>(get(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong{0}));
    device.limits.shared_bytes_opt_in = device.limits.shared_bytes;
    device.limits.threads = static_cast<int64_t>(get(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t{0}));
    device.alignment = std::max<int64_t>(get(CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint{8}) / 8, 1);
    char text[256] = "";
    driver_.clGetDeviceInfo(device.id, CL_DEVICE_NAME, sizeof text, text, nullptr);
    device.description = text;
}

OpenClBackend &instance() noexcept {
    static Immortal<OpenClBackend> backend;
    return *backend;
}

}  // namespace

Backend &opencl_backend() noexcept { return instance(); }

int opencl_handles(int index, const Stream &stream, void **context, void **queue) noexcept {
    return instance().handles(index, stream, context, queue);
}

}  // namespace hk::detail
