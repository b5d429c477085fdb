#include "convolution/prepared_filter.h"

#include "convolution/channels_last.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "rethrow.h"

namespace hk {

namespace detail {

namespace {

// A 1x1 filter of nchw whose channels are adjacent is one of nhwc.
Layout simplest_layout(Layout layout, BufferView &weight) {
    const Dims d = weight.dims;
    if (layout != Layout::nchw || d[0].extent != 1 || d[1].extent != 1 || d[2].stride != 1) {
        return layout;
    }
    weight.dims = {d[2], d[0], d[1], d[3], d[4]};
    return Layout::nhwc;
}

}  // namespace

FilterSizes::FilterSizes(const Conv2dProblem &problem)
    : groups(problem.options.groups),
      channels(problem.channels / groups),
      filters(problem.filters / groups),
      width(problem.kernel_width),
      height(problem.kernel_height),
      blocks((filters + kFilterBlock - 1) / kFilterBlock) {}

Packing packing_of(const char *operation, std::span<const KernelInfo> kernels,
                   std::string_view algorithm, const Conv2dOperands &operands) {
    BufferView weight = operands.weight;
    const Layout layout = simplest_layout(operands.problem.options.layout, weight);
    for (const KernelInfo &kernel : kernels) {
        if (kernel.algorithm == algorithm && kernel.type == weight.type && kernel.layout == layout)
            return {kernel, weight};
    }
    throw KernelFailure(std::string(operation) + ": the library has no kernel that packs " +
                        std::string(name_of(weight.type)));
}

BufferView pack_filter(const char *operation, const Packing &packing,
                       std::initializer_list<int64_t> extents, DataType type) {
    Dims dims;
    int64_t size = 1;
    for (const int64_t extent : extents) {
        dims.push_back({extent, size});
        size *= extent;
    }
    const BufferView target(Tensor({size}, type), dims);
    check_fits_kernel(operation, "weight", target);
    KernelBuffer weight(packing.weight, {operation, "weight", KernelBuffer::Use::read, true});
    KernelBuffer packed(target, {operation, "packed weight", KernelBuffer::Use::write, true});
    CallContext context(Device::cpu());
    call_kernel(context, KernelArguments(operation, packing.kernel)
                             .add({{"weight", weight}, {"packed", packed}}));
    return target;
}

}  // namespace detail

Filter Filter::Prepared::channels_last() {
    const std::lock_guard lock(mutex);
    if (!last) last = prepare_filter(detail::copied_channels_last(weight));
    return *last;
}

size_t Filter::Prepared::bytes() {
    const std::lock_guard lock(mutex);
    size_t sum = last ? last->tensor().elements() * size_of(weight.type()) + last->bytes() : 0;
    for (const Kept &one : kept) {
        int64_t elements = 1;
        for (const detail::Dim &dim : one.view.dims) elements *= dim.extent;
        sum += static_cast<size_t>(elements) * size_of(one.view.type);
    }
    return sum;
}

Filter prepare_filter(const Tensor &weight) try {
    auto prepared = std::make_shared<Filter::Prepared>(weight);
    Filter filter(prepared->weight);
    filter.prepared_ = std::move(prepared);
    return filter;
} catch (...) {
    detail::rethrow_as_error("prepare_filter");
}

QuantizedFilter::QuantizedFilter(const QuantizedTensor &weight) try
    : values(weight.values), quantization(weight.quantization) {
} catch (...) {
    detail::rethrow_as_error("a quantised weight");
}

QuantizedFilter prepare_filter(const QuantizedTensor &weight) {
    QuantizedFilter filter(weight);
    filter.values = prepare_filter(weight.values);
    return filter;
}

size_t Filter::bytes() const { return prepared_ ? prepared_->bytes() : 0; }

}  // namespace hk
