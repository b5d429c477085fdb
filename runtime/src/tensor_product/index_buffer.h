#pragma once
// Packed s32 on the host as a kernel's argument. It borrows the memory.

#include "HalideRuntime.h"

namespace hk::detail {

class IndexBuffer {
public:
    IndexBuffer() = default;
    IndexBuffer(int32_t *data, int64_t inner) : IndexBuffer(data, inner, 1, 1) {}
    IndexBuffer(int32_t *data, int64_t inner, int64_t outer) : IndexBuffer(data, inner, outer, 2) {}
    IndexBuffer(const IndexBuffer &other) : buffer_(other.buffer_) {
        dims_[0] = other.dims_[0];
        dims_[1] = other.dims_[1];
        buffer_.dim = dims_;
    }
    IndexBuffer &operator=(const IndexBuffer &) = delete;

    halide_buffer_t *get() { return &buffer_; }

private:
    IndexBuffer(int32_t *data, int64_t inner, int64_t outer, int32_t dimensions) {
        dims_[0] = {0, static_cast<int32_t>(inner), 1, 0};
        dims_[1] = {0, static_cast<int32_t>(outer), static_cast<int32_t>(inner), 0};
        buffer_.type = {halide_type_int, 32};
        buffer_.host = reinterpret_cast<uint8_t *>(data);
        buffer_.dimensions = dimensions;
        buffer_.dim = dims_;
    }

    halide_buffer_t buffer_{};
    halide_dimension_t dims_[2]{};
};

}  // namespace hk::detail
