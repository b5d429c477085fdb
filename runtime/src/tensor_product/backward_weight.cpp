#include <algorithm>

#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "rethrow.h"
#include "selection_cache.h"
#include "tensor_product/chunks.h"
#include "tensor_product/gpu_chunks.h"
#include "tensor_product/operands.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "tensor_product_backward_weight";

const KernelInfo &kernel_for(const KernelInfo *given, const TensorProductProblem &problem,
                             Device device) {
    return selections<tensor_product_backward_weight_kernels>(kOperation)
        .find(given, tensor_product_fields(problem), device,
              [&] { return std::string(kOperation) + " " + detail::to_string(problem); });
}

using Use = KernelBuffer::Use;

// Pairs as a kernel takes them.
struct Lists {
    halide_buffer_t *source, *target, *begin, *offset, *first;
    int32_t most;
};

void call(const KernelInfo &kernel, const TensorProductOperands &operands, const Lists &lists,
          bool accumulate, bool own_queue, CallContext &context) {
    KernelBuffer input(operands.input, {kOperation, "input", Use::read, own_queue});
    KernelBuffer gradient(operands.output, {kOperation, "output_gradient", Use::read, own_queue});
    KernelBuffer output(operands.weight, {kOperation, "weight_gradient",
                                          accumulate ? Use::update : Use::write, own_queue});
    call_kernel(context, KernelArguments(kOperation, kernel)
                             .add({{"input", input},
                                   {"output_gradient", gradient},
                                   {"source", lists.source},
                                   {"target_row", lists.target},
                                   {"begin", lists.begin},
                                   {"offset", lists.offset},
                                   {"first", lists.first},
                                   {"most", lists.most},
                                   {"previous", output},
                                   {"accumulate", accumulate},
                                   {"output", output}}));
    output.finish();
}

// What a call runs on.
struct Call {
    const KernelInfo &kernel;
    const TensorProductProblem &problem;
    const TensorProductTensors &tensors;
    const TensorProductMaps &maps;
    bool accumulate, own_queue;
    CallContext &context;
};

// Group by group, some slices after the others. Returns false where there are no pairs.
bool on_cpu(const Call &c) {
    const ChunkSizes sizes(c.kernel, c.problem);
    check_filled_weight(c.tensors, c.problem, sizes.depth, sizes.channels);
    const TensorProductOperands operands = tensor_product_operands(c.problem, c.tensors);
    const TensorProductChunks::Key key{sizes.pairs, sizes.rows, sizes.slices, sizes.chunks};
    const auto &maps = *c.maps.impl();
    const auto chunks = c.maps.impl()->form<TensorProductChunks>(
        key, [&] { return std::make_shared<const TensorProductChunks>(kOperation, maps, key); });
    if (chunks->empty()) return false;
    IndexBuffer source = chunks->source(), target = chunks->target(), begin = chunks->begin(),
                offset = chunks->offset();
    for (int64_t s = 0; s < chunks->slices(); s += sizes.at_once) {
        IndexBuffer first = chunks->first(s, std::min(sizes.at_once, chunks->slices() - s));
        for (int64_t g = 0; g < c.problem.groups; g++) {
            call(c.kernel, operands.of_group(g),
                 {source.get(), target.get(), begin.get(), offset.get(), first.get(),
                  chunks->most()},
                 c.accumulate || s > 0, true, c.context);
        }
    }
    return true;
}

// All groups at once. Returns false where there are no pairs.
bool on_gpu(const Call &c) {
    const TensorProductOperands operands = tensor_product_operands(c.problem, c.tensors);
    const TensorProductGpuChunks::Sizes sizes(c.kernel, c.problem);
    const auto &maps = *c.maps.impl();
    const auto chunks =
        c.maps.impl()->form<TensorProductGpuChunks>({sizes, StreamKey(c.context)}, [&] {
            return std::make_shared<const TensorProductGpuChunks>(kOperation, c.kernel, maps, sizes,
                                                                  c.context);
        });
    if (chunks->empty()) return false;
    halide_buffer_t source = chunks->source(), target = chunks->target();
    bool accumulate = c.accumulate;
    for (const TensorProductGpuChunks::Slices &slices : chunks->calls()) {
        halide_buffer_t begin = slices.begin->view(), offset = slices.offset->view(),
                        first = slices.first->view();
        call(c.kernel, operands, {&source, &target, &begin, &offset, &first, chunks->most()},
             accumulate, c.own_queue, c.context);
        accumulate = true;
    }
    return true;
}

// `row`: null for the one that selection takes.
void run(const KernelInfo *row, const TensorProductTensors &tensors, const TensorProductMaps &maps,
         const TensorProductOptions &options, const Stream &stream) try {
    const TensorProductProblem problem = check_tensor_product(tensors, maps, options);
    const Device device = tensors.input.tensor.device();
    const Operand all[] = {tensors.input, tensors.weight, tensors.output};
    OperationCall context(kOperation, device, all, stream);
    const KernelInfo &kernel = kernel_for(row, problem, device);
    const Tensor &result = tensors.weight.tensor;
    if (result.elements() == 0) return;
    const Call call{kernel, problem, tensors, maps, options.accumulate, on_own_queue(stream),
                    context};
    const bool summed = device.is_cpu() ? on_cpu(call) : on_gpu(call);
    if (!summed && !options.accumulate) result.fill_zero();
} catch (...) {
    rethrow_as_error(kOperation);
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
    return select(tensor_product_backward_weight_kernels(), tensor_product_fields(problem), device,
                  limits, explain);
}

}  // namespace hk
