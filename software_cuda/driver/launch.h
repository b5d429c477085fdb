// Launches: what the driver checks before it queues one.
#pragma once

#include "software_cuda/driver/driver.h"

namespace software_cuda {

struct LaunchRequest {
    CUfunction function;
    Dim3 grid, block;
    unsigned dynamic_shared_bytes;
    CUstream stream;
    void **parameters, **extra;
};

// Throws Failure.
void launch(const LaunchRequest &request);

// Sets what a function may use of shared memory beyond its static variables. Throws Failure.
void allow_dynamic_shared(Function &function, int bytes);

// Blocks of a function that are on a multiprocessor at once.
int resident_blocks(const Function &function, int threads, size_t dynamic_shared_bytes);

}  // namespace software_cuda
