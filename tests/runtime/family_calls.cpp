#include "family_calls.h"

#include <cstring>

#include "hk/activation.h"
#include "hk/conv2d_backward.h"
#include "hk/pool2d.h"
#include "hk/quantized_conv2d.h"
#include "hk/sgd.h"
#include "hk/softmax_cross_entropy.h"
#include "hk/tensor_product.h"
#include "hk/tensor_product_backward.h"
#include "hk/topk.h"

namespace hk {

namespace {

// Small whole numbers, no two neighbours alike.
Tensor made(const Shape &shape, DataType type = DataType::f32) {
    Tensor tensor(shape, type);
    for (int64_t i = 0; i < tensor.elements(); i++) {
        const auto value = static_cast<int8_t>(i * 7 % 11 - 5);
        if (type == DataType::f32) tensor.data<float>()[i] = value;
        if (type == DataType::s8) tensor.data<int8_t>()[i] = value;
        if (type == DataType::s32) tensor.data<int32_t>()[i] = static_cast<int32_t>(i % 3);
    }
    return tensor;
}

std::shared_ptr<Tensor> result(const Shape &shape = {}, DataType type = DataType::f32) {
    return std::make_shared<Tensor>(shape.empty() ? Tensor() : Tensor::zeros(shape, type));
}

Conv2dOptions padded(int64_t stride = 1) {
    Conv2dOptions options;
    options.stride = {stride, stride};
    options.padding = {1, 1, 1, 1};
    return options;
}

void add_conv2d(std::vector<FamilyCall> &calls) {
    const Tensor input = made({1, 9, 9, 16}), weight = made({16, 3, 3, 16});
    const Tensor bias = made({16}), every_other = made({32}).slice(0, 0, 16, 2);
    const auto made_new = result(), apart = result({1, 9, 9, 16}), again = result({1, 9, 9, 16});
    calls.push_back({"conv2d into a new tensor", {input, weight, bias}, {made_new}, [=] {
                         *made_new = conv2d(input, weight, bias, {}, padded());
                     }});
    calls.push_back({"conv2d with a bias of stride 2", {input, weight, every_other}, {apart}, [=] {
                         conv2d(input, weight, every_other, {}, *apart, padded());
                     }});
    calls.push_back(
        {"conv2d of a filter that is prepared for it", {input, weight, bias}, {again}, [=] {
             conv2d(input, prepare_filter(weight), bias, input, *again, padded());
         }});
}

void add_conv2d_backward(std::vector<FamilyCall> &calls) {
    const Shape image{1, 9, 9, 16}, filter{16, 3, 3, 16};
    const Tensor gradient = made({1, 5, 5, 16}), input = made(image), weight = made(filter);
    const auto data = result(image), weights = result(filter), bias = result({16});
    calls.push_back({"conv2d_backward_data in phases", {gradient, weight}, {data}, [=] {
                         conv2d_backward_data(gradient, weight, *data, padded(2));
                     }});
    calls.push_back({"conv2d_backward_weight", {gradient, input}, {weights}, [=] {
                         conv2d_backward_weight(gradient, input, *weights, padded(2));
                     }});
    calls.push_back({"conv2d_backward_bias", {gradient}, {bias}, [=] {
                         conv2d_backward_bias(gradient, *bias, Layout::nhwc);
                     }});
    const auto made_data = result(), made_weight = result(), made_bias = result();
    calls.push_back({"conv2d_backward into new tensors",
                     {gradient, input, weight},
                     {made_data, made_weight, made_bias},
                     [=] {
                         *made_data = conv2d_backward_data(gradient, weight, image, padded(2));
                         *made_weight = conv2d_backward_weight(gradient, input, filter, padded(2));
                         *made_bias = conv2d_backward_bias(gradient);
                     }});
    const Conv2dGradients all{Tensor(image, DataType::f32), Tensor(filter, DataType::f32),
                              Tensor({16}, DataType::f32)};
    calls.push_back({"conv2d_backward",
                     {gradient, input, weight},
                     {std::make_shared<Tensor>(all.input), std::make_shared<Tensor>(all.weight),
                      std::make_shared<Tensor>(all.bias)},
                     [=] { conv2d_backward(gradient, input, weight, all, padded(2)); }});
}

void add_quantized_conv2d(std::vector<FamilyCall> &calls) {
    const QuantizedTensor input(made({1, 9, 9, 16}, DataType::s8), Quantization(0.5f, 1));
    const QuantizedTensor weight(made({16, 3, 3, 16}, DataType::s8),
                                 Quantization(std::vector<float>(16, 0.25f)));
    const QuantizedTensor bias(made({32}).slice(0, 0, 16, 2)), none;
    const QuantizedTensor output(made({1, 9, 9, 16}, DataType::s8), Quantization(0.5f));
    const auto written = std::make_shared<Tensor>(output.values), made_new = result();
    calls.push_back({"quantized_conv2d",
                     {input.values, weight.values, bias.values, weight.quantization.scales()},
                     {written},
                     [=] { quantized_conv2d(input, weight, bias, output, padded()); }});
    const std::vector<float> numbers(16, 0.25f);
    calls.push_back(
        {"quantized_conv2d into a new tensor", {input.values, weight.values}, {made_new}, [=] {
             const Quantization scales(numbers);
             *made_new = quantized_conv2d(input, weight, none, DataType::f32, {}, padded()).values;
         }});
}

void add_pool2d(std::vector<FamilyCall> &calls) {
    const Tensor input = made({1, 8, 8, 16}), gradient = made({1, 4, 4, 16});
    const Tensor output = pool2d(input);
    const auto made_new = result(), back = result({1, 8, 8, 16});
    calls.push_back({"pool2d", {input}, {made_new}, [=] { *made_new = pool2d(input); }});
    calls.push_back({"pool2d_backward", {gradient, input, output}, {back}, [=] {
                         pool2d_backward(gradient, input, output, *back, {});
                     }});
}

// Views of many dimensions that don't continue one another.
void add_elementwise(std::vector<FamilyCall> &calls) {
    const Shape shape{3, 2, 4, 3};
    const Tensor input = made({3, 3, 2, 4}).permute({0, 2, 3, 1}), gradient = made(shape);
    const auto output = result(shape), back = result(shape), parameter = result(shape),
               velocity = result(shape);
    calls.push_back({"activate", {input}, {output}, [=] { activate(input, *output); }});
    calls.push_back({"activate_backward", {gradient, input}, {back}, [=] {
                         activate_backward(gradient, input, *back);
                     }});
    calls.push_back({"sgd_step", {gradient}, {}, [=] {
                         sgd_step(*parameter, *velocity, gradient, {0.125f, 0.5f, 0, false});
                     }});
}

void add_softmax_cross_entropy(std::vector<FamilyCall> &calls) {
    const Tensor logits = made({6, 40}), labels = made({6}, DataType::s32);
    const auto loss = result({6}), gradient = result({6, 40});
    calls.push_back({"softmax_cross_entropy", {logits, labels}, {loss, gradient}, [=] {
                         softmax_cross_entropy(logits, labels, *loss, *gradient);
                     }});
}

void add_topk(std::vector<FamilyCall> &calls) {
    const Tensor apart = made({3, 500, 3, 2, 2}).slice(4, 0, 1).slice(3, 0, 1);
    const Tensor rows = made({3, 500});
    const auto values = result({3, 20, 3, 1, 1}), indices = result({3, 20, 3, 1, 1}, DataType::s64);
    const auto best = result(), places = result(), sorted = result(), order = result();
    calls.push_back(
        {"topk", {apart}, {values, indices}, [=] { topk(apart, 20, *values, *indices, {1}); }});
    calls.push_back({"topk into new tensors", {rows}, {best, places, sorted, order}, [=] {
                         TopK both = topk(rows, 5);
                         *best = std::move(both.values);
                         *places = std::move(both.indices);
                         *sorted = sort(rows);
                         *order = argsort(rows);
                     }});
}

void add_tensor_product(std::vector<FamilyCall> &calls) {
    const Tensor input = made({3, 16}), weight = made({2, 16, 16}), gradient = made({3, 16});
    const Tensor imap = made({2, 3}, DataType::s32), omap = made({2, 3}, DataType::s32);
    const TensorProductMaps maps(imap, omap, 3, 3);
    const auto output = result({3, 16}), again = result({3, 16}), data = result({3, 16}),
               weights = result({2, 16, 16});
    calls.push_back({"tensor_product", {input, weight, imap, omap}, {output}, [=] {
                         tensor_product(input, weight, maps, *output);
                     }});
    calls.push_back(
        {"tensor_product with maps of its own", {input, weight, imap, omap}, {again}, [=] {
             tensor_product(input, weight, imap, omap, *again);
         }});
    calls.push_back({"tensor_product_backward_data", {gradient, weight, imap, omap}, {data}, [=] {
                         tensor_product_backward_data(gradient, weight, maps, *data);
                     }});
    calls.push_back(
        {"tensor_product_backward_weight", {input, gradient, imap, omap}, {weights}, [=] {
             tensor_product_backward_weight(input, gradient, maps, *weights);
         }});
}

}  // namespace

std::vector<FamilyCall> family_calls() {
    std::vector<FamilyCall> calls;
    add_conv2d(calls);
    add_conv2d_backward(calls);
    add_quantized_conv2d(calls);
    add_pool2d(calls);
    add_elementwise(calls);
    add_softmax_cross_entropy(calls);
    add_topk(calls);
    add_tensor_product(calls);
    return calls;
}

std::string bytes_of(const Tensor &tensor) {
    const Tensor packed = tensor.to(Device::cpu());
    std::string bytes(static_cast<size_t>(packed.elements() * size_of(packed.type())), '\0');
    switch (size_of(packed.type())) {
        case 1:
            std::memcpy(bytes.data(), packed.data<int8_t>(), bytes.size());
            break;
        case 4:
            std::memcpy(bytes.data(), packed.data<int32_t>(), bytes.size());
            break;
        default:
            std::memcpy(bytes.data(), packed.data<int64_t>(), bytes.size());
    }
    return bytes;
}

}  // namespace hk
