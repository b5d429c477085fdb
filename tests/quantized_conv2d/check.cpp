#include "tests/quantized_conv2d/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/quantized_conv2d/reference.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

std::vector<double> bytes(Random &random, const Shape &shape, DataType type, Stored stored,
                          int32_t zero_point) {
    const int64_t least = type == DataType::u8 ? 0 : -128, most = least + 255;
    if (stored == Stored::any) {
        return whole_numbers(random, shape, least, most);
    }
    if (stored == Stored::centred) {
        return whole_numbers(random, shape, std::max<int64_t>(zero_point - 2, least),
                             std::min<int64_t>(zero_point + 2, most));
    }
    std::vector<double> values = whole_numbers(random, shape, 0, 1);
    for (double &value : values) {
        value = static_cast<double>(least) + 255 * value;
    }
    return values;
}

std::vector<double> input_values(Random &random, const QuantizedConv2dCase &c) {
    const Shape shape = input_shape(c.problem);
    if (c.integer()) {
        return bytes(random, shape, c.problem.type, c.stored, c.input_zero_point);
    }
    if (c.data == Data::reals) {
        std::vector<double> values = reals(random, shape);
        for (double &value : values) {
            value = static_cast<float>(value);
        }
        return values;
    }
    std::vector<double> values = whole_numbers(random, shape, -4, 4);
    if (c.data != Data::integers)
        spoil(random, values, shape, c.problem.options.layout, c.problem.options.groups, c.data);
    return values;
}

std::vector<double> bias_values(Random &random, const QuantizedConv2dCase &c) {
    const Shape shape{c.problem.filters};
    switch (c.bias) {
        case QuantizedBias::none:
            return {};
        case QuantizedBias::quantized_s8:
            return bytes(random, shape, DataType::s8, Stored::any, 0);
        case QuantizedBias::quantized_s32:
            return whole_numbers(random, shape, -100000, 100000);
        case QuantizedBias::sum_s32: {
            const double most = 40. * c.unit / (c.input_scale * c.weight_scale);
            const auto limit = static_cast<int64_t>(std::ceil(most));
            return whole_numbers(random, shape, -limit, limit);
        }
        case QuantizedBias::real_f32:
            break;
    }
    std::vector<double> values = reals(random, shape);
    for (double &value : values) {
        value = static_cast<float>(40 * c.unit * value);
    }
    return values;
}

// One, or one of each filter between a half and twice of it; powers of two stay such.
std::vector<float> scales(Random &random, float scale, bool per_filter, int64_t filters) {
    std::vector<float> result(per_filter ? static_cast<size_t>(filters) : 1, scale);
    const bool power = std::exp2(std::round(std::log2(scale))) == scale;
    for (float &each : result) {
        if (per_filter) {
            const double bits = std::uniform_real_distribution<>(-1, 1)(random);
            each *= static_cast<float>(std::exp2(power ? std::round(bits) : bits));
        }
    }
    return result;
}

Quantization quantization(const std::vector<float> &scales, bool per_filter, int32_t zero_point,
                          Device device) {
    return per_filter ? Quantization(scales, zero_point, device)
                      : Quantization(scales[0], zero_point);
}

// Whether a result may stand for the exact one; what it should be where not.
std::string fault(const QuantizedConv2dCase &c, const reference::QuantizedConv2dResult &expected,
                  size_t i, double got) {
    std::ostringstream wanted;
    wanted.precision(9);
    const bool exact = c.data != Data::reals;
    // Sums that are exact in s32 or f32 are rounded a few times afterwards, others with each term.
    const double value = expected.value[i];
    const double bound =
        reference::tolerance(DataType::f32, exact ? 4 : expected.sum.terms + 4, value,
                             expected.magnitude[i], reference::activation_in(c.problem.options));
    if (c.output_type == DataType::s32) {
        const double sum = reference::wrapped(expected.sum.value[i]);
        if (got != sum) wanted << sum;
    } else if (!c.requantized()) {
        if (!reference::close(DataType::f32, got, value, bound)) {
            wanted << value << " within " << bound;
        }
    } else {
        const auto stored = [&](double v) {
            return reference::stored(v, c.output_type, c.output_zero_point);
        };
        const double first = stored(exact ? expected.separate[i] : value - bound);
        const double last = stored(exact ? expected.fused[i] : value + bound);
        if (got < std::min(first, last) || got > std::max(first, last)) {
            wanted << first << " to " << last << ", from " << value;
        }
    }
    return wanted.str();
}

void run(const KernelInfo *row, const QuantizedTensor &input, const QuantizedTensor &weight,
         const QuantizedTensor &bias, const QuantizedTensor &output, const Conv2dProblem &problem) {
    const QuantizedFilter filter =
        problem.prepared_filter ? prepare_filter(weight) : QuantizedFilter(weight);
    // A prepared one, twice: what the first call keeps serves the second.
    for (int call = 0; call <= problem.prepared_filter; call++) {
        if (row) {
            quantized_conv2d_with(*row, input, filter, bias, output, problem.options);
        } else {
            quantized_conv2d(input, filter, bias, output, problem.options);
        }
    }
}

}  // namespace

