#pragma once
// What the steps of a top-k on a GPU hand on: lists of items in memory of the call's own.

#include <array>

#include "HalideRuntime.h"
#include "call_context.h"
#include "hk/kernel_info.h"

namespace hk::detail {

// A packed buffer of the device, [place, list, x, y], for one call.
//
// It comes from the pool of the call's own context (memory/halide_memory.h), and may go while
// kernels that use it are only queued.
class TopKScratch {
public:
    using Extents = std::array<int64_t, 4>;

    // `kernel` is named in messages. Throws InvalidArgument for more bytes than a kernel counts to,
    // OutOfMemory, DeviceError.
    TopKScratch(const KernelInfo &kernel, CallContext &context, halide_type_t type,
                const Extents &extents);
    ~TopKScratch();
    TopKScratch(const TopKScratch &) = delete;
    TopKScratch &operator=(const TopKScratch &) = delete;

    halide_buffer_t *get() { return &buffer_; }
    int64_t extent(size_t d) const { return dims_[d].extent; }

private:
    CallContext &context_;
    halide_buffer_t buffer_{};
    std::array<halide_dimension_t, 4> dims_{};
};

// A piece of it with the lists' places as one dimension, [place, x, y]; it borrows the memory.
class TopKListView {
public:
    TopKListView(TopKScratch &items, int64_t places);
    // One element, the same for all rows, that a kernel may load and makes no use of.
    static TopKListView unused(TopKScratch &items);

    TopKListView(const TopKListView &other) : buffer_(other.buffer_), dims_(other.dims_) {
        buffer_.dim = dims_.data();
    }
    TopKListView &operator=(const TopKListView &) = delete;

    halide_buffer_t *get() { return &buffer_; }

private:
    halide_buffer_t buffer_{};
    std::array<halide_dimension_t, 3> dims_{};
};

}  // namespace hk::detail
