#include "tests/support/jit_conv2d.h"

#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

#include "tests/reference/elements.h"

// Halide's errors are no std::exception; GoogleTest prints the message of those alone.

namespace hk::test {
namespace {

using Relation = Constraint::Relation;

Halide::Type halide_type(DataType type) {
    switch (type) {
        case DataType::f16:
            return Halide::Float(16);
        case DataType::bf16:
            return Halide::BFloat(16);
        default:
            return Halide::Float(32);
    }
}

std::string halide_name(DataType type) {
    return type == DataType::f16 ? "float16" : type == DataType::bf16 ? "bfloat16" : "float32";
}

struct ActivationArguments {
    float slope = 1;
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
    int32_t smooth = 0;
};

ActivationArguments arguments_of(const Conv2dOptions &options) {
    ActivationArguments a;
    switch (options.activation) {
        case Activation::none:
            break;
        case Activation::relu:
            a.low = 0;
            break;
        case Activation::clamp:
            a.low = options.alpha;
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

// A packed tensor as the generator sees it, dimensions innermost first.
Halide::Buffer<> buffer_of(const Tensor &tensor, const std::vector<int64_t> &extents) {
    void *data = tensor.type() == DataType::f32 ? static_cast<void *>(tensor.data<float>())
                                                : tensor.data<uint16_t>();
    return Halide::Buffer<>(halide_type(tensor.type()), data,
                            std::vector<int>(extents.begin(), extents.end()));
}

// Of an operand that is not there: poison, which must not reach the output.
Tensor filled(const Shape &shape, DataType type, const std::vector<double> &values) {
    Tensor tensor(shape, type);
    if (values.empty()) {
        poison(tensor);
    } else {
        reference::write(tensor, values);
    }
    return tensor;
}

}  // namespace

std::vector<JitAlgorithm> jit_algorithms() {
    const int lanes = Halide::get_host_target().natural_vector_size<float>();
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
        {"dot", with({}, "dot"), {{"channels_per_group", Relation::multiple_of, lanes}}},
        {"depthwise", with(one_channel, "depthwise"), {one_in, one_out}},
    };
}

JitAlgorithm jit_algorithm(const KernelInfo &row) {
    JitAlgorithm algorithm{row.row, {{"algorithm", row.algorithm}}, {}};
    algorithm.where.assign(row.where.begin(), row.where.end());
    std::istringstream names(HK_FIXED_FIELDS);
    const std::set<std::string> fixed{std::istream_iterator<std::string>(names), {}};
    for (const Constraint &constraint : row.where) {
        if (constraint.relation == Relation::equal && fixed.contains(constraint.field)) {
            algorithm.parameters["fix_" + std::string(constraint.field)] =
                std::to_string(constraint.value);
        }
    }
    return algorithm;
}

JitConv2d::JitConv2d(const JitAlgorithm &algorithm, const std::string &schedule,
                     const std::string &knobs, DataType type, Layout layout) {
    Halide::GeneratorParamsMap parameters(algorithm.parameters.begin(), algorithm.parameters.end());
    parameters["schedule"] = schedule;
    parameters["knobs"] = knobs;
    parameters["type"] = halide_name(type);
    parameters["layout"] = name_of(layout);
    try {
        function_ =
            Halide::create_callable_from_generator(Halide::get_host_target(), "conv2d", parameters);
    } catch (const Halide::Error &error) {
        throw std::runtime_error(error.what());
    }
}

Tensor JitConv2d::operator()(const Conv2dCase &c, const Conv2dOperands &o) const {
    const Conv2dProblem &p = c.problem;
    const Conv2dOptions &options = p.options;
    const int64_t groups = options.groups, channels = p.channels / groups,
                  filters = p.filters / groups, w = p.output_width(), h = p.output_height();
    const bool nhwc = options.layout == Layout::nhwc;
    using Extents = std::vector<int64_t>;
    const auto image = [&](int64_t size, int64_t width, int64_t height) {
        return nhwc ? Extents{size, groups, width, height, p.batch}
                    : Extents{width, height, size, groups, p.batch};
    };
    const Extents taps = nhwc ? Extents{channels, p.kernel_width, p.kernel_height, filters, groups}
                              : Extents{p.kernel_width, p.kernel_height, channels, filters, groups};

    const Tensor input = filled(o.input_shape, p.type, o.input);
    const Tensor weight = filled(o.weight_shape, p.type, o.weight);
    const Tensor bias = filled({p.filters}, p.type, o.bias);
    const Tensor residual = filled(o.output_shape, p.type, o.residual);
    const Tensor output = filled(o.output_shape, p.type, {});
    const ActivationArguments a = arguments_of(options);
    auto in = buffer_of(input, image(channels, p.width, p.height));
    auto filter = buffer_of(weight, taps);
    auto offset = buffer_of(bias, {filters, groups});
    auto added = buffer_of(residual, image(filters, w, h));
    auto out = buffer_of(output, image(filters, w, h));
    const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
    try {
        function_(in, filter, offset, added, narrow(options.stride[1]), narrow(options.stride[0]),
                  narrow(options.dilation[1]), narrow(options.dilation[0]),
                  narrow(options.padding.left), narrow(options.padding.top), c.bias, c.residual,
                  a.slope, a.low, a.high, a.smooth, out);
    } catch (const Halide::Error &error) {
        throw std::runtime_error(to_string(c) + ": " + error.what());
    }
    return output;
}

std::vector<Conv2dCase> jit_cases(const JitAlgorithm &algorithm, DataType type, Layout layout,
                                  Data data, int count) {
    std::vector<Conv2dCase> cases;
    for (const uint64_t seed : seeds(count * 20)) {
        if (const auto c = random_case(seed, {type, layout, data, algorithm.where, 5e4})) {
            cases.push_back(*c);
        }
        if (static_cast<int>(cases.size()) == count) {
            break;
        }
    }
    return cases;
}

}  // namespace hk::test
