#pragma once
// Tensors of one shape as kernels that work element by element see them: [x, y, z], the dimensions
// in the order of the first tensor's strides, and those that continue one another in all tensors
// as one. Packed tensors have one dimension.

#include <array>
#include <span>
#include <vector>

#include "kernel_buffer.h"
#include "kernel_call.h"
#include "selection_cache.h"

namespace hk::detail {

struct Elementwise {
    // As many views as there are tensors; of an undefined one the first's. Several calls where
    // three dimensions don't do, or a tensor is larger than kernels count.
    static constexpr size_t kMostTensors = 3;
    using Call = std::array<BufferView, kMostTensors>;

    bool adjacent = true;  // whether elements along x lie next to each other in all tensors
    bool packed = true;    // and there is one run of them
    std::vector<Call> calls;
};

// Of tensors with elements, the first defined.
Elementwise elementwise(std::span<const Operand> operands);

// The rows of such a family, and their selection. `momentum`: a field of the family's own, or 0.
class ElementwiseRows {
public:
    ElementwiseRows(const char *operation, std::span<const KernelInfo> kernels)
        : operation_(operation), kernels_(kernels), cache_(operation, kernels) {}

    // `given` where it takes the problem, else what selection takes. Throws InvalidArgument,
    // DeviceError.
    const KernelInfo &find(const KernelInfo *given, const Elementwise &problem, DataType type,
                           Device device, bool momentum = false);

private:
    const char *operation_;
    std::span<const KernelInfo> kernels_;
    SelectionCache cache_;
};

// Throws InvalidArgument where they are not all on one device and of one type, f32, f16 or bf16,
// and shape; looks only at those that are defined, but for the first.
void check_elementwise(const char *operation, std::span<const Operand> operands);

}  // namespace hk::detail
