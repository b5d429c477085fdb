#pragma once
// OpenCL's functions as a table.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

#include "opencl_backend.h"

namespace hk::detail {

struct OpenClDriver {
#define HK_OPENCL_FUNCTIONS(F)      \
    F(clGetPlatformIDs)             \
    F(clGetDeviceIDs)               \
    F(clGetDeviceInfo)              \
    F(clCreateContext)              \
    F(clGetContextInfo)             \
    F(clCreateCommandQueue)         \
    F(clGetCommandQueueInfo)        \
    F(clReleaseCommandQueue)        \
    F(clCreateBuffer)               \
    F(clReleaseMemObject)           \
    F(clGetMemObjectInfo)           \
    F(clEnqueueReadBufferRect)      \
    F(clEnqueueWriteBufferRect)     \
    F(clEnqueueCopyBufferRect)      \
    F(clEnqueueFillBuffer)          \
    F(clEnqueueMarkerWithWaitList)  \
    F(clEnqueueBarrierWithWaitList) \
    F(clGetEventInfo)               \
    F(clWaitForEvents)              \
    F(clReleaseEvent)               \
    F(clFlush)                      \
    F(clFinish)

#define HK_OPENCL_MEMBER(name) decltype(&::name) name;
    HK_OPENCL_FUNCTIONS(HK_OPENCL_MEMBER)
#undef HK_OPENCL_MEMBER

    bool load() {
#define HK_OPENCL_LOAD(name) resolve(opencl_symbol, #name, this->name) &&
        return HK_OPENCL_FUNCTIONS(HK_OPENCL_LOAD) true;
#undef HK_OPENCL_LOAD
    }
};

// "CL_OUT_OF_RESOURCES", or the number of a status without a name here.
std::string opencl_error_name(cl_int status);

// Whether a status tells of exhausted memory.
bool is_out_of_memory(cl_int status) noexcept;

}  // namespace hk::detail
