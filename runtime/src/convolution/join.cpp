#include "convolution/join.h"

#include <cstdint>
#include <limits>

namespace hk::detail {

void join(std::span<BufferView *const> views, size_t inner, size_t outer) {
    for (const BufferView *view : views) {
        const Dim &in = view->dims[inner], &out = view->dims[outer];
        int64_t extent;
        if (__builtin_mul_overflow(in.extent, out.extent, &extent) ||
            extent > std::numeric_limits<int32_t>::max()) {
            return;
        }
        const bool even = out.extent == 1 || in.extent == 1 || out.stride == in.extent * in.stride;
        if (!even) return;
        // Kernels need a stride of 1 innermost.
        if (inner == 0 && in.extent == 1 && out.extent > 1 && out.stride != 1) return;
    }
    for (BufferView *view : views) {
        Dim &in = view->dims[inner], &out = view->dims[outer];
        if (in.extent == 1) in.stride = out.stride;
        in.extent *= out.extent;
        out = {1, 0};
    }
}

}  // namespace hk::detail
