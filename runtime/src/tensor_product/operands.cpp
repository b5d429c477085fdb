#include "tensor_product/operands.h"

#include <limits>
#include <utility>

namespace hk::detail {

namespace {

// Dimension `channels`, counted from the front, in groups.
BufferView view_of(const char *operation, const Operand &operand, size_t channels, int64_t groups) {
    const Tensor &tensor = operand.tensor;
    Dims dims;
    for (size_t d = tensor.shape().size(); d-- > 0;) {
        const int64_t extent = tensor.shape()[d], stride = tensor.strides()[d];
        if (d == channels) {
            dims.push_back({extent / groups, stride});
            dims.push_back({groups, extent / groups * stride});
        } else {
            dims.push_back({extent, stride});
        }
    }
    canonicalise(dims);
    BufferView view(tensor, dims);
    check_fits_kernel(operation, operand.name, view);
    return view;
}

constexpr int64_t lanes_of(const TensorProductProblem &problem) {
    return problem.type == DataType::f64 ? 8 : 16;
}

// The width with the least time, which is that of its vectors; those of narrow blocks take longer,
// by about what kernels/tensor_product.cmake says of them.
int64_t best_vectors(const TensorProductProblem &problem) {
    const int64_t lanes = lanes_of(problem);
    int64_t best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (const auto &[vectors, cost] : {std::pair{4, 1.0}, {2, 1.15}, {1, 1.4}}) {
        const int64_t width = vectors * lanes;
        const int64_t blocks = (problem.output_channels + width - 1) / width;
        const double time = cost * static_cast<double>(blocks * vectors);
        if (time >= least) continue;
        least = time;
        best = vectors;
    }
    return best;
}

}  // namespace

TensorProductOperands TensorProductOperands::turned_round() const {
    TensorProductOperands turned{output, weight, input};
    std::swap(turned.weight.dims[0], turned.weight.dims[2]);
    return turned;
}

TensorProductOperands TensorProductOperands::of_group(int64_t g) const {
    TensorProductOperands one = *this;
    for (BufferView *view : {&one.input, &one.weight, &one.output}) {
        view->offset += g * view->dims[1].stride;
        view->dims[1] = {1, 1};
    }
    return one;
}

TensorProductOperands TensorProductOperands::of_channels(int64_t first, int64_t count) const {
    TensorProductOperands some = *this;
    for (const auto &[view, dim] : {std::pair{&some.input, 0}, {&some.weight, 2}}) {
        view->offset += first * view->dims[dim].stride;
        view->dims[dim].extent = count;
    }
    return some;
}

int64_t most_additions(DataType type) {
    switch (type) {
        case DataType::f32:
        case DataType::f16:
            return 7168;
        case DataType::bf16:
            return 1 << 16;
        default:
            return std::numeric_limits<int64_t>::max();
    }
}

TensorProductProblem turned_round(const TensorProductProblem &problem) {
    TensorProductProblem turned = problem;
    std::swap(turned.input_rows, turned.output_rows);
    std::swap(turned.input_channels, turned.output_channels);
    turned.transposed = !problem.transposed;
    return turned;
}

TensorProductOperands tensor_product_operands(const TensorProductProblem &problem,
                                              const TensorProductTensors &tensors) {
    const auto view = [&](const Operand &operand, size_t channels) {
        return view_of(tensors.operation, operand, channels, problem.groups);
    };
    return {view(tensors.input, 1), view(tensors.weight, 2), view(tensors.output, 1)};
}

Fields tensor_product_fields(const TensorProductProblem &problem) {
    const int64_t vectors = best_vectors(problem);
    Fields fields(problem.type, Layout::any);
#include "tensor_product/fields.def"
    return fields;
}

}  // namespace hk::detail
