// OpenCL's functions, each of which can fail.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <string_view>
#include <tuple>

#include "opencl_backend.h"
#include "tests/fuzz/faults.h"

namespace hk::fuzz {
namespace {

void *library() {
    static void *const handle = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
    return handle;
}

#define HK_FAILING_FUNCTIONS(F)     \
    F(clBuildProgram)               \
    F(clCreateBuffer)               \
    F(clCreateKernel)               \
    F(clSetKernelArg)               \
    F(clEnqueueNDRangeKernel)       \
    F(clEnqueueReadBufferRect)      \
    F(clEnqueueWriteBufferRect)     \
    F(clEnqueueCopyBufferRect)      \
    F(clEnqueueFillBuffer)          \
    F(clEnqueueMarkerWithWaitList)  \
    F(clEnqueueBarrierWithWaitList) \
    F(clFlush)                      \
    F(clFinish)

enum Index {
#define HK_INDEX(name) k_##name,
    HK_FAILING_FUNCTIONS(HK_INDEX)
#undef HK_INDEX
        kFunctions
};

void *real[kFunctions];

// A status, or an object that is not made and a status in the last argument.
template<typename R, typename... A>
R failure(A... arguments) {
    if constexpr (std::is_same_v<R, cl_int>) {
        return CL_OUT_OF_RESOURCES;
    } else {
        cl_int *const status = std::get<sizeof...(A) - 1>(std::tuple(arguments...));
        if (status) *status = CL_OUT_OF_RESOURCES;
        return nullptr;
    }
}

template<int I, typename F>
struct Failing;
template<int I, typename R, typename... A>
struct Failing<I, R(A...)> {
    static R call(A... arguments) {
        if (fails(Fault::driver)) return failure<R, A...>(arguments...);
        return reinterpret_cast<R (*)(A...)>(real[I])(arguments...);
    }
};

void *symbol(const char *name) {
    void *const found = library() ? dlsym(library(), name) : nullptr;
    if (!found) return nullptr;
#define HK_WRAP(function)                                                                    \
    if (std::string_view(name) == #function) {                                               \
        real[k_##function] = found;                                                          \
        return reinterpret_cast<void *>(&Failing<k_##function, decltype(::function)>::call); \
    }
    HK_FAILING_FUNCTIONS(HK_WRAP)
#undef HK_WRAP
    return found;
}

}  // namespace

void install_failing_driver() { detail::set_opencl_driver(symbol); }

}  // namespace hk::fuzz
