#pragma once
// The output's pixels as one line, for kernels that take them so: they find a pixel's place in its
// image by the sizes that these arguments are.

#include <array>
#include <cstdint>
#include <string_view>

#include "convolution/operands.h"
#include "kernel_arguments.h"

namespace hk::detail {

// Of nhwc: whether these begin at multiples of 16 bytes, as do their pixels, rows and filters.
bool is_aligned(const Conv2dProblem &problem, std::initializer_list<const BufferView *> all);
// At multiples of how many bytes, 16 at most, these begin, and their pixels and rows; of nchw, rows
// and planes. 0 where groups and channels of a group, or columns of nchw, are not next to each
// other.
int64_t image_alignment(const Conv2dProblem &problem,
                        std::initializer_list<const BufferView *> images);
// The same of outputs: their pixels and rows, of nchw their planes. 0 where those are no lines.
int64_t output_alignment(const Conv2dProblem &problem,
                         std::initializer_list<const BufferView *> outputs);

// Whether pixels of these are evenly spaced over rows and images, of nchw over rows.
bool is_line(const Conv2dProblem &problem, std::initializer_list<const BufferView *> images);

// Whether the kernel takes them as one. Whether it only counts them as one, and takes images.
inline bool takes_line(const KernelInfo &kernel) { return takes_on_cuda(kernel, "columns"); }
inline bool counts_line(const KernelInfo &kernel) {
    return takes_on_cuda(kernel, "columns_multiplier") && !takes_line(kernel);
}

// Of nchw on a CPU: whether the kernel takes planes as lines of pixels.
inline bool takes_planes(const KernelInfo &kernel) {
    const std::string_view algorithm = kernel.algorithm;
    return algorithm == "depthwise_planes" || algorithm == "packed_panels";
}

// A kernel divides by it so: q = x * multiplier >> shift, for x from 0 to 2^31 - 1 (Granlund and
// Montgomery 1994, "Division by invariant integers using multiplication").
struct Divisor {
    explicit Divisor(int64_t value);

    int32_t value;
    uint32_t multiplier;
    int32_t shift;
};

// The columns and rows of planes, of which lines are made.
class Planes {
public:
    // Makes one of the columns and rows of images, x. Columns must be next to each other, and rows
    // (is_line). What stands for an absent residual becomes the output's first plane, as a line.
    static Planes join(std::initializer_list<BufferView *> images);

    std::array<NamedArgument, 2> named() const {
        return {{{"columns", columns_}, {"rows", rows_}}};
    }

private:
    int32_t columns_ = 0, rows_ = 0;
};

class Line {
public:
    // Makes one of the pixels of images, x; of nchw, of those of each plane.
    static Line join(std::initializer_list<BufferView *> images, Layout layout = Layout::nhwc);
    explicit Line(const BufferView &image, Layout layout = Layout::nhwc);

    // Of a kernel that takes it, and of one that counts it, which knows the sizes.
    std::array<NamedArgument, 6> named() const;
    std::array<NamedArgument, 4> divisors() const;

private:
    Divisor columns_, rows_;
};

}  // namespace hk::detail
