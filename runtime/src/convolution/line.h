#pragma once
// The output's pixels as one line, for kernels that take them so: they find a pixel's place in its
// image by the sizes that these arguments are.

#include <array>
#include <cstdint>

#include "convolution/operands.h"
#include "kernel_arguments.h"

namespace hk::detail {

// Of nhwc: whether these begin at multiples of 16 bytes, as do their pixels, rows and filters, and
// pixels of `lines` are evenly spaced over rows and images.
bool is_aligned(const Conv2dProblem &problem, std::initializer_list<const BufferView *> all,
                std::initializer_list<const BufferView *> lines);

// Whether the kernel takes them as one.
inline bool takes_line(const KernelInfo &kernel) { return takes_on_cuda(kernel, "columns"); }

// Makes one of the pixels of images, x.
class Line {
public:
    explicit Line(std::initializer_list<BufferView *> images);

    std::array<NamedArgument, 6> named() const;

private:
    // q = x * multiplier >> shift, for x from 0 to 2^31 - 1 (Granlund and Montgomery 1994,
    // "Division by invariant integers using multiplication").
    struct Divisor {
        explicit Divisor(int64_t value);

        int32_t value;
        uint32_t multiplier;
        int32_t shift;
    };
    Divisor columns_, rows_;
};

}  // namespace hk::detail
