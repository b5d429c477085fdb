#include "hk/tensor_product.h"

#include <algorithm>
#include <limits>

#include "hk/error.h"
#include "selection_cache.h"
#include "tensor_product/operands.h"
#include "tensor_product/tiles.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "tensor_product";

FieldLookup fields_of(const TensorProductProblem &problem) {
    return [&problem](std::string_view field) { return tensor_product_field(problem, field); };
}

const KernelInfo &kernel_for(const TensorProductProblem &problem, Device device) {
    static SelectionCache cache(kOperation, tensor_product_kernels());
    const TensorProductProblem &p = problem;
    return cache.find(
        {static_cast<int64_t>(p.type), p.input_rows, p.output_rows, p.offsets, p.pairs,
         p.input_channels, p.output_channels, p.groups, static_cast<int64_t>(p.summation),
         p.adjacent},
        device,
        [&](const DeviceLimits &limits, bool explain) {
            return select_tensor_product(problem, device.type(), limits, explain);
        },
        [&] { return detail::to_string(problem); });
}

void call(const KernelInfo &kernel, const TensorProductOperands &operands,
          TensorProductTiles &tiles, bool accumulate, CallContext &context) {
    using Use = KernelBuffer::Use;
    KernelBuffer input(operands.input, {kOperation, "input", Use::read, true});
    KernelBuffer weight(operands.weight, {kOperation, "weight", Use::read, true});
    KernelBuffer output(operands.output, {kOperation, "output", Use::update, true});
    int32_t most = tiles.most();
    // As the generator declares them; call_kernel sets the first. `previous` is the output.
    void *arguments[] = {nullptr,        input.get(),    weight.get(),  tiles.source(),
                         tiles.target(), tiles.offset(), tiles.first(), &most,
                         output.get(),   &accumulate,    output.get()};
    call_kernel(kOperation, kernel, context, arguments);
}

// The kernel packs the weight in the type of sums, in whole blocks of channels.
void check_packed_weight(const TensorProductProblem &problem, const TileSizes &sizes) {
    const auto whole = [](__int128 size, int64_t of) { return (size + of - 1) / of * of; };
    const __int128 bytes = whole(problem.output_channels, sizes.channels) *
                           whole(problem.input_channels, sizes.depth) * problem.offsets *
                           (problem.type == DataType::f64 ? 8 : 4);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (bytes <= kMost) return;
    const auto told = std::min<__int128>(bytes, std::numeric_limits<int64_t>::max());
    throw InvalidArgument(std::string(kOperation) + ": weight fills " +
                          std::to_string(static_cast<int64_t>(told)) +
                          " bytes, a kernel takes at most " + std::to_string(kMost));
}

// `kernel`: null for the one that selection takes.
void run(const KernelInfo *kernel, const TensorProductTensors &tensors,
         const TensorProductOptions &options, const Stream &stream) {
    const TensorProductProblem problem = check_tensor_product(tensors, options);
    const Device device = tensors.input.device();
    const Operand all[] = {{"input", tensors.input},
                           {"weight", tensors.weight},
                           {"imap", tensors.imap},
                           {"omap", tensors.omap},
                           {"output", tensors.output}};
    CallContext context(device, complete_stream(kOperation, device, all, stream));
    if (kernel) {
        check_row_takes(kOperation, *kernel, problem.type, Layout::any, device, fields_of(problem));
    } else {
        kernel = &kernel_for(problem, device);
    }
    const std::vector<TensorProductOperands> calls = tensor_product_operands(problem, tensors);
    const TileSizes sizes(*kernel);
    check_packed_weight(problem, sizes);
    TensorProductTiles tiles(problem, tensors.imap, tensors.omap, options, sizes, context);
    if (tensors.output.elements() == 0) return;
    if (tiles.empty() || problem.input_channels == 0) {
        if (!options.accumulate) tensors.output.fill_zero();
        return;
    }
    for (const TensorProductOperands &operands : calls)
        call(*kernel, operands, tiles, options.accumulate, context);
}

}  // namespace

void tensor_product(const Tensor &input, const Tensor &weight, const Tensor &imap,
                    const Tensor &omap, const Tensor &output, const TensorProductOptions &options,
                    const Stream &stream) {
    run(nullptr, {input, weight, imap, omap, output}, options, stream);
}

void tensor_product_with(const KernelInfo &kernel, const Tensor &input, const Tensor &weight,
                         const Tensor &imap, const Tensor &omap, const Tensor &output,
                         const TensorProductOptions &options, const Stream &stream) {
    run(&kernel, {input, weight, imap, omap, output}, options, stream);
}

Selection select_tensor_product(const TensorProductProblem &problem, DeviceType device,
                                const DeviceLimits &limits, bool explain) {
    return select(tensor_product_kernels(), problem.type, Layout::any, device, limits,
                  fields_of(problem), explain);
}

}  // namespace hk
