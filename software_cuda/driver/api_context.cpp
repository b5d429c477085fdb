// The driver's functions: contexts.

#include "software_cuda/driver/call.h"
#include "software_cuda/driver/functions.h"

namespace software_cuda {

namespace {

constexpr unsigned kKnownFlags = 0xff;  // scheduling, mapping of host memory, and so on

void check_flags(unsigned flags) {
    require((flags & ~kKnownFlags) == 0, CUDA_ERROR_INVALID_VALUE,
            "unknown flags " + hexadecimal(flags));
}

// With the lock of the device.
void end_primary(Device &device) {
    if (device.primary) device.primary->destroy();
    device.primary = nullptr;
    device.primary_uses = 0;
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice ordinal) {
    return call("cuDevicePrimaryCtxRetain", [&] {
        require_pointer(context, "context");
        Device &device = driver().device(ordinal);
        const std::lock_guard lock(device.mutex);
        if (!device.primary)
            device.primary = &driver().make_context(device, device.primary_flags, true);
        device.primary_uses++;
        *context = device.primary;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    return call("cuDevicePrimaryCtxRelease", [&] {
        Device &device = driver().device(ordinal);
        const std::lock_guard lock(device.mutex);
        require(device.primary_uses > 0, CUDA_ERROR_INVALID_CONTEXT,
                "the primary context is not retained");
        if (--device.primary_uses == 0) end_primary(device);
    });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
    return call("cuDevicePrimaryCtxReset", [&] {
        Device &device = driver().device(ordinal);
        const std::lock_guard lock(device.mutex);
        end_primary(device);
    });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active) {
    return call("cuDevicePrimaryCtxGetState", [&] {
        require_pointer(flags, "flags");
        require_pointer(active, "active");
        Device &device = driver().device(ordinal);
        const std::lock_guard lock(device.mutex);
        *flags = device.primary_flags;
        *active = device.primary != nullptr;
    });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
    return call("cuDevicePrimaryCtxSetFlags", [&] {
        check_flags(flags);
        Device &device = driver().device(ordinal);
        const std::lock_guard lock(device.mutex);
        device.primary_flags = flags;
    });
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice ordinal) {
    return call("cuCtxCreate", [&] {
        require_pointer(context, "context");
        check_flags(flags);
        Context &made = driver().make_context(driver().device(ordinal), flags, false);
        push_context(&made);
        *context = &made;
    });
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    return call("cuCtxDestroy", [&] {
        Context &context = driver().context(handle);
        require(!context.primary, CUDA_ERROR_INVALID_CONTEXT, "a primary context is released");
        context.destroy();
        if (top_context() == &context) pop_context();
    });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return call("cuCtxPushCurrent", [&] { push_context(&driver().context(context)); });
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    return call("cuCtxPopCurrent", [&] {
        Context *popped = pop_context();
        require(popped, CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
        if (context) *context = popped;
    });
}

CUresult cuCtxSetCurrent(CUcontext context) {
    return call("cuCtxSetCurrent",
                [&] { set_context(context ? &driver().context(context) : nullptr); });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    return call("cuCtxGetCurrent", [&] {
        require_pointer(context, "context");
        *context = top_context();
    });
}

CUresult cuCtxGetDevice(CUdevice *device) {
    return call("cuCtxGetDevice", [&] {
        require_pointer(device, "device");
        *device = current_context_even_failed().device.ordinal;
    });
}

CUresult cuCtxGetFlags(unsigned *flags) {
    return call("cuCtxGetFlags", [&] {
        require_pointer(flags, "flags");
        *flags = current_context_even_failed().flags;
    });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    return call("cuCtxGetApiVersion", [&] {
        require_pointer(version, "version");
        if (context) driver().context(context);
        *version = 3020;  // of cuCtxCreate_v2
    });
}

CUresult cuCtxSynchronize() {
    return call("cuCtxSynchronize", [] {
        Context &context = current_context();
        driver().scheduler.wait(context);
        if (const Status status = context.error()) throw Failure(status, "");
    });
}

// Two priorities, of which the scheduler makes nothing.
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return call("cuCtxGetStreamPriorityRange", [&] {
        current_context();
        if (least) *least = 0;
        if (greatest) *greatest = -1;
    });
}

CUresult cuCtxGetCacheConfig(int *config) {
    return call("cuCtxGetCacheConfig", [&] {
        require_pointer(config, "config");
        current_context();
        *config = 0;
    });
}

CUresult cuCtxSetCacheConfig(int config) {
    return call("cuCtxSetCacheConfig", [&] {
        current_context();
        require(config >= 0 && config <= 3, CUDA_ERROR_INVALID_VALUE, "unknown preference");
    });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned) {
    return call("cuCtxEnablePeerAccess", [&] {
        current_context();
        driver().context(peer);
        throw Failure(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                      "kernels of one device do not reach the memory of another");
    });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    return call("cuCtxDisablePeerAccess", [&] {
        current_context();
        driver().context(peer);
        throw Failure(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access was not enabled");
    });
}

}  // namespace software_cuda
