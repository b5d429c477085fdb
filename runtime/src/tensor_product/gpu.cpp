#include "tensor_product/gpu.h"

#include <algorithm>
#include <string_view>

namespace hk::detail {

namespace {

using Use = KernelBuffer::Use;
using Direction = TensorProductMaps::Impl::Direction;

// generators/tensor_product/tensor_product_stationary.h: products, and tiles of the same family;
// generators/tensor_product/tensor_product_atomic.h: tiles of vectors.
bool takes_vectors(const KernelInfo &kernel, bool atomic) {
    const std::string_view algorithm(kernel.algorithm);
    return algorithm.starts_with("products") ||
           (atomic ? algorithm == "tiles_of_vectors" : algorithm.starts_with("tiles"));
}

// Operands of one row and offset, that no pair reads: there may be no memory of them. Of one
// channel, or of one vector where a kernel takes whole ones.
void leave_out_operands(TensorProductOperands &views, bool vectors) {
    const int64_t channels = vectors ? 8 : 1;
    const bool transposed = vectors && views.weight.dims[2].stride == 1;
    const Dim groups{views.output.dims[1].extent, 0}, one{1, 0};
    const Dim outer{views.output.dims[0].extent, vectors && !transposed ? 1 : 0},
        inner{channels, transposed ? 1 : 0};
    views.input = views.weight = views.output;
    views.input.dims = {Dim{channels, vectors ? 1 : 0}, groups, one};
    views.weight.dims = {outer, groups, inner, one};
}

void call(const KernelInfo &kernel, const TensorProductTensors &tensors, Direction direction,
          const TensorProductOperands &views, const TensorProductGpuMaps &maps, bool accumulate,
          CallContext &context, bool own_queue) {
    const char *operation = tensors.operation;
    const Operand &from = direction == Direction::forward ? tensors.input : tensors.output;
    KernelBuffer input(views.input, {operation, from.name, Use::read, own_queue});
    KernelBuffer weight(views.weight, {operation, tensors.weight.name, Use::read, own_queue});
    KernelBuffer result(views.output, {operation, (tensors.*tensors.result).name,
                                       accumulate ? Use::update : Use::write, own_queue});
    halide_buffer_t source = maps.source(), offset = maps.offset(), target, first, row;
    KernelArguments arguments(operation, kernel);
    arguments.add({{"input", input}, {"weight", weight}, {"source", &source}});
    if (maps.key().pairs > 0) {
        target = maps.target();
        arguments.add({{"target_row", &target}});
    }
    arguments.add({{"offset", &offset}});
    if (!maps.key().atomic) {
        first = maps.first(), row = maps.row();
        arguments.add({{"first", &first}, {"row", &row}, {"most", maps.most()}});
    }
    arguments.add({{"previous", result}, {"accumulate", accumulate}, {"output", result}});
    call_kernel(context, arguments);
    result.finish();
}

}  // namespace

void tensor_product_on_gpu(const KernelInfo &kernel, const TensorProductProblem &problem,
                           const TensorProductTensors &tensors, TensorProductMaps::Impl &maps,
                           Direction direction, bool accumulate, CallContext &context,
                           bool own_queue) {
    const char *operation = tensors.operation;
    TensorProductOperands views = tensor_product_operands(problem, tensors);
    if (direction == Direction::backward) views = views.turned_round();
    if ((tensors.*tensors.result).tensor.elements() == 0) return;
    // Pairs of no channels are no pairs.
    const Tensor none({0}, DataType::s32);
    TensorProductMaps::Impl no_pairs{none, none, true, {}, 0, maps.input_rows, maps.output_rows,
                                     {},   {}};
    TensorProductMaps::Impl &used = views.input.dims[0].extent == 0 ? no_pairs : maps;
    const auto made = used.form<TensorProductGpuMaps>(
        TensorProductGpuMaps::key_of(kernel, direction, context), [&] {
            return std::make_shared<const TensorProductGpuMaps>(operation, kernel, used, direction,
                                                                context);
        });
    if (made->empty()) {
        if (accumulate) return;
        leave_out_operands(views, takes_vectors(kernel, made->key().atomic));
    }
    const int64_t all = views.input.dims[0].extent,
                  most = std::min(all, most_additions(problem.type));
    for (int64_t c = 0; c < all; c += most) {
        call(kernel, tensors, direction, views.of_channels(c, std::min(most, all - c)), *made,
             accumulate || c > 0, context, own_queue);
    }
}

}  // namespace hk::detail
