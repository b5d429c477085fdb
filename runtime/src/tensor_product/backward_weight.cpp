#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "selection_cache.h"
#include "tensor_product/chunks.h"
#include "tensor_product/operands.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "tensor_product_backward_weight";

FieldLookup fields_of(const TensorProductProblem &problem) {
    return [&problem](std::string_view field) { return tensor_product_field(problem, field); };
}

const KernelInfo &kernel_for(const TensorProductProblem &problem, Device device) {
    static SelectionCache cache(kOperation, tensor_product_backward_weight_kernels());
    return cache.find(
        key_of(problem), device,
        [&](const DeviceLimits &limits, bool explain) {
            return select_tensor_product_backward_weight(problem, device.type(), limits, explain);
        },
        [&] { return std::string(kOperation) + " " + detail::to_string(problem); });
}

void call(const KernelInfo &kernel, const TensorProductOperands &operands,
          const TensorProductChunks &chunks, bool accumulate, CallContext &context) {
    using Use = KernelBuffer::Use;
    KernelBuffer input(operands.input, {kOperation, "input", Use::read, true});
    KernelBuffer gradient(operands.output, {kOperation, "output_gradient", Use::read, true});
    KernelBuffer output(operands.weight, {kOperation, "weight_gradient", Use::update, true});
    IndexBuffer source = chunks.source(), target = chunks.target(), begin = chunks.begin(),
                offset = chunks.offset(), first = chunks.first();
    int32_t most = chunks.most();
    // As the generator declares them; call_kernel sets the first. `previous` is the output.
    void *arguments[] = {nullptr,      input.get(),  gradient.get(), source.get(),
                         target.get(), begin.get(),  offset.get(),   first.get(),
                         &most,        output.get(), &accumulate,    output.get()};
    call_kernel(kOperation, kernel, context, arguments);
}

// `kernel`: null for the one that selection takes.
void run(const KernelInfo *kernel, const TensorProductTensors &tensors,
         const TensorProductMaps &maps, const TensorProductOptions &options, const Stream &stream) {
    const TensorProductProblem problem = check_tensor_product(tensors, maps, options);
    const Device device = tensors.input.tensor.device();
    const Operand all[] = {tensors.input, tensors.weight, tensors.output};
    CallContext context(device, complete_stream(kOperation, device, all, stream));
    if (kernel) {
        check_row_takes(kOperation, *kernel, problem.type, Layout::any, device, fields_of(problem));
    } else {
        kernel = &kernel_for(problem, device);
    }
    const ChunkSizes sizes(*kernel, problem);
    check_filled_weight(tensors, problem, sizes.depth, sizes.channels);
    const std::vector<TensorProductOperands> calls = tensor_product_operands(problem, tensors);
    const Tensor &result = tensors.weight.tensor;
    if (result.elements() == 0) return;
    const auto chunks = maps.impl()->form<TensorProductChunks>(
        {sizes.pairs, sizes.rows, sizes.slices},
        [&] { return std::make_shared<const TensorProductChunks>(*maps.impl(), sizes, context); });
    if (chunks->empty()) {
        if (!options.accumulate) result.fill_zero();
        return;
    }
    for (const TensorProductOperands &operands : calls)
        call(*kernel, operands, *chunks, options.accumulate, context);
}

TensorProductTensors tensors_of(const Tensor &input, const Tensor &output_gradient,
                                const Tensor &weight_gradient) {
    return {kOperation,
            {"input", input},
            {"weight_gradient", weight_gradient},
            {"output_gradient", output_gradient},
            &TensorProductTensors::weight};
}

}  // namespace

void tensor_product_backward_weight(const Tensor &input, const Tensor &output_gradient,
                                    const TensorProductMaps &maps, const Tensor &weight_gradient,
                                    const TensorProductOptions &options, const Stream &stream) {
    run(nullptr, tensors_of(input, output_gradient, weight_gradient), maps, options, stream);
}

void tensor_product_backward_weight_with(const KernelInfo &kernel, const Tensor &input,
                                         const Tensor &output_gradient,
                                         const TensorProductMaps &maps,
                                         const Tensor &weight_gradient,
                                         const TensorProductOptions &options,
                                         const Stream &stream) {
    run(&kernel, tensors_of(input, output_gradient, weight_gradient), maps, options, stream);
}

Selection select_tensor_product_backward_weight(const TensorProductProblem &problem,
                                                DeviceType device, const DeviceLimits &limits,
                                                bool explain) {
    return select(tensor_product_backward_weight_kernels(), problem.type, Layout::any, device,
                  limits, fields_of(problem), explain);
}

}  // namespace hk
