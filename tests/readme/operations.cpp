// The README's table of operations, as the public functions have it: each is called on the CPU with
// every type and layout, and what it does not refuse it takes. Devices are those of its kernels,
// which must have rows for every type that is taken.

#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hk/conv2d_backward.h"
#include "hk/error.h"
#include "hk/group_norm.h"
#include "hk/kernel_map.h"
#include "hk/pool2d.h"
#include "hk/quantized_conv2d.h"
#include "hk/sgd.h"
#include "hk/softmax_cross_entropy.h"
#include "hk/tensor_product_backward.h"
#include "hk/topk.h"

namespace hk::test {
namespace {

constexpr DataType kTypes[] = {DataType::f32, DataType::f16, DataType::bf16, DataType::f64,
                               DataType::s8,  DataType::u8,  DataType::s16,  DataType::u16,
                               DataType::s32, DataType::u32, DataType::s64,  DataType::u64};

using Kernels = std::vector<std::span<const KernelInfo>>;

struct Operation {
    std::string functions, does, header;
    bool layouts;
    std::function<void(DataType, Layout)> call;
    Kernels kernels;                                  // none: it runs on the host alone
    std::function<DataType(DataType)> row_type = {};  // of the rows for a type; the same
    std::string more = {};                            // of other tensors
    std::string types = {};                           // in words; those that it takes
};

bool takes(const Operation &operation, DataType type, Layout layout) try {
    operation.call(type, layout);
    return true;
} catch (const InvalidArgument &) {
    return false;
}

Tensor zeros(DataType type, Shape shape) { return Tensor::zeros(std::move(shape), type); }

// In the layout's order.
Tensor image(DataType type, Layout layout, int64_t channels) {
    return layout == Layout::nhwc ? zeros(type, {1, 5, 5, channels})
                                  : zeros(type, {1, channels, 5, 5});
}

Tensor weight(DataType type, Layout layout) {
    return layout == Layout::nhwc ? zeros(type, {4, 1, 1, 3}) : zeros(type, {4, 3, 1, 1});
}

Conv2dOptions in(Layout layout) {
    Conv2dOptions options;
    options.layout = layout;
    return options;
}

QuantizedTensor quantized(Tensor values) {
    const bool real = values.type() == DataType::f32;
    return {std::move(values), real ? Quantization() : Quantization(1)};
}

void convolve_quantized(DataType input, DataType output, Layout layout) {
    const bool bytes = output == DataType::u8 || output == DataType::s8;
    quantized_conv2d(quantized(image(input, layout, 3)), quantized(weight(DataType::s8, layout)),
                     {}, output, bytes ? Quantization(1) : Quantization(), in(layout));
}

// "u8, s8 to f32, s8, u8, s32; f32 to …".
std::string types_of_quantized() {
    std::map<std::string, std::string> inputs;  // by their outputs
    for (const DataType input : kTypes) {
        std::string outputs;
        for (const DataType output : kTypes) {
            try {
                convolve_quantized(input, output, Layout::nhwc);
            } catch (const InvalidArgument &) {
                continue;
            }
            outputs += (outputs.empty() ? "" : ", ") + std::string(name_of(output));
        }
        if (outputs.empty()) continue;
        std::string &names = inputs[outputs];
        names += (names.empty() ? "" : ", ") + std::string(name_of(input));
    }
    std::string text;
    for (const auto &[outputs, names] : inputs) text += names + " to " + outputs + "; ";
    return text + "weights s8";
}

// Of one pair, in both types of indices.
void for_maps(const std::function<void(const TensorProductMaps &)> &call) {
    for (const DataType type : {DataType::s32, DataType::s64}) {
        const Tensor map = zeros(type, {1, 1});
        call(TensorProductMaps(map, map, 2, 2));
    }
}

// The types of keys, in which rows of top-k are counted: unsigned integers of a size.
DataType key_type(DataType type) {
    for (const DataType key : {DataType::u8, DataType::u16, DataType::u32, DataType::u64})
        if (size_of(key) == size_of(type)) return key;
    return type;
}

Operation convolution() {
    return {"conv2d",
            "convolution with bias, residual and activation",
            "conv2d",
            true,
            [](DataType type, Layout layout) {
                conv2d(image(type, layout, 3), weight(type, layout), {}, {}, in(layout));
            },
            {conv2d_kernels()}};
}

Operation convolution_gradients() {
    return {"conv2d_backward",
            "its gradients: input, weight, bias",
            "conv2d_backward",
            true,
            [](DataType type, Layout layout) {
                const Tensor output = image(type, layout, 4), input = image(type, layout, 3);
                const Conv2dGradients gradients{image(type, layout, 3), weight(type, layout),
                                                zeros(type, {4})};
                conv2d_backward(output, input, weight(type, layout), gradients, in(layout));
            },
            {conv2d_backward_data_kernels(), conv2d_backward_weight_kernels(),
             conv2d_backward_bias_kernels()}};
}

Operation quantised_convolution() {
    return {"quantized_conv2d",
            "convolution in 8 bits, or of 8-bit weights",
            "quantized_conv2d",
            true,
            [](DataType type, Layout layout) { convolve_quantized(type, DataType::f32, layout); },
            {quantized_conv2d_kernels()},
            [](DataType type) { return type == DataType::s8 ? DataType::u8 : type; },
            "",
            types_of_quantized()};
}

Operation pooling() {
    return {"pool2d, pool2d_backward",
            "max and average pooling, gradient",
            "pool2d",
            true,
            [](DataType type, Layout layout) {
                Pool2dOptions options;
                options.layout = layout;
                const Tensor input = image(type, layout, 3), output = pool2d(input, options);
                pool2d_backward(output, input, output, image(type, layout, 3), options);
            },
            {pool2d_kernels(), pool2d_backward_kernels()}};
}

Operation activations() {
    return {"activate, activate_backward",
            "relu, clamp, leaky relu, silu, gelu; gradients",
            "activation",
            false,
            [](DataType type, Layout) {
                const Tensor input = zeros(type, {8}), gradient = zeros(type, {8});
                activate(input, inplace(input));
                activate_backward(gradient, input, inplace(gradient));
            },
            {activate_kernels(), activate_backward_kernels()}};
}

Operation normalisation() {
    return {"group_norm, group_norm_backward",
            "group, layer and instance normalisation; gradients",
            "group_norm",
            true,
            [](DataType type, Layout layout) {
                const Tensor image = zeros(type, {1, 4, 4, 4}), vector = zeros(type, {4});
                const GroupNormStatistics saved{zeros(DataType::f32, {1, 2}),
                                                zeros(DataType::f32, {1, 2})};
                const GroupNormOptions options{layout, 2};
                const Tensor gradient = zeros(type, {1, 4, 4, 4}), of_weight = zeros(type, {4});
                group_norm(image, vector, vector, inplace(image), saved, options);
                group_norm_backward(gradient, image, vector, saved,
                                    {inplace(gradient), of_weight, {}}, options);
            },
            {group_norm_kernels()}};
}

Operation loss() {
    return {"softmax_cross_entropy",
            "loss of rows of logits, gradient",
            "softmax_cross_entropy",
            false,
            [](DataType type, Layout) {
                const Tensor logits = zeros(type, {2, 3}), rows = zeros(DataType::f32, {2});
                for (const DataType labels : {DataType::s32, DataType::s64})
                    softmax_cross_entropy(logits, zeros(labels, {2}), rows, inplace(logits));
            },
            {softmax_cross_entropy_kernels()},
            {},
            "labels s32, s64"};
}

Operation update() {
    return {"sgd_step",
            "SGD with momentum, in place",
            "sgd",
            false,
            [](DataType type, Layout) {
                sgd_step(zeros(type, {8}), zeros(type, {8}), zeros(type, {8}),
                         {.learning_rate = 0.1f, .momentum = 0.9f});
            },
            {sgd_kernels()}};
}

Operation selection_of_largest() {
    return {"topk, sort, argsort",
            "the k largest or smallest, in a total order",
            "topk",
            false,
            [](DataType type, Layout) {
                const Tensor input = zeros(type, {2, 8}), values = zeros(type, {2, 3});
                for (const DataType indices : {DataType::s32, DataType::s64})
                    topk(input, 3, values, zeros(indices, {2, 3}));
                sort(input);
                argsort(input);
            },
            {topk_kernels(), topk_tiles_kernels()},
            key_type,
            "indices s32, s64"};
}

Operation sparse_convolution() {
    return {"tensor_product",
            "gather, multiply, scatter-add: sparse convolution",
            "tensor_product",
            false,
            [](DataType type, Layout) {
                for_maps([type](const TensorProductMaps &maps) {
                    tensor_product(zeros(type, {2, 3}), zeros(type, {1, 3, 4}), maps,
                                   zeros(type, {2, 4}));
                });
            },
            {tensor_product_kernels(), tensor_product_stationary_kernels()},
            {},
            "maps s32, s64"};
}

Operation sparse_gradients() {
    return {"tensor_product_backward_data, …_weight",
            "its gradients",
            "tensor_product_backward",
            false,
            [](DataType type, Layout) {
                const Tensor input = zeros(type, {2, 3}), output = zeros(type, {2, 4});
                const Tensor matrices = zeros(type, {1, 3, 4});
                for_maps([&](const TensorProductMaps &maps) {
                    tensor_product_backward_data(output, matrices, maps, zeros(type, {2, 3}));
                    tensor_product_backward_weight(input, output, maps, matrices);
                });
            },
            {tensor_product_backward_weight_kernels()},
            {},
            "maps s32, s64"};
}

Operation kernel_maps() {
    return {"submanifold_map, strided_map",
            "its maps from coordinates of voxels",
            "kernel_map",
            false,
            [](DataType type, Layout) {
                const Tensor coordinates = zeros(type, {1, 4});
                submanifold_map(coordinates);
                strided_map(coordinates, {.kernel_size = {2, 2, 2}, .stride = {2, 2, 2}});
            },
            {}};
}

std::vector<Operation> operations() {
    return {convolution(),
            convolution_gradients(),
            quantised_convolution(),
            pooling(),
            activations(),
            normalisation(), loss(),
            update(),
            selection_of_largest(),
            sparse_convolution(),
            sparse_gradients(),
            kernel_maps()};
}

// "f32, f16, bf16"; what is taken in one layout alone would be a fault.
std::vector<DataType> types_of(const Operation &operation) {
    std::vector<DataType> result;
    for (const DataType type : kTypes) {
        const bool nhwc = takes(operation, type, Layout::nhwc);
        if (nhwc != takes(operation, type, Layout::nchw))
            throw std::runtime_error(operation.functions + " takes a type in one layout alone");
        if (nhwc) result.push_back(type);
    }
    return result;
}

bool has_row(const Operation &operation, DeviceType device, DataType type) {
    const DataType of_row = operation.row_type ? operation.row_type(type) : type;
    for (const auto &kernels : operation.kernels)
        for (const KernelInfo &kernel : kernels)
            if (kernel.device == device && kernel.type == of_row) return true;
    return false;
}

std::string devices_of(const Operation &operation, const std::vector<DataType> &types) {
    if (operation.kernels.empty()) return "cpu";
    std::string text;
    for (const DeviceType device : {DeviceType::cpu, DeviceType::cuda, DeviceType::opencl}) {
        size_t count = 0;
        for (const DataType type : types) count += has_row(operation, device, type);
        if (count == 0) continue;
        if (count < types.size())
            throw std::runtime_error(operation.functions + " lacks types on " +
                                     std::string(name_of(device)));
        text += (text.empty() ? "" : ", ") + std::string(name_of(device));
    }
    return text;
}

void print(const Operation &operation) {
    const std::vector<DataType> types = types_of(operation);
    std::string names = operation.types;
    if (names.empty()) {
        for (const DataType type : types)
            names += (names.empty() ? "" : ", ") + std::string(name_of(type));
    }
    if (!operation.more.empty()) names += "; " + operation.more;
    std::printf("| [`%s`](runtime/include/hk/%s.h) | %s | %s | %s | %s |\n",
                operation.functions.c_str(), operation.header.c_str(), operation.does.c_str(),
                names.c_str(), operation.layouts ? "nhwc, nchw" : "",
                devices_of(operation, types).c_str());
}

}  // namespace
}  // namespace hk::test

int main() {
    std::puts("| function | what it computes | types | layouts | devices |\n|---|---|---|---|---|");
    for (const auto &operation : hk::test::operations()) hk::test::print(operation);
}
