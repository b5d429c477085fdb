#include "opencl_driver.h"

#include <dlfcn.h>

#include <atomic>

namespace hk::detail {

namespace {

std::atomic<SymbolLookup> stand_in{nullptr};

}  // namespace

void *opencl_symbol(const char *name) noexcept {
    if (const SymbolLookup lookup = stand_in.load()) return lookup(name);
    static void *library = open_library({"libOpenCL.so.1", "libOpenCL.so"});
    return library ? dlsym(library, name) : nullptr;
}

void set_opencl_driver(SymbolLookup lookup) noexcept { stand_in = lookup; }

std::string opencl_error_name(cl_int status) {
    switch (status) {
        case CL_DEVICE_NOT_FOUND:
            return "CL_DEVICE_NOT_FOUND";
        case CL_DEVICE_NOT_AVAILABLE:
            return "CL_DEVICE_NOT_AVAILABLE";
        case CL_MEM_OBJECT_ALLOCATION_FAILURE:
            return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
        case CL_OUT_OF_RESOURCES:
            return "CL_OUT_OF_RESOURCES";
        case CL_OUT_OF_HOST_MEMORY:
            return "CL_OUT_OF_HOST_MEMORY";
        case CL_MEM_COPY_OVERLAP:
            return "CL_MEM_COPY_OVERLAP";
        case CL_INVALID_VALUE:
            return "CL_INVALID_VALUE";
        case CL_INVALID_DEVICE:
            return "CL_INVALID_DEVICE";
        case CL_INVALID_CONTEXT:
            return "CL_INVALID_CONTEXT";
        case CL_INVALID_COMMAND_QUEUE:
            return "CL_INVALID_COMMAND_QUEUE";
        case CL_INVALID_MEM_OBJECT:
            return "CL_INVALID_MEM_OBJECT";
        case CL_INVALID_BUFFER_SIZE:
            return "CL_INVALID_BUFFER_SIZE";
        default:
            return "OpenCL error " + std::to_string(status);
    }
}

bool is_out_of_memory(cl_int status) noexcept {
    return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
           status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_BUFFER_SIZE;
}

}  // namespace hk::detail
