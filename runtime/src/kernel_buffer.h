#pragma once
// Tensors as kernels see them: a halide_buffer_t over a view of a tensor's storage.

#include <array>
#include <initializer_list>
#include <memory>

#include "HalideRuntime.h"
#include "hk/tensor.h"

namespace hk::detail {

struct Dim {
    int64_t extent = 1, stride = 1;  // stride in elements
};

// Up to kMost dimensions, innermost first, as Halide counts them. Without memory of its own: views
// are made in every call.
class Dims {
public:
    static constexpr size_t kMost = 8;

    Dims() = default;
    Dims(std::initializer_list<Dim> dims) {
        for (const Dim &dim : dims) push_back(dim);
    }
    void push_back(const Dim &dim) { dims_.at(size_++) = dim; }
    size_t size() const { return size_; }
    Dim &operator[](size_t i) { return dims_[i]; }
    const Dim &operator[](size_t i) const { return dims_[i]; }
    Dim *begin() { return dims_.data(); }
    Dim *end() { return dims_.data() + size_; }
    const Dim *begin() const { return dims_.data(); }
    const Dim *end() const { return dims_.data() + size_; }

private:
    std::array<Dim, kMost> dims_;
    size_t size_ = 0;
};

// A dimension of size 1 gets the stride that it has in a packed tensor: kernels ask for a stride of
// 1 innermost, whatever the size.
void canonicalise(Dims &dims);

// A view of storage; its first element is `offset` elements from the start.
struct BufferView {
    BufferView() = default;
    BufferView(const Tensor &tensor, const Dims &dims);

    Device device() const;
    int64_t byte_offset() const { return offset * size_of(type); }

    std::shared_ptr<Tensor::Storage> storage;
    DataType type = DataType::f32;
    int64_t offset = 0;
    Dims dims;
};

// Whether its first element's address is a multiple of so many bytes. What OpenCL's memory starts with
// is taken for one.
bool begins_at_multiple(const BufferView &view, int64_t bytes);

// Throws InvalidArgument where a size, a stride or the whole view, in bytes or in elements, does
// not fit the 32-bit arithmetic of kernels. Elements that a stride of 0 repeats count.
void check_fits_kernel(const char *operation, const char *operand, const BufferView &view);

// A view as an argument of a kernel, for one call. Driver objects that it needs end with it.
//
// OpenCL lets a kernel's buffer start only at certain bytes, and not reach back from there. A view
// that does otherwise is staged: the kernel runs over a packed copy, which finish() copies back
// where the kernel has written to it. That is on the library's own queue only; on a caller's it is
// InvalidArgument.
class KernelBuffer {
public:
    enum class Use { read, write, update, absent };
    struct Role {
        const char *operation, *operand;  // for messages
        Use use;
        bool own_queue;
    };

    KernelBuffer(const BufferView &view, const Role &role);
    ~KernelBuffer();
    KernelBuffer(const KernelBuffer &) = delete;
    KernelBuffer &operator=(const KernelBuffer &) = delete;

    halide_buffer_t *get() { return &buffer_; }
    void finish();

private:
    BufferView passed_;     // what the kernel gets
    Tensor copy_, target_;  // of a staged view: what it lies in, what an output is copied to
    halide_buffer_t buffer_{};
    std::array<halide_dimension_t, Dims::kMost> dims_{};
};

// Fills a buffer over host memory or a driver's object; ends it.
void open_buffer(const BufferView &view, halide_buffer_t &buffer, halide_dimension_t *dims);
void close_buffer(halide_buffer_t &buffer, Device device) noexcept;

}  // namespace hk::detail
