#include "tests/support/jit.h"

#include <algorithm>
#include <stdexcept>

#include "tests/support/placed.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

using Relation = Constraint::Relation;

std::string halide_name(DataType type) {
    const std::map<DataType, std::string> names = {{DataType::f32, "float32"},
                                                   {DataType::f16, "float16"},
                                                   {DataType::bf16, "bfloat16"},
                                                   {DataType::u8, "uint8"}};
    return names.at(type);
}

// A packed tensor's elements in Halide's terms.
std::pair<Halide::Type, void *> elements_of(const Tensor &tensor) {
    switch (tensor.type()) {
        case DataType::f16:
            return {Halide::Float(16), tensor.data<uint16_t>()};
        case DataType::bf16:
            return {Halide::BFloat(16), tensor.data<uint16_t>()};
        case DataType::u8:
            return {Halide::UInt(8), tensor.data<uint8_t>()};
        case DataType::s8:
            return {Halide::Int(8), tensor.data<int8_t>()};
        default:
            return {Halide::Float(32), tensor.data<float>()};
    }
}

}  // namespace

std::vector<JitAlgorithm> jit_algorithms(int64_t dot_channels) {
    const std::map<std::string, std::string> one_channel = {{"fix_channels_per_group", "1"},
                                                            {"fix_filters_per_group", "1"}};
    const auto with = [](std::map<std::string, std::string> parameters,
                         const std::string &algorithm) {
        parameters["algorithm"] = algorithm;
        return parameters;
    };
    const Constraint one_in{"channels_per_group", Relation::equal, 1};
    const Constraint one_out{"filters_per_group", Relation::equal, 1};
    const Constraint kernel_w{"kernel_w", Relation::equal, 3};
    const Constraint kernel_h{"kernel_h", Relation::equal, 3};
    return {
        {"packed", with({}, "packed"), {}},
        {"packed_3x3",
         with({{"fix_kernel_w", "3"}, {"fix_kernel_h", "3"}}, "packed"),
         {kernel_w, kernel_h}},
        {"packed_1x1",
         with({{"fix_kernel_w", "1"}, {"fix_kernel_h", "1"}, {"fix_padding", "0"}}, "packed"),
         {{"kernel_w", Relation::equal, 1},
          {"kernel_h", Relation::equal, 1},
          {"padding", Relation::equal, 0}}},
        {"sliced", with({}, "sliced"), {}},
        {"dot", with({}, "dot"), {{"channels_per_group", Relation::multiple_of, dot_channels}}},
        {"depthwise", with(one_channel, "depthwise"), {one_in, one_out}},
    };
}

Halide::Callable jit_compile(const std::string &family, const JitAlgorithm &algorithm,
                             const std::string &schedule, const std::string &knobs, DataType type,
                             Layout layout) {
    Halide::GeneratorParamsMap parameters(algorithm.parameters.begin(), algorithm.parameters.end());
    parameters["schedule"] = schedule;
    parameters["knobs"] = knobs;
    parameters["type"] = halide_name(type);
    parameters["layout"] = name_of(layout);
    try {
        return Halide::create_callable_from_generator(Halide::get_host_target(), family,
                                                      parameters);
    } catch (const Halide::Error &error) {
        throw std::runtime_error(error.what());
    }
}

JitActivation jit_activation(const Conv2dOptions &options) {
    JitActivation a;
    switch (options.activation) {
        case Activation::none:
            break;
        case Activation::relu:
            a.low = 0;
            break;
        case Activation::clamp:
            a.low = std::min(options.alpha, options.beta);
            a.high = options.beta;
            break;
        case Activation::leaky_relu:
            a.slope = options.alpha;
            break;
        case Activation::silu:
            a.smooth = 1;
            break;
        case Activation::gelu:
            a.smooth = 2;
            break;
    }
    return a;
}

Halide::Buffer<> buffer_of(const Tensor &tensor, const std::vector<int64_t> &extents) {
    const auto [type, data] = elements_of(tensor);
    return Halide::Buffer<>(type, data, std::vector<int>(extents.begin(), extents.end()));
}

std::vector<int64_t> image_extents(const Conv2dProblem &p, int64_t channels, int64_t width,
                                   int64_t height) {
    if (p.options.layout == Layout::nhwc) {
        return {channels, p.options.groups, width, height, p.batch};
    }
    return {width, height, channels, p.options.groups, p.batch};
}

std::vector<int64_t> filter_extents(const Conv2dProblem &p) {
    const int64_t groups = p.options.groups, channels = p.channels / groups,
                  filters = p.filters / groups;
    if (p.options.layout == Layout::nhwc) {
        return {channels, p.kernel_width, p.kernel_height, filters, groups};
    }
    return {p.kernel_width, p.kernel_height, channels, filters, groups};
}

}  // namespace hk::test
