#include "hk/tensor_product.h"

#include <algorithm>

#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "rethrow.h"
#include "selection_cache.h"
#include "tensor_product/gpu.h"
#include "tensor_product/operands.h"
#include "tensor_product/tiles.h"

namespace hk {

using namespace detail;

namespace {

using Direction = TensorProductMaps::Impl::Direction;

const KernelInfo &kernel_for(const char *operation, const TensorProductProblem &problem,
                             Device device) {
    constexpr const char *kFamily = "tensor_product";
    static Immortal<SelectionCache> on_cpu(kFamily, tensor_product_kernels());
    static Immortal<SelectionCache> stationary(kFamily, tensor_product_stationary_kernels());
    static Immortal<SelectionCache> atomic(kFamily, tensor_product_atomic_kernels());
    const bool adds = tensor_product_kernels_for(problem, device.type()).data() ==
                      tensor_product_atomic_kernels().data();
    SelectionCache &cache = device.is_cpu() ? *on_cpu : adds ? *atomic : *stationary;
    return cache.find(tensor_product_fields(problem), device,
                      [&] { return std::string(operation) + " " + detail::to_string(problem); });
}

// Of the tensors of a call the result and the other one with rows, which is gathered.
struct Ends {
    explicit Ends(const TensorProductTensors &tensors)
        : forward(tensors.result == &TensorProductTensors::output),
          from(forward ? tensors.input : tensors.output),
          to(forward ? tensors.output : tensors.input) {}

