#include "hk/topk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "hk/error.h"
#include "rethrow.h"
#include "selection_cache.h"
#include "topk/operands.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "topk";

std::span<const KernelInfo> kernels_for(DeviceType device) {
    return device == DeviceType::cpu ? topk_kernels() : topk_tiles_kernels();
}

const KernelInfo &kernel_for(const TopKProblem &problem, Device device) {
    const auto cache = device.is_cpu() ? selections<topk_kernels> : selections<topk_tiles_kernels>;
    return cache(kOperation).find(topk_fields(problem), device, [&] {
        return detail::to_string(problem);
    });
}

// What generators/topk/topk.h is told of the parts of a row: the elements of a chunk, or how many
// columns there are. A vector of 64 bytes divides both.
//
// A chunk costs its maximum a few operations, and k chunks are looked at again, so that the best
// size grows with the root of columns / k; there are at least k chunks. Columns are as few as one
// step of the loop over a row takes.
int32_t part_size(const KernelInfo &kernel, const TopKProblem &problem) {
    const int64_t bytes = size_of(problem.type);
    if (std::string_view(kernel.algorithm) == "columns") return static_cast<int32_t>(256 / bytes);
    const double per_k = static_cast<double>(problem.columns) / static_cast<double>(problem.k);
    auto chunk = std::bit_floor(static_cast<uint64_t>(std::min(4 * std::sqrt(per_k), 512.0)));
    while (chunk * problem.k > static_cast<uint64_t>(problem.columns)) chunk /= 2;
    return static_cast<int32_t>(std::max<int64_t>(static_cast<int64_t>(chunk), 64 / bytes));
}

void call_on_cpu(const KernelInfo &kernel, const TopKOperands &operands, CallContext &context) {
    using Use = KernelBuffer::Use;
    const TopKProblem &problem = operands.problem;
    KernelBuffer input(operands.input, {kOperation, "input", Use::read, true});
    std::optional<KernelBuffer> values, indices;
    if (problem.values) {
        values.emplace(operands.values, KernelBuffer::Role{kOperation, "values", Use::write, true});
    }
    if (problem.indices) {
        indices.emplace(operands.indices,
                        KernelBuffer::Role{kOperation, "indices", Use::write, true});
    }
    KernelArguments arguments(kOperation, kernel);
    arguments
        .add({{"input", input},
              {"k", static_cast<int32_t>(problem.k)},
              {"chunk", part_size(kernel, problem)}})
        .add(topk_key_arguments(problem.type, problem.order));
    if (values) arguments.add({{"values", *values}});
    if (indices) arguments.add({{"indices", *indices}});
    call_kernel(context, arguments);
}

// Bytes of a row's keys, in whole vectors, as rows that keep all of them do.
int64_t key_bytes(const TopKProblem &problem) {
    return (problem.columns * size_of(problem.type) + 63) / 64 * 64;
}

// Of a row that keeps all keys. Not more than kernels count in 32 bits.
void check_scratch(const KernelInfo &kernel, const TopKProblem &problem) {
    const std::string_view algorithm = kernel.algorithm;
    if (algorithm != "whole" && algorithm != "sort") return;
    if (key_bytes(problem) <= INT32_MAX) return;
    throw OutOfMemory("topk: the " + std::to_string(problem.k) + " best of " +
                      std::to_string(problem.columns) + " elements take " +
                      std::to_string(key_bytes(problem)) + " bytes of scratch, a kernel has " +
                      std::to_string(INT32_MAX));
}

// Elements that don't lie next to each other are first copied by the rows that take them, in one
// piece of memory, which kernels count in 32 bits. Longer ones are copied here.
bool packs_first(const TopKTensors &tensors, const TopKProblem &problem) {
    return tensors.input.device().is_cpu() && !problem.adjacent && key_bytes(problem) > INT32_MAX;
}

// `kernel`: null for the one that selection takes.
void run(const KernelInfo *kernel, const TopKTensors &tensors, int64_t k,
         const TopKOptions &options, const Stream &stream) try {
    const TopKProblem problem = check_topk(tensors, k, options);
    if (packs_first(tensors, problem) && k > 0 && problem.rows > 0) {
        const TopKPacked packed(tensors, options.axis);
        run(kernel, {packed.input, packed.values, packed.indices}, k,
            {-1, options.order, options.sorted}, stream);
        return;
    }
    const Device device = tensors.input.device();
    const Operand all[] = {
        {"input", tensors.input}, {"values", tensors.values}, {"indices", tensors.indices}};
    OperationCall context(kOperation, device, all, stream);
    if (kernel) check_row_takes(kOperation, *kernel, topk_fields(problem), device);
    if (k == 0 || problem.rows == 0) return;
    if (!kernel) kernel = &kernel_for(problem, device);
    check_scratch(*kernel, problem);
    for (const TopKOperands &operands : topk_operands(problem, tensors, options.axis)) {
        if (device.is_cpu()) {
            call_on_cpu(*kernel, operands, context);
        } else {
            topk_on_gpu(*kernel, operands, context, on_own_queue(stream));
        }
    }
} catch (...) {
    rethrow_as_error(kOperation);
}

Tensor output_of(const Tensor &input, int64_t k, int axis, DataType type) try {
    if (!input.defined()) throw InvalidArgument("topk: input is undefined");
    TopKOptions options;
    options.axis = axis;
    TopKProblem::from_shape(input.shape(), input.type(), k, options);
    Shape shape = input.shape();
    shape[axis < 0 ? axis + shape.size() : axis] = k;
    return Tensor(shape, type, input.device());
} catch (...) {
    rethrow_as_error(kOperation);
}

int64_t columns_of(const Tensor &input, int axis) {
    output_of(input, 0, axis, input.type());
    return input.shape()[axis < 0 ? axis + input.shape().size() : axis];
}

}  // namespace

void topk(const Tensor &input, int64_t k, const Tensor &values, const Tensor &indices,
          const TopKOptions &options, const Stream &stream) {
    run(nullptr, {input, values, indices}, k, options, stream);
}

TopK topk(const Tensor &input, int64_t k, const TopKOptions &options) try {
    TopK result{output_of(input, k, options.axis, input.type()),
                output_of(input, k, options.axis, DataType::s64)};
    topk(input, k, result.values, result.indices, options);
    return result;
} catch (...) {
    rethrow_as_error(kOperation);
}

Tensor topk_values(const Tensor &input, int64_t k, const TopKOptions &options) {
    Tensor values = output_of(input, k, options.axis, input.type());
    topk(input, k, values, {}, options);
    return values;
}

Tensor topk_indices(const Tensor &input, int64_t k, const TopKOptions &options) {
    Tensor indices = output_of(input, k, options.axis, DataType::s64);
    topk(input, k, {}, indices, options);
    return indices;
}

Tensor sort(const Tensor &input, int axis, Order order) {
    return topk_values(input, columns_of(input, axis), {axis, order});
}

Tensor argsort(const Tensor &input, int axis, Order order) {
    return topk_indices(input, columns_of(input, axis), {axis, order});
}

void topk_with(const KernelInfo &kernel, const Tensor &input, int64_t k, const Tensor &values,
               const Tensor &indices, const TopKOptions &options, const Stream &stream) {
    run(&kernel, {input, values, indices}, k, options, stream);
}

Selection select_topk(const TopKProblem &problem, DeviceType device, const DeviceLimits &limits,
                      bool explain) {
    return select(kernels_for(device), topk_fields(problem), device, limits, explain);
}

}  // namespace hk
