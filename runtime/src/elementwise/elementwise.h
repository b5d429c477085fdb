#pragma once
// Tensors of one shape as kernels that work element by element see them: [x, y, z], the dimensions
// in the order of the first tensor's strides, and those that continue one another in all tensors
// as one. Packed tensors have one dimension.

#include <array>
#include <optional>
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
    static constexpr int64_t kAlignment = 16;  // as generators/elementwise.h has it
    using Call = std::array<BufferView, kMostTensors>;

    bool adjacent = true;  // whether elements along x lie next to each other in all tensors
    bool packed = true;    // and there is one run of them
    bool aligned = true;   // and all tensors of all calls begin at a multiple of kAlignment bytes
    std::vector<Call> calls;
};

// Of tensors with elements, the first defined.
Elementwise elementwise(std::span<const Operand> operands);

// An input's buffer: the output's own where both are one view, since two buffers that overlap are
// undefined in OpenCL. `output` is an update then.
class InputBuffer {
public:
    InputBuffer(const BufferView &view, const BufferView &output_view, KernelBuffer &output,
                const KernelBuffer::Role &role);

    halide_buffer_t *get() { return apart_ ? apart_->get() : output_.get(); }

private:
    std::optional<KernelBuffer> apart_;
    KernelBuffer &output_;
};

// With the fields of elementwise/fields.def.
Fields elementwise_fields(const Elementwise &problem, DataType type);

// "sgd_step f32, packed"
std::string to_string(const char *operation, const Elementwise &problem, DataType type);

// Throws InvalidArgument where they are not all on one device and of one type, f32, f16 or bf16,
// and shape; looks only at those that are defined, but for the first.
void check_elementwise(const char *operation, std::span<const Operand> operands);

}  // namespace hk::detail
