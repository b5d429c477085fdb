#pragma once
// The parts of sums of kernels whose blocks have one each, of few tiles of outputs
// (generators/conv2d/conv2d.h, ProductForm).

#include <cstdint>

#include "convolution/operands.h"
#include "kernel_arguments.h"

namespace hk::detail {

// Of a convolution, or of the one that a gradient is.
struct SumSizes {
    int64_t pixels, filters, groups;  // of the output, of a group
    int64_t channels, taps;           // of a group; of a filter
    DataType type;
};
SumSizes sum_sizes(const Conv2dProblem &problem);  // of a convolution

// Whether the kernel takes how many parts its sums have.
inline bool takes_parts(const KernelInfo &kernel) { return takes_on_cuda(kernel, "parts"); }

// As many as give some 528 blocks, four on each multiprocessor of an H100, but of at least eight
// steps each, and at most 16. They depend on sizes alone, and so does the order of the sum.
class SumParts {
public:
    explicit SumParts(const SumSizes &sizes);

    std::array<NamedArgument, 2> named() const;

private:
    int64_t slices_, parts_;  // of a part; of a sum
};

}  // namespace hk::detail
