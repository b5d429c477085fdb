#include "topk/gpu_memory.h"

#include <limits>

#include "HalideRuntimeCuda.h"
#include "HalideRuntimeOpenCL.h"
#include "hk/error.h"
#include "kernel_call.h"

namespace hk::detail {

TopKScratch::TopKScratch(const KernelInfo &kernel, CallContext &context, halide_type_t type,
                         const Extents &extents)
    : context_(context) {
    int64_t stride = 1;
    for (size_t d = 0; d < extents.size(); d++) {
        dims_[d] = {0, static_cast<int32_t>(extents[d]), static_cast<int32_t>(stride), 0};
        stride *= extents[d];
    }
    if (stride * type.bytes() > std::numeric_limits<int32_t>::max()) {
        throw InvalidArgument("topk: kernel " + std::string(kernel.name) + " writes " +
                              std::to_string(stride) + " items of " + std::to_string(type.bytes()) +
                              " bytes, a kernel takes at most " +
                              std::to_string(std::numeric_limits<int32_t>::max()) + " bytes");
    }
    buffer_.type = type;
    buffer_.dimensions = static_cast<int32_t>(dims_.size());
    buffer_.dim = dims_.data();
    const halide_device_interface_t *interface = context.device.type() == DeviceType::cuda
                                                     ? halide_cuda_device_interface()
                                                     : halide_opencl_device_interface();
    if (const int status = halide_device_malloc(&context, &buffer_, interface)) {
        throw_failure("topk", kernel, context.device, status, context.message());
    }
}

TopKScratch::~TopKScratch() { halide_device_free(&context_, &buffer_); }

TopKListView::TopKListView(TopKScratch &items, int64_t places) : buffer_(*items.get()) {
    const halide_dimension_t *all = items.get()->dim;
    dims_ = {halide_dimension_t{0, static_cast<int32_t>(places), 1, 0}, all[2], all[3]};
    buffer_.dimensions = static_cast<int32_t>(dims_.size());
    buffer_.dim = dims_.data();
}

TopKListView TopKListView::unused(TopKScratch &items) {
    TopKListView view(items, 1);
    view.buffer_.type = halide_type_t{halide_type_int, 32};
    for (size_t d : {1, 2}) view.dims_[d].stride = 0;
    return view;
}

}  // namespace hk::detail
