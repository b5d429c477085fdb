#include "tensor_product/operands.h"

#include <limits>
#include <stdexcept>

namespace hk::detail {

namespace {

constexpr const char *kOperation = "tensor_product";

BufferView view_of(const Tensor &tensor) {
    Dims dims;
    for (int d = tensor.rank(); d-- > 0;) {
        dims.push_back({tensor.shape()[d], tensor.shape()[d] == 1 ? 1 : tensor.strides()[d]});
    }
    return BufferView(tensor, dims);
}

// The width with the least time, which is that of its vectors; those of narrow blocks take longer,
// by what was measured at C = M = 16, 32 and 64: 69, 83 and 91 GFLOP/s.
int64_t best_vectors(const TensorProductProblem &problem) {
    const int64_t lanes = problem.type == DataType::f64 ? 8 : 16;
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

std::vector<TensorProductOperands> tensor_product_operands(const TensorProductProblem &problem,
                                                           const TensorProductTensors &tensors) {
    const int64_t c = problem.input_channels, m = problem.output_channels;
    std::vector<TensorProductOperands> calls;
    for (int64_t group = 0; group < problem.groups; group++) {
        calls.push_back({view_of(tensors.input.slice(1, group * c, c)),
                         view_of(tensors.weight.slice(2, group * m, m)),
                         view_of(tensors.output.slice(1, group * m, m))});
        check_fits_kernel(kOperation, "input", calls.back().input);
        check_fits_kernel(kOperation, "weight", calls.back().weight);
        check_fits_kernel(kOperation, "output", calls.back().output);
    }
    return calls;
}

int64_t tensor_product_field(const TensorProductProblem &problem, std::string_view field) {
    if (field == "adjacent") return problem.adjacent;
    if (field == "groups") return problem.groups;
    if (field == "offsets") return problem.offsets;
    if (field == "c") return problem.input_channels;
    if (field == "m") return problem.output_channels;
    if (field == "vectors") return best_vectors(problem);
    throw std::out_of_range("tensor_product has no field " + std::string(field));
}

}  // namespace hk::detail
