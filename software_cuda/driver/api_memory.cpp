// The driver's functions: memory.

#include <cstring>

#include "software_cuda/driver/call.h"
#include "software_cuda/driver/copy.h"
#include "software_cuda/driver/functions.h"

namespace software_cuda {

namespace {

CUdeviceptr allocate(Context &context, size_t bytes) {
    require(bytes > 0, CUDA_ERROR_INVALID_VALUE, "0 bytes");
    const CUdeviceptr address = context.device.memory.allocate(bytes);
    if (!address) throw Failure(CUDA_ERROR_OUT_OF_MEMORY, "");
    try {
        context.own(address, bytes);
    } catch (const std::bad_alloc &) {
        context.device.memory.release(address);
        throw;
    }
    return address;
}

Context &owner_of(CUdeviceptr address) {
    for (Context *context : driver().contexts()) {
        if (context->owns(address)) return *context;
    }
    throw Failure(CUDA_ERROR_INVALID_VALUE,
                  hexadecimal(address) + " is not the start of an allocation");
}

void release(Context &owner, CUdeviceptr address) {
    owner.disown(address);
    owner.device.memory.release(address);
}

// Rows of values of 1, 2 or 4 bytes.
void fill(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t value_bytes, size_t width,
          size_t height, CUstream stream) {
    const std::shared_ptr<Stream> on = driver().stream(stream);
    if (width == 0 || height == 0) return;
    require(to % value_bytes == 0, CUDA_ERROR_INVALID_VALUE,
            hexadecimal(to) + " is not aligned to " + std::to_string(value_bytes) + " bytes");
    require(width <= SIZE_MAX / value_bytes, CUDA_ERROR_INVALID_VALUE, "the size overflows");
    Rows rows = device_rows(to);
    require(rows.device, CUDA_ERROR_NOT_SUPPORTED, "filling host memory is not supported");
    rows.pitch = pitch;
    check({rows, rows, width * value_bytes, height});
    driver().scheduler.submit(on, [=] {
        for (size_t y = 0; y < height; y++) {
            if (!rows.device->memory.fill(to + y * pitch, value, value_bytes, width))
                return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        return CUDA_SUCCESS;
    });
}

CUresult set_memory(const char *function, CUdeviceptr to, size_t pitch, uint32_t value,
                    uint32_t value_bytes, size_t width, size_t height, CUstream stream) {
    return call(function, [&] {
        fill(to, pitch, value, value_bytes, width, height, stream);
        SoftwareCudaOperation operation{};
        operation.function = function;
        operation.context = &driver().stream(stream)->context;
        operation.stream = stream;
        driver().journal.note(operation);
    });
}

template<typename Value>
void answer(void *result, const Value &value) {
    std::memcpy(result, &value, sizeof value);
}

// CU_POINTER_ATTRIBUTE_…
enum PointerAttribute {
    kContext = 1,
    kMemoryType = 2,
    kDevicePointer = 3,
    kHostPointer = 4,
    kIsManaged = 8,
    kDeviceOrdinal = 9,
    kRangeStart = 11,
    kRangeSize = 12,
};

void tell_of_device(void *result, int attribute, const Device &device, const Allocation &found,
                    CUdeviceptr address) {
    switch (attribute) {
        case kContext:
            return answer(result, static_cast<void *>(&owner_of(found.base)));
        case kMemoryType:
            return answer(result, kDevice);
        case kDevicePointer:
            return answer(result, address);
        case kIsManaged:
            return answer(result, 0u);
        case kDeviceOrdinal:
            return answer(result, device.ordinal);
        case kRangeStart:
            return answer(result, found.base);
        case kRangeSize:
            return answer(result, found.bytes);
        default:
            throw Failure(CUDA_ERROR_INVALID_VALUE,
                          "attribute " + std::to_string(attribute) + " is not of device memory");
    }
}

void allocate_pinned(void **memory, size_t bytes) {
    require_pointer(memory, "memory");
    current_context();
    require(bytes > 0, CUDA_ERROR_INVALID_VALUE, "0 bytes");
    *memory = pinned_memory().allocate(bytes);
    if (!*memory) throw Failure(CUDA_ERROR_OUT_OF_MEMORY, "");
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    return call("cuMemGetInfo", [&] {
        require_pointer(free, "free");
        require_pointer(total, "total");
        const Memory &memory = current_context().device.memory;
        *total = memory.capacity();
        *free = memory.capacity() - memory.used();
    });
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    return call("cuMemAlloc", [&] {
        require_pointer(address, "address");
        *address = allocate(current_context(), bytes);
    });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element_bytes) {
    return call("cuMemAllocPitch", [&] {
        require_pointer(address, "address");
        require_pointer(pitch, "pitch");
        require(element_bytes == 4 || element_bytes == 8 || element_bytes == 16,
                CUDA_ERROR_INVALID_VALUE, "elements are not of 4, 8 or 16 bytes");
        constexpr size_t kPitch = 512;
        size_t bytes;
        require(width <= SIZE_MAX - kPitch &&
                    !__builtin_mul_overflow((width + kPitch - 1) / kPitch * kPitch, height, &bytes),
                CUDA_ERROR_INVALID_VALUE, "the size overflows");
        *address = allocate(current_context(), bytes);
        *pitch = (width + kPitch - 1) / kPitch * kPitch;
    });
}

// Waits for all work of the context, which may use the memory.
CUresult cuMemFree_v2(CUdeviceptr address) {
    return call("cuMemFree", [&] {
        current_context();
        if (!address) return;
        Context &owner = owner_of(address);
        driver().scheduler.wait(owner);
        release(owner, address);
    });
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    return call("cuMemAllocAsync", [&] {
        require_pointer(address, "address");
        *address = allocate(driver().stream(stream)->context, bytes);
    });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    return call("cuMemFreeAsync", [&] {
        const std::shared_ptr<Stream> on = driver().stream(stream);
        if (!address) return;
        Context &owner = owner_of(address);
        owner.disown(address);
        driver().scheduler.submit(on, [&owner, address] {
            owner.device.memory.release(address);
            return CUDA_SUCCESS;
        });
    });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    return call("cuMemGetAddressRange", [&] {
        current_context();
        Device *device = driver().device_of(address);
        if (!device) throw Failure(CUDA_ERROR_NOT_FOUND, hexadecimal(address) + " is unknown");
        const std::optional<Allocation> found = device->memory.find(address);
        require(found.has_value(), CUDA_ERROR_NOT_FOUND, "it was freed");
        if (base) *base = found->base;
        if (bytes) *bytes = found->bytes;
    });
}

CUresult cuPointerGetAttribute(void *result, int attribute, CUdeviceptr address) {
    return call("cuPointerGetAttribute", [&] {
        require_pointer(result, "result");
        current_context_even_failed();
        const void *pointer = reinterpret_cast<const void *>(address);
        if (Device *device = driver().device_of(address)) {
            const std::optional<Allocation> found = device->memory.find(address);
            if (found) return tell_of_device(result, attribute, *device, *found, address);
        }
        require(pinned_memory().contains(pointer), CUDA_ERROR_INVALID_VALUE,
                hexadecimal(address) + " is not an address of the driver's");
        require(attribute == kMemoryType || attribute == kHostPointer, CUDA_ERROR_INVALID_VALUE,
                "attribute " + std::to_string(attribute) + " is not of host memory");
        if (attribute == kMemoryType) return answer(result, kHost);
        answer(result, pointer);
    });
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes) {
    return call("cuMemAllocHost", [&] { allocate_pinned(memory, bytes); });
}

// Kernels can't reach it: what device pointers they are given are of the device's own memory.
CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    return call("cuMemHostAlloc", [&] {
        require(flags <= 7, CUDA_ERROR_INVALID_VALUE, "unknown flags");
        allocate_pinned(memory, bytes);
    });
}

CUresult cuMemFreeHost(void *memory) {
    return call("cuMemFreeHost", [&] {
        Context &context = current_context();
        driver().scheduler.wait(context);
        require(!memory || pinned_memory().release(memory), CUDA_ERROR_INVALID_VALUE,
                "it is not memory of cuMemAllocHost");
    });
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    return set_memory("cuMemsetD8", to, 0, value, 1, count, 1, nullptr);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
    return set_memory("cuMemsetD16", to, 0, value, 2, count, 1, nullptr);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
    return set_memory("cuMemsetD32", to, 0, value, 4, count, 1, nullptr);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return set_memory("cuMemsetD8Async", to, 0, value, 1, count, 1, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return set_memory("cuMemsetD16Async", to, 0, value, 2, count, 1, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return set_memory("cuMemsetD32Async", to, 0, value, 4, count, 1, stream);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height) {
    return set_memory("cuMemsetD2D8", to, pitch, value, 1, width, height, nullptr);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
    return set_memory("cuMemsetD2D8Async", to, pitch, value, 1, width, height, stream);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                          size_t height) {
    return set_memory("cuMemsetD2D32", to, pitch, value, 4, width, height, nullptr);
}

}  // namespace software_cuda
