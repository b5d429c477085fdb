#pragma once
// Tensors as kernels see them: a halide_buffer_t over a view of a tensor's storage.

#include <array>
#include <vector>

#include "HalideRuntime.h"
#include "hk/tensor.h"

namespace hk::detail {

struct Dim {
    int64_t extent = 1, stride = 1;  // stride in elements
};

// Dimensions innermost first, as Halide counts them.
struct BufferView {
    Tensor tensor;  // whose storage and first element the view has
    std::vector<Dim> dims;
};

// Throws InvalidArgument where a size, stride or the whole view does not fit the 32-bit arithmetic
// of kernels.
void check_fits_kernel(const char *operation, const char *operand, const BufferView &view);

// A view as an argument of a kernel, for one call. Driver objects that it needs end with it.
//
// OpenCL lets a kernel's buffer start only at certain bytes, and not reach back from there. A view
// that does otherwise is staged: the kernel runs over a packed copy, which finish() copies back
// where the kernel has written to it. That is on the library's own queue only; on a caller's it is
// InvalidArgument.
class KernelBuffer {
public:
    enum class Use { read, write, absent };
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
    static constexpr int kMaxRank = 8;

    BufferView passed_;  // what the kernel gets
    Tensor target_;      // what a staged output is copied to
    halide_buffer_t buffer_{};
    std::array<halide_dimension_t, kMaxRank> dims_{};
};

// Fills a buffer over host memory or a driver's object; ends it.
void open_buffer(const BufferView &view, halide_buffer_t &buffer, halide_dimension_t *dims);
void close_buffer(halide_buffer_t &buffer, Device device) noexcept;

}  // namespace hk::detail
