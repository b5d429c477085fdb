#pragma once
// The output's pixels as one line, for kernels that take them so: they find a pixel's place in its
// image by the sizes that these arguments are.

#include <array>
#include <cstdint>

#include "convolution/operands.h"
#include "kernel_arguments.h"

namespace hk::detail {

// Of nhwc: whether these begin at multiples of 16 bytes, as do their pixels, rows and filters.
bool is_aligned(const Conv2dProblem &problem, std::initializer_list<const BufferView *> all);

// Of nhwc: whether pixels of these are evenly spaced over rows and images.
bool is_line(const Conv2dProblem &problem, std::initializer_list<const BufferView *> images);

// Whether the kernel takes them as one. Whether it only counts them as one, and takes images.
inline bool takes_line(const KernelInfo &kernel) { return takes_on_cuda(kernel, "columns"); }
inline bool counts_line(const KernelInfo &kernel) {
    return takes_on_cuda(kernel, "columns_multiplier") && !takes_line(kernel);
}

// A kernel divides by it so: q = x * multiplier >> shift, for x from 0 to 2^31 - 1 (Granlund and
// Montgomery 1994, "Division by invariant integers using multiplication").
struct Divisor {
    explicit Divisor(int64_t value);

    int32_t value;
    uint32_t multiplier;
    int32_t shift;
};

class Line {
public:
    // Makes one of the pixels of images, x.
    static Line join(std::initializer_list<BufferView *> images);
    explicit Line(const BufferView &image, Layout layout = Layout::nhwc);

    // Of a kernel that takes it, and of one that counts it, which knows the sizes.
    std::array<NamedArgument, 6> named() const;
    std::array<NamedArgument, 4> divisors() const;

private:
    Divisor columns_, rows_;
};

}  // namespace hk::detail
