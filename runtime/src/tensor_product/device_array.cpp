#include "tensor_product/device_array.h"

#include "HalideRuntimeCuda.h"
#include "HalideRuntimeOpenCL.h"
#include "kernel_call.h"

namespace hk::detail {

DeviceArray::DeviceArray(const char *operation, const KernelInfo &kernel,
                         const CallContext &context, const int32_t *host, int64_t inner,
                         int64_t outer)
    : context_(context.device, context.stream) {
    dims_[0] = {0, static_cast<int32_t>(inner), 1, 0};
    dims_[1] = {0, static_cast<int32_t>(outer), static_cast<int32_t>(inner), 0};
    buffer_.type = {halide_type_int, 32};
    buffer_.dimensions = outer > 0 ? 2 : 1;
    buffer_.dim = dims_.data();
    buffer_.host = reinterpret_cast<uint8_t *>(const_cast<int32_t *>(host));
    buffer_.set_host_dirty();
    const halide_device_interface_t *interface = context.device.type() == DeviceType::cuda
                                                     ? halide_cuda_device_interface()
                                                     : halide_opencl_device_interface();
    if (const int status = halide_copy_to_device(&context_, &buffer_, interface)) {
        halide_device_free(&context_, &buffer_);
        throw_failure(operation, kernel, context.device, status, context_.message());
    }
    buffer_.host = nullptr;
}

DeviceArray::~DeviceArray() { halide_device_free(&context_, &buffer_); }

}  // namespace hk::detail
