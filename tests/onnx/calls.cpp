// Calls of the library for node_tests.py. A call is a line of JSON,
//   {"operation", "device", "arrays": [{"name", "type", "shape"}, …], "outputs": [name, …],
//   "options"}
// and the bytes of the arrays in that order; its answer is a line of JSON, {} or {"error"}, and
// after {} the bytes of the outputs.

#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "hk/activation.h"
#include "hk/conv2d_backward.h"
#include "hk/error.h"
#include "hk/pool2d.h"
#include "hk/quantized_conv2d.h"
#include "hk/sgd.h"
#include "hk/softmax_cross_entropy.h"
#include "hk/topk.h"

namespace hk {
namespace {

using nlohmann::json;

struct Call {
    json options;
    std::map<std::string, Tensor> arrays;

    // An undefined tensor where the call has none of that name.
    Tensor operator[](const std::string &name) const {
        const auto found = arrays.find(name);
        return found == arrays.end() ? Tensor() : found->second;
    }
    template<typename T>
    T option(const char *name) const {
        return options.at(name).get<T>();
    }
};

Padding padding_of(const Call &call) {
    const auto sides = call.option<std::array<int64_t, 4>>("padding");
    return {.top = sides[0], .bottom = sides[1], .left = sides[2], .right = sides[3]};
}

Conv2dOptions conv_options(const Call &call) {
    Conv2dOptions options;
    options.layout = layout_of(call.option<std::string>("layout"));
    options.stride = call.option<std::array<int64_t, 2>>("stride");
    options.dilation = call.option<std::array<int64_t, 2>>("dilation");
    options.padding = padding_of(call);
    options.groups = call.option<int64_t>("groups");
    return options;
}

// The quantisation of an array: {"scales": [one, or one for each filter], "zero_point"} or none.
QuantizedTensor quantized(const Call &call, const std::string &name) {
    const Tensor values = call[name];
    const std::string key = name + "_quantization";
    if (!call.options.contains(key)) return values;
    const json &entry = call.options.at(key);
    const auto scales = entry.at("scales").get<std::vector<float>>();
    const auto zero_point = entry.at("zero_point").get<int32_t>();
    if (scales.size() == 1) return {values, Quantization(scales[0], zero_point)};
    return {values, Quantization(scales, zero_point, values.device())};
}

Pool2dOptions pool_options(const Call &call) {
    Pool2dOptions options;
    options.layout = layout_of(call.option<std::string>("layout"));
    options.pooling = call.option<bool>("average") ? Pooling::average : Pooling::max;
    options.kernel = call.option<std::array<int64_t, 2>>("kernel");
    options.stride = call.option<std::array<int64_t, 2>>("stride");
    options.padding = padding_of(call);
    return options;
}

// JSON has no infinities: null is a bound that is not there.
float bound(const Call &call, const char *name, float without) {
    const json &value = call.options.at(name);
    return value.is_null() ? without : value.get<float>();
}

ActivationOptions activation_options(const Call &call) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return {activation_of(call.option<std::string>("activation")), bound(call, "alpha", -kInfinity),
            bound(call, "beta", kInfinity)};
}

TopKOptions topk_options(const Call &call) {
    return {.axis = call.option<int>("axis"),
            .order = order_of(call.option<std::string>("order")),
            .sorted = call.option<bool>("sorted")};
}

SgdOptions sgd_options(const Call &call) {
    return {.learning_rate = call.option<float>("learning_rate"),
            .momentum = call.option<float>("momentum"),
            .weight_decay = call.option<float>("weight_decay"),
            .nesterov = call.option<bool>("nesterov")};
}

const std::map<std::string, void (*)(const Call &)> kOperations = {
    {"conv2d",
     [](const Call &call) {
         conv2d(call["input"], call["weight"], call["bias"], {}, call["output"],
                conv_options(call));
     }},
    {"conv2d_backward_data",
     [](const Call &call) {
         conv2d_backward_data(call["output_gradient"], call["weight"], call["input_gradient"],
                              conv_options(call), call.option<float>("beta"));
     }},
    {"quantized_conv2d",
     [](const Call &call) {
         quantized_conv2d(quantized(call, "input"), quantized(call, "weight"),
                          quantized(call, "bias"), quantized(call, "output"), conv_options(call));
     }},
    {"pool2d", [](const Call &call) { pool2d(call["input"], call["output"], pool_options(call)); }},
    {"activate",
     [](const Call &call) { activate(call["input"], call["output"], activation_options(call)); }},
    {"topk",
     [](const Call &call) {
         topk(call["input"], call.option<int64_t>("k"), call["values"], call["indices"],
              topk_options(call));
     }},
    {"softmax_cross_entropy",
     [](const Call &call) {
         softmax_cross_entropy(call["logits"], call["labels"], call["loss"], Tensor());
     }},
    {"sgd_step",
     [](const Call &call) {
         sgd_step(call["parameter"], call["velocity"], call["gradient"], sgd_options(call));
     }},
};

std::streamsize bytes_of(const Tensor &tensor) {
    return static_cast<std::streamsize>(tensor.elements() * size_of(tensor.type()));
}

char *memory_of(const Tensor &tensor) {
    switch (size_of(tensor.type())) {
        case 1:
            return reinterpret_cast<char *>(tensor.data<uint8_t>());
        case 2:
            return reinterpret_cast<char *>(tensor.data<uint16_t>());
        case 4:
            return reinterpret_cast<char *>(tensor.data<uint32_t>());
        default:
            return reinterpret_cast<char *>(tensor.data<uint64_t>());
    }
}

// Of a host tensor, row by row.
Tensor read_array(const json &array) {
    const Tensor tensor(array.at("shape").get<Shape>(),
                        data_type_of(array.at("type").get<std::string>()));
    if (!std::cin.read(memory_of(tensor), bytes_of(tensor))) {
        throw std::runtime_error("the input ends within an array");
    }
    return tensor;
}

void answer(const json &request) {
    Call call{request.at("options"), {}};
    for (const json &array : request.at("arrays")) {
        call.arrays[array.at("name").get<std::string>()] = read_array(array);
    }
    std::vector<Tensor> outputs;
    try {
        const Device device = Device::parse(request.at("device").get<std::string>());
        for (auto &[name, tensor] : call.arrays) tensor = tensor.to(device);
        kOperations.at(request.at("operation").get<std::string>())(call);
        for (const json &name : request.at("outputs")) {
            outputs.push_back(call[name.get<std::string>()].to(Device::cpu()));
        }
    } catch (const Error &error) {
        std::cout << json{{"error", error.what()}} << std::endl;
        return;
    }
    std::cout << "{}\n";
    for (const Tensor &output : outputs) std::cout.write(memory_of(output), bytes_of(output));
    std::cout.flush();
}

}  // namespace
}  // namespace hk

int main() {
    try {
        for (std::string line; std::getline(std::cin, line);) {
            hk::answer(nlohmann::json::parse(line));
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "onnx_calls: %s\n", error.what());
        return 1;
    }
    return 0;
}