std::optional<DataType> bias_type(QuantizedBias bias) {
    switch (bias) {
        case QuantizedBias::none:
            return {};
        case QuantizedBias::real_f32:
            return DataType::f32;
        case QuantizedBias::quantized_s8:
            return DataType::s8;
        default:
            return DataType::s32;
    }
}

QuantizedConv2dOperands quantized_conv2d_operands(const QuantizedConv2dCase &c) {
    Random random(c.seed + 1);
    const int64_t filters = c.problem.filters;
    QuantizedConv2dOperands o;
    o.input = input_values(random, c);
    o.weight = bytes(random, weight_shape(c.problem), DataType::s8, c.stored, c.weight_zero_point);
    o.bias = bias_values(random, c);
    o.weight_scales = scales(random, c.weight_scale, c.scale_per_filter, filters);
    o.bias_scales = scales(random, c.bias_scale, c.bias_scale_per_filter, filters);
    return o;
}

Quantizations::Quantizations(const QuantizedConv2dCase &c, const QuantizedConv2dOperands &o,
                             Device device) {
    if (c.integer()) {
        input = Quantization(c.input_scale, c.input_zero_point);
    }
    weight = quantization(o.weight_scales, c.scale_per_filter, c.weight_zero_point, device);
    if (c.bias == QuantizedBias::quantized_s8 || c.bias == QuantizedBias::quantized_s32) {
        bias = quantization(o.bias_scales, c.bias_scale_per_filter, c.bias_zero_point, device);
    }
    if (c.requantized()) {
        output = Quantization(c.output_scale, c.output_zero_point);
    }
}

QuantizedHostTensors::QuantizedHostTensors(const QuantizedConv2dCase &c,
                                           const QuantizedConv2dOperands &o) {
    const Quantizations q(c, o, Device::cpu());
    input = {host_tensor(input_shape(c.problem), c.problem.type, o.input), q.input};
    weight = {host_tensor(weight_shape(c.problem), DataType::s8, o.weight), q.weight};
    if (const auto type = bias_type(c.bias)) {
        bias = {host_tensor({c.problem.filters}, *type, o.bias), q.bias};
    }
    output = q.output;
}

std::string compare(const QuantizedConv2dCase &c, const QuantizedHostTensors &tensors,
                    const Tensor &output) {
    const Conv2dOptions &options = c.problem.options;
    const auto expected = reference::quantized_conv2d(tensors.input, tensors.weight, tensors.bias,
                                                      tensors.output, options);
    const std::vector<double> got =
        reference::read(reference::channels_last(output, options.layout));
    return differences(c.problem, got, [&](size_t i) { return fault(c, expected, i, got[i]); }) +
           unwritten(output);
}

std::string compare_part(const QuantizedConv2dCase &c, const QuantizedHostTensors &tensors,
                         const Tensor &output, const Part &part) {
    const Layout layout = c.problem.options.layout;
    const PartProblem cut = problem_of(c.problem, part);
    const Part read{cut.input_y, cut.input_x, cut.problem.height, cut.problem.width};
    QuantizedConv2dCase cut_case = c;
    cut_case.problem = cut.problem;
    QuantizedHostTensors cut_tensors = tensors;
    cut_tensors.input.values = slice_of(tensors.input.values, layout, read);
    return compare(cut_case, cut_tensors, slice_of(output, layout, part).to(Device::cpu()));
}

Outcome check(const QuantizedConv2dCase &c, Device device, const KernelInfo *row) {
    const Conv2dProblem &p = c.problem;
    const QuantizedConv2dOperands o = quantized_conv2d_operands(c);
    const Quantizations q(c, o, device);
    Random random(c.seed + 2);
    const Placed input(host_tensor(input_shape(p), p.type, o.input), device, c.input, random);
    const Placed weight(host_tensor(weight_shape(p), DataType::s8, o.weight), device, c.weight,
                        random);
    const Placed output(p.output_shape(), c.output_type, device, c.output, random);
    std::optional<Placed> bias;
    if (const auto type = bias_type(c.bias)) {
        bias.emplace(host_tensor({p.filters}, *type, o.bias), device, c.weight, random);
    }
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"input", &input}, {"weight", &weight}, {"bias", address_of(bias)}};
    checked.call = [&] {
        run(row, {input.tensor(), q.input}, {weight.tensor(), q.weight}, {tensor_of(bias), q.bias},
            {output.tensor(), q.output}, p);
    };
    checked.outputs = {{"output", &output, [&](const Tensor &result) {
                            return compare(c, QuantizedHostTensors(c, o), result);
                        }}};
    return checked.run();
}

}  // namespace hk::test
