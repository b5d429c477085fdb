#pragma once
// The parts of sums of kernels whose blocks have one each, of few tiles of outputs
// (generators/conv2d/conv2d.h, ProductForm).

#include <cstdint>

#include "convolution/operands.h"
#include "kernel_arguments.h"

namespace hk::detail {

// Of a convolution, or of the one that a gradient is.
struct SumSizes {
    __int128 pixels;          // of the output
    int64_t filters, groups;  // filters of a group
    int64_t channels, taps;   // of a group; of a filter
    DataType type;
    bool on_units;  // by tensor cores
};
SumSizes sum_sizes(const Conv2dProblem &problem);           // of a convolution
SumSizes gradient_sum_sizes(const Conv2dProblem &problem);  // of the gradient of its input

// Whether the kernel takes how many parts its sums have.
inline bool takes_parts(const KernelInfo &kernel) { return takes_on_cuda(kernel, "parts"); }

// As many as are fastest, 16 at most, or 32 of multiply-adds, by a model of an H100 that was fitted
// to measured layers: one, where parts gain less than an eighth. They depend on sizes alone, and so
// does the order of the sum.
class SumParts {
public:
    explicit SumParts(const SumSizes &sizes);

    int64_t count() const { return parts_; }
    std::array<NamedArgument, 2> named() const;

private:
    int64_t slices_, parts_;  // of a part; of a sum
};

}  // namespace hk::detail
