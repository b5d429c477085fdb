// What every function of the driver does.
#pragma once

#include <new>

#include "software_cuda/driver/driver.h"

namespace software_cuda {

// The line of a call that failed; none where the message is empty.
CUresult refuse(const char *function, const Failure &failure) noexcept;

// Counts the call, and makes it where no fault is put in. For what may be called before cuInit.
template<typename Body>
CUresult call_early(const char *function, Body body) noexcept {
    try {
        if (const Status status = driver().journal.enter(function)) return status;
        body();
        return CUDA_SUCCESS;
    } catch (const Failure &failure) {
        return refuse(function, failure);
    } catch (const std::bad_alloc &) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const std::exception &error) {
        return refuse(function, Failure(CUDA_ERROR_UNKNOWN, error.what()));
    }
}

// The same for what cuInit comes before.
template<typename Body>
CUresult call(const char *function, Body body) noexcept {
    return call_early(function, [&] {
        if (!driver().initialised())
            throw Failure(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
        body();
    });
}

inline void require_pointer(const void *pointer, const char *name) {
    if (!pointer) throw Failure(CUDA_ERROR_INVALID_VALUE, std::string(name) + " is null");
}

// Waits, and tells what work of the context failed with.
inline void wait_for(const Point &point) {
    driver().scheduler.wait(point);
    if (const Status status = point.stream->context.error()) throw Failure(status, "");
}

}  // namespace software_cuda
