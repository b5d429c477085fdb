#include "kernel_buffer.h"

#include <algorithm>
#include <limits>

#include "HalideRuntimeCuda.h"
#include "HalideRuntimeOpenCL.h"
#include "call_context.h"
#include "hk/error.h"
#include "rethrow.h"
#include "storage.h"

namespace hk::detail {

namespace {

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();

halide_type_t type_of(DataType type) {
    const auto bits = static_cast<uint8_t>(8 * size_of(type));
    switch (type) {
        case DataType::f32:
        case DataType::f16:
        case DataType::f64:
            return {halide_type_float, bits};
        case DataType::bf16:
            return {halide_type_bfloat, bits};
        case DataType::s8:
        case DataType::s16:
        case DataType::s32:
        case DataType::s64:
            return {halide_type_int, bits};
        default:
            return {halide_type_uint, bits};
    }
}

// Bytes that the view reaches back from its first element.
int64_t reach_back(const BufferView &view) {
    int64_t elements = 0;
    for (const Dim &dim : view.dims)
        elements += std::min<int64_t>((dim.extent - 1) * dim.stride, 0);
    return -elements * size_of(view.type);
}

// A crop's device handle is a driver object of Halide's runtime, which counts in 32 bits: the
// offset is given in two dimensions.
void open_opencl(const BufferView &view, halide_buffer_t &buffer) {
    constexpr int64_t kRow = int64_t{1} << 30;
    const int64_t offset = view.offset;
    CallContext context(view.device());
    const auto memory = reinterpret_cast<uint64_t>(view.storage->memory);
    halide_dimension_t whole_dims[2] = {{0, 1, 1, 0}, {0, 1, static_cast<int32_t>(kRow), 0}};
    halide_dimension_t crop_dims[2] = {
        {static_cast<int32_t>(offset % kRow), 1, 1, 0},
        {static_cast<int32_t>(offset / kRow), 1, static_cast<int32_t>(kRow), 0}};
    halide_buffer_t whole{}, crop{};
    whole.type = crop.type = buffer.type;
    whole.dimensions = crop.dimensions = 2;
    whole.dim = whole_dims;
    crop.dim = crop_dims;
    int status = halide_opencl_wrap_cl_mem(&context, &whole, memory);
    if (status == 0 && offset == 0) {
        crop = whole;
    } else if (status == 0) {
        status = halide_device_crop(&context, &whole, &crop);
        halide_opencl_detach_cl_mem(&context, &whole);
    }
    if (status) throw OutOfMemory("opencl: no memory for a view of a buffer");
    buffer.device = crop.device;
    buffer.device_interface = crop.device_interface;
}

void open_cuda(const BufferView &view, halide_buffer_t &buffer) {
    const auto memory = reinterpret_cast<uint64_t>(view.storage->memory);
    const auto offset = static_cast<uint64_t>(view.byte_offset());
    CallContext context(view.device());
    if (halide_cuda_wrap_device_ptr(&context, &buffer, memory + offset)) {
        throw DeviceError("cuda: a view of a buffer can't be made");
    }
}

bool staging_needed(const BufferView &view, const KernelBuffer::Role &role) {
    const Device device = view.device();
    if (device.is_cpu() || role.use == KernelBuffer::Use::absent) return false;
    const int64_t offset = view.byte_offset();
    Backend &backend = require(device);
    if (backend.addressable(device.index(), offset, reach_back(view))) return false;
    if (role.own_queue) return true;
    throw InvalidArgument(std::string(role.operation) + ": " + role.operand + " starts at byte " +
                          std::to_string(offset) + " of its buffer and reaches back " +
                          std::to_string(reach_back(view)) + "; on a caller's queue " +
                          device.name() + " needs " + backend.addressing(device.index()));
}

// The view as a tensor, outermost first.
Tensor as_tensor(const BufferView &view) {
    Shape shape, strides;
    for (size_t i = view.dims.size(); i-- > 0;) {
        shape.push_back(view.dims[i].extent);
        strides.push_back(view.dims[i].stride);
    }
    return Tensor::Access::make(view.storage, view.type, std::move(shape), std::move(strides),
                                view.offset);
}

}  // namespace

void check_fits_kernel(const char *operation, const char *operand, const BufferView &view) {
    const auto check = [&](int64_t value, const char *what) {
        if (value <= kMax && value >= -kMax) return;
        throw InvalidArgument(std::string(operation) + ": " + operand + " " + what + " " +
                              std::to_string(value) + ", a kernel takes at most " +
                              std::to_string(kMax));
    };
    const auto check_count = [&](__int128 value, const char *what) {
        const __int128 limit = std::numeric_limits<int64_t>::max();
        check(static_cast<int64_t>(std::min(value, limit)), what);
    };
    // In 128 bits: a single stride may be close to the end of 64. Kernels multiply all sizes, and
    // each size with its stride, whatever there is between two elements.
    __int128 reach = size_of(view.type), elements = 1, longest = 0;
    for (const Dim &dim : view.dims) {
        check(dim.extent, "has the size");
        check(dim.stride, "has the stride");
        const __int128 step = dim.stride < 0 ? -dim.stride : dim.stride;
        reach += step * (dim.extent - 1) * size_of(view.type);
        elements = std::min<__int128>(elements * dim.extent, int64_t{1} << 62);
        longest = std::max(longest, step * dim.extent);
    }
    check_count(reach, "spans this many bytes:");
    check_count(elements, "has this many elements, repeated ones counted:");
    check_count(longest, "has a size whose product with its stride is");
}

BufferView::BufferView(const Tensor &tensor, const Dims &dims)
    : storage(Tensor::Access::shared(tensor)),
      type(tensor.type()),
      offset(tensor.offset()),
      dims(dims) {}

Device BufferView::device() const { return storage->device; }

void open_buffer(const BufferView &view, halide_buffer_t &buffer, halide_dimension_t *dims) {
    buffer = {};
    buffer.type = type_of(view.type);
    buffer.dimensions = static_cast<int32_t>(view.dims.size());
    buffer.dim = dims;
    for (size_t i = 0; i < view.dims.size(); i++) {
        dims[i] = {0, static_cast<int32_t>(view.dims[i].extent),
                   static_cast<int32_t>(view.dims[i].stride), 0};
    }
    switch (view.device().type()) {
        case DeviceType::cpu:
            buffer.host = static_cast<uint8_t *>(view.storage->memory) + view.byte_offset();
            break;
        case DeviceType::cuda:
            open_cuda(view, buffer);
            break;
        case DeviceType::opencl:
            open_opencl(view, buffer);
            break;
    }
}

void close_buffer(halide_buffer_t &buffer, Device device) noexcept {
    if (!buffer.device) return;
    CallContext context(device);
    if (buffer.device_interface == halide_cuda_device_interface()) {
        halide_cuda_detach_device_ptr(&context, &buffer);
    } else if (halide_opencl_get_crop_offset(&context, &buffer) == 0) {
        halide_opencl_detach_cl_mem(&context, &buffer);
    } else {
        halide_device_release_crop(&context, &buffer);
    }
}

KernelBuffer::KernelBuffer(const BufferView &view, const Role &role) : passed_(view) {
    if (staging_needed(view, role)) {
        const Tensor whole = as_tensor(view);
        if (role.use != Use::read) target_ = whole;
        copy_ = role.use == Use::write ? Tensor(whole.shape(), whole.type(), whole.device())
                                       : whole.to(whole.device());
        Tensor::Access::storage(copy_).order_own_queue();
        passed_ = BufferView(copy_, view.dims);
        const Shape &strides = copy_.strides();
        for (size_t i = 0; i < strides.size(); i++) {
            passed_.dims[i].stride = strides[strides.size() - 1 - i];
        }
    }
    open_buffer(passed_, buffer_, dims_.data());
}

KernelBuffer::~KernelBuffer() { close_buffer(buffer_, passed_.device()); }

void KernelBuffer::finish() {
    if (target_.defined()) target_.copy_from(copy_);
}

bool begins_at_multiple(const BufferView &view, int64_t bytes) {
    const bool is_pointer = view.storage && view.device().type() != DeviceType::opencl;
    const auto start = is_pointer ? reinterpret_cast<intptr_t>(view.storage->memory) : 0;
    return (start + view.byte_offset()) % bytes == 0;
}

void canonicalise(Dims &dims) {
    int64_t stride = 1;
    for (Dim &dim : dims) {
        if (dim.extent == 1) dim.stride = stride;
        if (__builtin_mul_overflow(dim.stride, dim.extent, &stride) ||
            stride > std::numeric_limits<int32_t>::max() || stride < 0) {
            stride = 0;
        }
    }
}

}  // namespace hk::detail

namespace hk {

void Tensor::halide_view(halide_buffer_t &view, halide_dimension_t *dims) const try {
    if (!defined()) throw InvalidArgument("halide_view: the tensor is undefined");
    if (shape_.size() > detail::Dims::kMost) {
        throw InvalidArgument("halide_view: the tensor has " + std::to_string(rank()) +
                              " dimensions, a kernel takes at most " +
                              std::to_string(detail::Dims::kMost));
    }
    detail::BufferView buffer(*this, {});
    for (size_t i = shape_.size(); i-- > 0;) buffer.dims.push_back({shape_[i], strides_[i]});
    detail::check_fits_kernel("halide_view", "the tensor", buffer);
    storage_->order_own_queue();
    detail::open_buffer(buffer, view, dims);
} catch (...) {
    detail::rethrow_as_error("halide_view");
}

void Tensor::release_halide_view(halide_buffer_t &view) noexcept {
    detail::close_buffer(view, Device::opencl(0));
}

}  // namespace hk
