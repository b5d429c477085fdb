// The driver's functions: copies.

#include "software_cuda/driver/call.h"
#include "software_cuda/driver/copy.h"
#include "software_cuda/driver/functions.h"

namespace software_cuda {

namespace {

const void *pointer(CUdeviceptr address) { return reinterpret_cast<const void *>(address); }

void copy_bytes(const Rows &to, const Rows &from, size_t bytes, CUstream stream, bool wait) {
    queue({to, from, bytes}, driver().stream(stream), wait);
}

Rows side(CUmemorytype type, const void *host, CUdeviceptr device) {
    switch (type) {
        case kHost:
            return rows_at(host);
        case kDevice:
            return device_rows(device);
        case kUnified:
            return rows_at(pointer(device));
        case kArray:
            throw Failure(CUDA_ERROR_NOT_SUPPORTED, "arrays are not supported");
    }
    throw Failure(CUDA_ERROR_INVALID_VALUE, "unknown type of memory");
}

// Moves the start of rows to the copy's corner.
void offset(Rows &rows, size_t x, size_t y, size_t z, size_t width) {
    require(rows.pitch >= x && rows.pitch - x >= width, CUDA_ERROR_INVALID_VALUE,
            "the pitch is less than the width and its offset");
    size_t planes, lines;
    const bool overflow = __builtin_mul_overflow(z, rows.plane, &planes) ||
                          __builtin_mul_overflow(y, rows.pitch, &lines) ||
                          __builtin_add_overflow(rows.address, planes, &rows.address) ||
                          __builtin_add_overflow(rows.address, lines, &rows.address) ||
                          __builtin_add_overflow(rows.address, x, &rows.address);
    require(!overflow, CUDA_ERROR_INVALID_VALUE, "the offset overflows");
}

Copy described(const CUDA_MEMCPY2D &c) {
    Copy copy{side(c.dstMemoryType, c.dstHost, c.dstDevice),
              side(c.srcMemoryType, c.srcHost, c.srcDevice), c.WidthInBytes, c.Height};
    copy.to.pitch = c.dstPitch;
    copy.from.pitch = c.srcPitch;
    offset(copy.to, c.dstXInBytes, c.dstY, 0, c.WidthInBytes);
    offset(copy.from, c.srcXInBytes, c.srcY, 0, c.WidthInBytes);
    return copy;
}

Copy described(const CUDA_MEMCPY3D &c) {
    Copy copy{side(c.dstMemoryType, c.dstHost, c.dstDevice),
              side(c.srcMemoryType, c.srcHost, c.srcDevice), c.WidthInBytes, c.Height, c.Depth};
    const auto lay = [&](Rows &rows, size_t pitch, size_t height, size_t x, size_t y, size_t z) {
        require(height || c.Depth <= 1, CUDA_ERROR_INVALID_VALUE, "the height of a plane is 0");
        rows.pitch = pitch;
        const bool overflow = __builtin_mul_overflow(pitch, height, &rows.plane);
        require(!overflow, CUDA_ERROR_INVALID_VALUE, "the size of the copy overflows");
        offset(rows, x, y, z, c.WidthInBytes);
    };
    lay(copy.to, c.dstPitch, c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ);
    lay(copy.from, c.srcPitch, c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ);
    return copy;
}

template<typename Description>
CUresult copy_described(const char *function, const Description *description, CUstream stream,
                        bool asynchronous) {
    return call(function, [&] {
        require_pointer(description, "the description");
        const std::shared_ptr<Stream> on = driver().stream(stream);
        const Copy copy = described(*description);
        queue(copy, on, !asynchronous && (!copy.to.device || !copy.from.device));
    });
}

}  // namespace

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    return call("cuMemcpyHtoD",
                [&] { copy_bytes(device_rows(to), rows_at(from), bytes, nullptr, true); });
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    return call("cuMemcpyDtoH",
                [&] { copy_bytes(rows_at(to), device_rows(from), bytes, nullptr, true); });
}

// Between devices' memory nobody waits.
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return call("cuMemcpyDtoD",
                [&] { copy_bytes(device_rows(to), device_rows(from), bytes, nullptr, false); });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    return call("cuMemcpyHtoDAsync",
                [&] { copy_bytes(device_rows(to), rows_at(from), bytes, stream, false); });
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return call("cuMemcpyDtoHAsync",
                [&] { copy_bytes(rows_at(to), device_rows(from), bytes, stream, false); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return call("cuMemcpyDtoDAsync",
                [&] { copy_bytes(device_rows(to), device_rows(from), bytes, stream, false); });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return call("cuMemcpy", [&] {
        const Rows target = rows_at(pointer(to)), source = rows_at(pointer(from));
        copy_bytes(target, source, bytes, nullptr, !target.device || !source.device);
    });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return call("cuMemcpyAsync", [&] {
        copy_bytes(rows_at(pointer(to)), rows_at(pointer(from)), bytes, stream, false);
    });
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t bytes) {
    return call("cuMemcpyPeer", [&] {
        driver().context(to_context);
        driver().context(from_context);
        copy_bytes(device_rows(to), device_rows(from), bytes, nullptr, false);
    });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream) {
    return call("cuMemcpyPeerAsync", [&] {
        driver().context(to_context);
        driver().context(from_context);
        copy_bytes(device_rows(to), device_rows(from), bytes, stream, false);
    });
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy) {
    return copy_described("cuMemcpy2D", copy, nullptr, false);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy) {
    return copy_described("cuMemcpy2DUnaligned", copy, nullptr, false);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
    return copy_described("cuMemcpy2DAsync", copy, stream, true);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) {
    return copy_described("cuMemcpy3D", copy, nullptr, false);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
    return copy_described("cuMemcpy3DAsync", copy, stream, true);
}

}  // namespace software_cuda