    bool forward;
    const Operand &from, &to;
};

// Without the dimension of groups, of which there is one.
BufferView of_channels(const BufferView &view) {
    BufferView plain = view;
    plain.dims = {};
    for (size_t d = 0; d < view.dims.size(); d++) {
        if (d != 1) plain.dims.push_back(view.dims[d]);
    }
    return plain;
}

void call(const KernelInfo &kernel, const TensorProductTensors &tensors,
          const TensorProductOperands &operands, const TensorProductTiles &tiles, bool accumulate,
          CallContext &context) {
    using Use = KernelBuffer::Use;
    const Ends ends(tensors);
    const char *operation = tensors.operation;
    KernelBuffer input(of_channels(operands.input), {operation, ends.from.name, Use::read, true});
    KernelBuffer weight(of_channels(operands.weight),
                        {operation, tensors.weight.name, Use::read, true});
    KernelBuffer output(of_channels(operands.output), {operation, ends.to.name, Use::update, true});
    IndexBuffer source = tiles.source(), target = tiles.target(), offset = tiles.offset(),
                first = tiles.first();
    int32_t most = tiles.most();
    // As the generator declares them; call_kernel sets the first. `previous` is the output.
    void *arguments[] = {nullptr,      input.get(),  weight.get(), source.get(),
                         target.get(), offset.get(), first.get(),  &most,
                         output.get(), &accumulate,  output.get()};
    call_kernel(operation, kernel, context, arguments);
}

// The product, or the gradient of its input, which is a product with maps and weight turned round.
// `kernel`: null for the one that selection takes.
void run(const KernelInfo *kernel, const TensorProductTensors &tensors,
         const TensorProductMaps &maps, const TensorProductOptions &options,
         const Stream &stream) try {
    const Ends ends(tensors);
    const TensorProductProblem problem = check_tensor_product(tensors, maps, options);
    const TensorProductProblem product = ends.forward ? problem : turned_round(problem);
    const Device device = tensors.input.tensor.device();
    const Operand all[] = {tensors.input, tensors.weight, tensors.output};
    OperationCall context(tensors.operation, device, all, stream);
    if (kernel) {
        check_row_takes(tensors.operation, *kernel, tensor_product_fields(product), device);
    } else {
        kernel = &kernel_for(tensors.operation, product, device);
    }
    const Direction direction = ends.forward ? Direction::forward : Direction::backward;
    if (!device.is_cpu()) {
        tensor_product_on_gpu(*kernel, problem, tensors, *maps.impl(), direction,
                              options.accumulate, context, on_own_queue(stream));
        return;
    }
    const TileSizes sizes(*kernel);
    check_filled_weight(tensors, product, sizes.depth, sizes.channels);
    const TensorProductOperands operands = tensor_product_operands(problem, tensors);
    const Tensor &result = ends.to.tensor;
    if (result.elements() == 0) return;
    const auto tiles = product.input_channels == 0
                           ? nullptr
                           : maps.impl()->form<TensorProductTiles>(
                                 {direction, sizes.rows, sizes.pairs, sizes.group}, [&] {
                                     return std::make_shared<const TensorProductTiles>(
                                         tensors.operation, *maps.impl(), direction, sizes);
                                 });
    if (!tiles || tiles->empty()) {
        if (!options.accumulate) result.fill_zero();
        return;
    }
    for (int64_t g = 0; g < problem.groups; g++) {
        const TensorProductOperands of_g = operands.of_group(g);
        const TensorProductOperands group = ends.forward ? of_g : of_g.turned_round();
        const int64_t all = product.input_channels,
                      most = std::min(all, most_additions(product.type));
        for (int64_t c = 0; c < all; c += most) {
            call(*kernel, tensors, group.of_channels(c, std::min(most, all - c)), *tiles,
                 options.accumulate || c > 0, context);
        }
    }
} catch (...) {
    rethrow_as_error(tensors.operation);
}

TensorProductTensors forward(const Tensor &input, const Tensor &weight, const Tensor &output) {
    return {"tensor_product",
            {"input", input},
            {"weight", weight},
            {"output", output},
            &TensorProductTensors::output};
}

TensorProductTensors backward(const Tensor &output_gradient, const Tensor &weight,
                              const Tensor &input_gradient) {
    return {"tensor_product_backward_data",
            {"input_gradient", input_gradient},
            {"weight", weight},
            {"output_gradient", output_gradient},
            &TensorProductTensors::input};
}

}  // namespace

// On a GPU sums of 16 and 64 bits are deterministic in either mode: no atomic addition of floats of
// 16 bits rounds once, and OpenCL has none of 64 bits but by an extension.
std::span<const KernelInfo> detail::tensor_product_kernels_for(const TensorProductProblem &problem,
                                                               DeviceType device) {
    if (device == DeviceType::cpu) return tensor_product_kernels();
    const bool atomic = problem.summation == Summation::atomic && problem.type == DataType::f32;
    return atomic ? tensor_product_atomic_kernels() : tensor_product_stationary_kernels();
}

void tensor_product(const Tensor &input, const Tensor &weight, const TensorProductMaps &maps,
                    const Tensor &output, const TensorProductOptions &options,
                    const Stream &stream) {
    run(nullptr, forward(input, weight, output), maps, options, stream);
}

void tensor_product(const Tensor &input, const Tensor &weight, const Tensor &imap,
                    const Tensor &omap, const Tensor &output, const TensorProductOptions &options,
                    const Stream &stream) {
    const TensorProductTensors tensors = forward(input, weight, output);
    const TensorProductMaps maps(imap, omap, rows_of(tensors.operation, tensors.input),
                                 rows_of(tensors.operation, tensors.output));
    run(nullptr, tensors, maps, options, stream);
}

void tensor_product_with(const KernelInfo &kernel, const Tensor &input, const Tensor &weight,
                         const TensorProductMaps &maps, const Tensor &output,
                         const TensorProductOptions &options, const Stream &stream) {
    run(&kernel, forward(input, weight, output), maps, options, stream);
}

void tensor_product_backward_data(const Tensor &output_gradient, const Tensor &weight,
                                  const TensorProductMaps &maps, const Tensor &input_gradient,
                                  const TensorProductOptions &options, const Stream &stream) {
    run(nullptr, backward(output_gradient, weight, input_gradient), maps, options, stream);
}

void tensor_product_backward_data_with(const KernelInfo &kernel, const Tensor &output_gradient,
                                       const Tensor &weight, const TensorProductMaps &maps,
                                       const Tensor &input_gradient,
                                       const TensorProductOptions &options, const Stream &stream) {
    run(&kernel, backward(output_gradient, weight, input_gradient), maps, options, stream);
}

Selection select_tensor_product(const TensorProductProblem &problem, DeviceType device,
                                const DeviceLimits &limits, bool explain) {
    return select(tensor_product_kernels_for(problem, device), tensor_product_fields(problem),
                  device, limits, explain);
}

Selection select_tensor_product_backward_data(const TensorProductProblem &problem,
                                              DeviceType device, const DeviceLimits &limits,
                                              bool explain) {
    return select_tensor_product(turned_round(problem), device, limits, explain);
}

}  // namespace hk
