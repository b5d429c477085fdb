#pragma once
// A caller of the library with a context and a queue of OpenCL of his own.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <vector>

#include "hk/tensor.h"
#include "opencl_driver.h"

namespace hk::tests {

// The functions of OpenCL that a caller would use.
struct Cl {
    Cl() {
        platforms = load<decltype(&::clGetPlatformIDs)>("clGetPlatformIDs");
        devices = load<decltype(&::clGetDeviceIDs)>("clGetDeviceIDs");
        create_context = load<decltype(&::clCreateContext)>("clCreateContext");
        create_queue = load<decltype(&::clCreateCommandQueue)>("clCreateCommandQueue");
        create_buffer = load<decltype(&::clCreateBuffer)>("clCreateBuffer");
        read = load<decltype(&::clEnqueueReadBuffer)>("clEnqueueReadBuffer");
        finish = load<decltype(&::clFinish)>("clFinish");
        context_info = load<decltype(&::clGetContextInfo)>("clGetContextInfo");
        release_memory = load<decltype(&::clReleaseMemObject)>("clReleaseMemObject");
        release_queue = load<decltype(&::clReleaseCommandQueue)>("clReleaseCommandQueue");
        release_context = load<decltype(&::clReleaseContext)>("clReleaseContext");
        cl_platform_id platform;
        platforms(1, &platform, nullptr);
        devices(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    }

    template<typename F>
    static F load(const char *name) {
        return reinterpret_cast<F>(detail::opencl_symbol(name));
    }

    decltype(&::clGetPlatformIDs) platforms;
    decltype(&::clGetDeviceIDs) devices;
    decltype(&::clCreateContext) create_context;
    decltype(&::clCreateCommandQueue) create_queue;
    decltype(&::clCreateBuffer) create_buffer;
    decltype(&::clEnqueueReadBuffer) read;
    decltype(&::clFinish) finish;
    decltype(&::clGetContextInfo) context_info;
    decltype(&::clReleaseMemObject) release_memory;
    decltype(&::clReleaseCommandQueue) release_queue;
    decltype(&::clReleaseContext) release_context;
    cl_device_id device;
};

// A caller's own context and queue.
struct Caller : Cl {
    Caller() {
        context = create_context(nullptr, 1, &device, nullptr, nullptr, nullptr);
        queue = create_queue(context, device, 0, nullptr);
    }
    ~Caller() {
        for (cl_mem buffer : buffers) release_memory(buffer);
        Device::opencl(0).forget(context);
        release_queue(queue);
        release_context(context);
    }

    // Packed elements of 16 or 32 bits.
    Tensor tensor(const Tensor &host) {
        const int64_t size = size_of(host.type());
        const auto bytes = static_cast<size_t>(host.elements() * size);
        void *const data =
            size == 2 ? static_cast<void *>(host.data<uint16_t>()) : host.data<float>();
        buffers.push_back(create_buffer(context, CL_MEM_COPY_HOST_PTR, bytes, data, nullptr));
        return Tensor::borrow(buffers.back(), host.type(), host.shape(), {}, Device::opencl(0));
    }

    cl_uint references() const {
        cl_uint count = 0;
        context_info(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr);
        return count;
    }

    cl_context context;
    cl_command_queue queue;
    std::vector<cl_mem> buffers;
};

}  // namespace hk::tests
