#include "hk/tensor_product.h"

#include <algorithm>

#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "rethrow.h"
#include "selection_cache.h"
#include "tensor_product/gpu.h"
#include "tensor_product/long_rows.h"
#include "tensor_product/operands.h"
#include "tensor_product/tiles.h"

namespace hk {

using namespace detail;

namespace {

using Direction = TensorProductMaps::Impl::Direction;

const KernelInfo &kernel_for(const char *operation, const TensorProductProblem &problem,
                             Device device) {
    const bool adds = tensor_product_kernels_for(problem, device.type()).data() ==
                      tensor_product_atomic_kernels().data();
    const auto cache = device.is_cpu() ? selections<tensor_product_kernels>
                       : adds          ? selections<tensor_product_atomic_kernels>
                                       : selections<tensor_product_stationary_kernels>;
    return cache("tensor_product").find(tensor_product_fields(problem), device, [&] {
        return std::string(operation) + " " + detail::to_string(problem);
    });
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
    call_kernel(context, KernelArguments(operation, kernel)
                             .add({{"input", input},
                                   {"weight", weight},
                                   {"source", source},
                                   {"target_row", target},
                                   {"offset", offset},
                                   {"first", first},
                                   {"most", tiles.most()},
                                   {"previous", output},
                                   {"accumulate", accumulate},
                                   {"output", output}}));
}

// A call whose arguments are checked: the product, or the gradient of its input, which is a product
// with maps and weight turned round.
struct Call {
    const KernelInfo *given;                        // null for the one that selection takes
    const TensorProductProblem &problem, &product;  // as it is called; as it is computed
    const TensorProductTensors &tensors;
    const TensorProductMaps &maps;
    const TensorProductOptions &options;
    const Stream &stream;
    OperationCall &context;
    Ends ends = Ends(tensors);
    Direction direction = ends.forward ? Direction::forward : Direction::backward;
};

void run_on_cpu(const KernelInfo &kernel, const Call &c) {
    const TileSizes sizes(kernel);
    check_filled_weight(c.tensors, c.product, sizes.depth, sizes.channels);
    const TensorProductOperands operands = tensor_product_operands(c.problem, c.tensors);
    const Tensor &result = c.ends.to.tensor;
    if (result.elements() == 0) return;
    auto &maps = *c.maps.impl();
    const auto tiles = c.product.input_channels == 0
                           ? nullptr
                           : maps.form<TensorProductTiles>(
                                 {c.direction, sizes.rows, sizes.pairs, sizes.group}, [&] {
                                     return std::make_shared<const TensorProductTiles>(
                                         c.tensors.operation, maps, c.direction, sizes);
                                 });
    if (!tiles || tiles->empty()) {
        if (!c.options.accumulate) result.fill_zero();
        return;
    }
    for (int64_t g = 0; g < c.problem.groups; g++) {
        const TensorProductOperands of_g = operands.of_group(g);
        const TensorProductOperands group = c.ends.forward ? of_g : of_g.turned_round();
        const int64_t all = c.product.input_channels,
                      most = std::min(all, most_additions(c.product.type));
        for (int64_t i = 0; i < all; i += most) {
            call(kernel, c.tensors, group.of_channels(i, std::min(most, all - i)), *tiles,
                 c.options.accumulate || i > 0, c.context);
        }
    }
}

// Rows that more pairs reach than the kernel adds up well; null where there are none. An atomic
// kernel goes on from the sums of its call before, of other channels.
std::shared_ptr<const TensorProductLongRows> long_rows(const KernelInfo &kernel, const Call &c) {
    using LongRows = TensorProductLongRows;
    const int64_t channels = c.product.input_channels, at_once = most_additions(c.product.type);
    if (c.product.type == DataType::f64 || channels == 0 || c.ends.to.tensor.elements() == 0)
        return nullptr;
    const bool atomic = std::string_view(kernel.family) == "tensor_product_atomic";
    const int64_t calls = atomic ? (channels + at_once - 1) / at_once : 1,
                  most = std::max<int64_t>(LongRows::kMostPairs / calls, 1);
    if (c.maps.places() <= most) return nullptr;
    tensor_product_operands(c.problem, c.tensors);  // refuses more rows than a kernel counts
    auto &maps = *c.maps.impl();
    const LongRows::Key key{c.direction, most};
    const auto rows =
        maps.form<LongRows>(key, [&] { return std::make_shared<const LongRows>(maps, key); });
    return rows->empty() ? nullptr : rows;
}

void run(const KernelInfo *given, const TensorProductTensors &tensors,
         const TensorProductMaps &maps, const TensorProductOptions &options, const Stream &stream);

// Parts are f32, on the library's own queue; what a kernel can't read there comes by way of the
// host. Parts first: they may fail, and leave the result as it is.
void run_in_parts(const TensorProductLongRows &rows, const Call &c) {
    const Device device = c.context.device;
    const DataType type = c.product.type;
    c.context.wait();
    const auto read = [&](const Tensor &tensor) {
        if (type != DataType::f32) return tensor.cast(DataType::f32);
        return c.context.in_own_context() ? tensor : tensor.to(Device::cpu()).to(device);
    };
    const Tensor from = read(c.ends.from.tensor), weight = read(c.tensors.weight.tensor),
                 parts({rows.count(), c.ends.to.tensor.shape()[1]}, DataType::f32, device);
    TensorProductOptions overwriting = c.options;
    overwriting.accumulate = false;
    const auto &[operation, input, named_weight, output, result] = c.tensors;
    run(type == DataType::f32 ? c.given : nullptr,
        {operation,
         {input.name, c.ends.forward ? from : parts},
         {named_weight.name, weight},
         {output.name, c.ends.forward ? parts : from},
         result},
        rows.parts(), overwriting, {});
    run(c.given, c.tensors, rows.others(), c.options, c.stream);
    c.context.wait();
    rows.add(parts, c.ends.to.tensor);
}

void run(const KernelInfo *given, const TensorProductTensors &tensors,
         const TensorProductMaps &maps, const TensorProductOptions &options,
         const Stream &stream) try {
    const TensorProductProblem problem = check_tensor_product(tensors, maps, options);
    const TensorProductProblem product = Ends(tensors).forward ? problem : turned_round(problem);
    const Device device = tensors.input.tensor.device();
    const Operand all[] = {tensors.input, tensors.weight, tensors.output};
    OperationCall context(tensors.operation, device, all, stream);
    if (given) {
        check_row_takes(tensors.operation, *given, tensor_product_fields(product), device);
    }
    const KernelInfo &kernel = given ? *given : kernel_for(tensors.operation, product, device);
    const Call c{given, problem, product, tensors, maps, options, stream, context};
    if (const auto rows = long_rows(kernel, c)) {
        run_in_parts(*rows, c);
    } else if (device.is_cpu()) {
        run_on_cpu(kernel, c);
    } else {
        tensor_product_on_gpu(kernel, problem, tensors, *maps.impl(), c.direction,
                              options.accumulate, context, on_own_queue(stream));
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
