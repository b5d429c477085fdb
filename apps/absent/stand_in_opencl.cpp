// OpenCL's loader, with one platform. Its functions return a status, 0 for success, or the handle
// of what they make.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "stand_in_driver.h"

namespace hk::absent {

namespace {

cl_int succeed() { return CL_SUCCESS; }

// Any handle that is not null.
template<typename Handle>
Handle handle() {
    static char place;
    return reinterpret_cast<Handle>(&place);
}

template<typename Handle>
Handle made(cl_int *status) {
    if (status) *status = CL_SUCCESS;
    return handle<Handle>();
}

// As the clGet…Info functions return values.
cl_int tell(const void *value, size_t bytes, size_t room, void *where, size_t *told) {
    if (where) std::memcpy(where, value, std::min(bytes, room));
    if (told) *told = bytes;
    return CL_SUCCESS;
}

template<typename Value>
cl_int tell_value(Value value, size_t room, void *where, size_t *told) {
    return tell(&value, sizeof value, room, where, told);
}

cl_int platforms(cl_uint room, cl_platform_id *ids, cl_uint *count) {
    if (ids && room > 0) *ids = handle<cl_platform_id>();
    if (count) *count = 1;
    return CL_SUCCESS;
}

cl_int devices(cl_platform_id, cl_device_type, cl_uint room, cl_device_id *ids, cl_uint *count) {
    if (ids && room > 0) *ids = handle<cl_device_id>();
    if (count) *count = 1;
    return CL_SUCCESS;
}

cl_int device_info(cl_device_id, cl_device_info which, size_t room, void *where, size_t *told) {
    constexpr char version[] = "OpenCL 1.2 stand-in", name[] = "nothing is run";
    switch (which) {
        case CL_DEVICE_AVAILABLE:
        case CL_DEVICE_COMPILER_AVAILABLE:
            return tell_value(cl_bool{CL_TRUE}, room, where, told);
        case CL_DEVICE_LOCAL_MEM_SIZE:
            return tell_value(static_cast<cl_ulong>(told_limits.shared_bytes), room, where, told);
        case CL_DEVICE_MAX_WORK_GROUP_SIZE:
            return tell_value(static_cast<size_t>(told_limits.threads), room, where, told);
        case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
            return tell_value(cl_uint{1024}, room, where, told);
        case CL_DEVICE_VERSION:
            return tell(version, sizeof version, room, where, told);
        case CL_DEVICE_NAME:
            return tell(name, sizeof name, room, where, told);
        case CL_DEVICE_EXTENSIONS:
            return tell("", 1, room, where, told);
        default:  // numbers are 1
            if (where) std::memset(where, 0, room);
            return tell_value(cl_uchar{1}, room, where, told);
    }
}

cl_int context_info(cl_context, cl_context_info which, size_t room, void *where, size_t *told) {
    if (which == CL_CONTEXT_DEVICES) return tell_value(handle<cl_device_id>(), room, where, told);
    return tell_value(cl_uint{1}, room, where, told);
}

cl_int queue_info(cl_command_queue, cl_command_queue_info, size_t room, void *where, size_t *told) {
    return tell_value(handle<cl_context>(), room, where, told);
}

cl_int memory_info(cl_mem, cl_mem_info, size_t room, void *where, size_t *told) {
    return tell_value(handle<cl_context>(), room, where, told);
}

cl_int event_info(cl_event, cl_event_info, size_t room, void *where, size_t *told) {
    return tell_value(cl_int{CL_COMPLETE}, room, where, told);
}

cl_int build_info(cl_program, cl_device_id, cl_program_build_info, size_t room, void *where,
                  size_t *told) {
    if (where) std::memset(where, 0, room);
    return tell("", 1, room, where, told);
}

cl_int marker(cl_command_queue, cl_uint, const cl_event *, cl_event *event) {
    if (event) *event = handle<cl_event>();
    return CL_SUCCESS;
}

cl_context make_context(const cl_context_properties *, cl_uint, const cl_device_id *,
                        void (*)(const char *, const void *, size_t, void *), void *,
                        cl_int *status) {
    return made<cl_context>(status);
}

cl_command_queue make_queue(cl_context, cl_device_id, cl_command_queue_properties, cl_int *status) {
    return made<cl_command_queue>(status);
}

// Each its own: the library asks whether two tensors overlap.
cl_mem make_buffer(cl_context, cl_mem_flags, size_t, void *, cl_int *status) {
    static uintptr_t next = uintptr_t{1} << 40;
    if (status) *status = CL_SUCCESS;
    return reinterpret_cast<cl_mem>(next += 512);
}

cl_mem make_part(cl_mem, cl_mem_flags, cl_buffer_create_type, const void *, cl_int *status) {
    return made<cl_mem>(status);
}

cl_program make_program(cl_context, cl_uint, const char **, const size_t *, cl_int *status) {
    return made<cl_program>(status);
}

cl_kernel make_kernel(cl_program, const char *, cl_int *status) { return made<cl_kernel>(status); }

}  // namespace

void *stand_in_opencl(const char *name) {
    struct Entry {
        std::string_view name;
        void *function;
    };
    static const Entry entries[] = {
        {"clGetPlatformIDs", reinterpret_cast<void *>(platforms)},
        {"clGetDeviceIDs", reinterpret_cast<void *>(devices)},
        {"clGetDeviceInfo", reinterpret_cast<void *>(device_info)},
        {"clGetContextInfo", reinterpret_cast<void *>(context_info)},
        {"clGetCommandQueueInfo", reinterpret_cast<void *>(queue_info)},
        {"clGetMemObjectInfo", reinterpret_cast<void *>(memory_info)},
        {"clGetEventInfo", reinterpret_cast<void *>(event_info)},
        {"clGetProgramBuildInfo", reinterpret_cast<void *>(build_info)},
        {"clEnqueueMarkerWithWaitList", reinterpret_cast<void *>(marker)},
        {"clCreateContext", reinterpret_cast<void *>(make_context)},
        {"clCreateCommandQueue", reinterpret_cast<void *>(make_queue)},
        {"clCreateBuffer", reinterpret_cast<void *>(make_buffer)},
        {"clCreateSubBuffer", reinterpret_cast<void *>(make_part)},
        {"clCreateProgramWithSource", reinterpret_cast<void *>(make_program)},
        {"clCreateKernel", reinterpret_cast<void *>(make_kernel)},
    };
    for (const Entry &entry : entries) {
        if (entry.name == name) return entry.function;
    }
    return reinterpret_cast<void *>(succeed);
}

}  // namespace hk::absent
