#include "tests/conv2d_backward/case.h"

#include <gtest/gtest.h>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <utility>

#include "tests/conv2d_backward/reference.h"
#include "tests/reference/elements.h"
#include "tests/support/checked_call.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

template<typename Case>
std::optional<Case> drawn(uint64_t seed, const Conv2dRequest &request) {
    Random random(seed);
    const auto problem = random_problem(random, request);
    if (!problem) {
        return {};
    }
    Case c;
    c.seed = seed;
    c.problem = *problem;
    c.data = request.data;
    c.accumulate = one_in(random, 2);
    const bool of_input = std::is_same_v<Case, BackwardDataCase>;
    draw_placements(random, c, request.where,
                    of_input ? &ConvolutionCase::input : &ConvolutionCase::output);
    // The output's gradient is where an output may have to be aligned.
    if (range_of(request.where, "output_alignment").first > 0) std::swap(c.input, c.output);
    const auto &[top, bottom, left, right] = c.problem.options.padding;
    const bool pointwise =
        c.problem.kernel_height * c.problem.kernel_width == 1 && top + bottom + left + right == 0;
    if (request.data == Data::one_infinity && of_input && pointwise) take_infinite_weight(c);
    return c;
}

const char *name_of(Pass pass) {
    const char *names[] = {"data", "weight", "bias"};
    return names[static_cast<size_t>(pass)];
}

// Of values as the type holds them.
std::vector<double> numbers(Random &random, const Conv2dBackwardCase &c, const Shape &shape,
                            int64_t limit) {
    std::vector<double> values =
        c.data == Data::reals ? reals(random, shape) : whole_numbers(random, shape, -limit, limit);
    for (double &value : values) {
        value = reference::rounded(c.problem.type, value);
    }
    return values;
}

// In the order of the reference, whatever the layout.
std::vector<double> image_values(const Conv2dBackwardCase &c, const Shape &shape,
                                 const std::vector<double> &values) {
    const Tensor tensor = host_tensor(shape, c.problem.type, values);
    return reference::read(reference::channels_last(tensor, c.problem.options.layout));
}

std::vector<double> gradient_values(const Conv2dBackwardCase &c, const Tensor &gradient) {
    const Layout layout = c.problem.options.layout;
    switch (c.pass) {
        case Pass::data:
            return reference::read(reference::channels_last(gradient, layout));
        case Pass::weight:
            return reference::read_filters(gradient, layout);
        case Pass::bias:
            break;
    }
    return reference::read(gradient);
}

reference::Conv2dResult expected(const Conv2dBackwardCase &c, const BackwardOperands &o,
                                 const KernelInfo *row) {
    const Conv2dProblem &p = c.problem;
    const std::vector<double> output = image_values(c, o.output_shape, o.output_gradient);
    reference::Conv2dResult result;
    switch (c.pass) {
        case Pass::data: {
            const std::vector<double> weight = reference::read_filters(
                host_tensor(o.factor_shape, p.type, o.factor), p.options.layout);
            if (reference::is_tf32(row)) {
                result = reference::conv2d_backward_data(p, reference::cut_to_tf32(output),
                                                         reference::cut_to_tf32(weight));
                result.terms = reference::terms_in_tf32(result.terms);
                break;
            }
            result = reference::conv2d_backward_data(p, output, weight);
            if (reference::is_winograd(row)) {
                reference::bound_by_winograd(reference::convolution_of_gradient(p), output,
                                             reference::magnitudes_of_channels(p, weight), result);
            }
            break;
        }
        case Pass::weight: {
            const std::vector<double> input = image_values(c, o.factor_shape, o.factor);
            if (reference::is_tf32(row)) {
                result = reference::conv2d_backward_weight(p, reference::cut_to_tf32(output),
                                                           reference::cut_to_tf32(input));
                result.terms = reference::terms_in_tf32(result.terms);
                break;
            }
            result = reference::conv2d_backward_weight(p, output, input);
            break;
        }
        case Pass::bias:
            result = reference::conv2d_backward_bias(p, output);
            break;
    }
    if (c.accumulate) {
        const Tensor previous = host_tensor(o.gradient_shape, p.type, o.previous);
        reference::accumulate(result, gradient_values(c, previous), 1);
    }
    return result;
}

// "n 0 y 3 x 2 c 5", of an element of a gradient in the order of the reference.
std::string place_in(const Conv2dBackwardCase &c, size_t place) {
    const Conv2dProblem &p = c.problem;
    if (c.pass == Pass::data) return name_of_place(p.height, p.width, p.channels, place);
    const auto i = static_cast<int64_t>(place), per_group = p.channels / p.options.groups;
    std::ostringstream text;
    if (c.pass == Pass::weight) {
        const int64_t tap = i / (p.filters * per_group);
        text << "k " << i % p.filters << " r " << tap / p.kernel_width << " s "
             << tap % p.kernel_width << " c " << i / p.filters % per_group;
    } else {
        text << "k " << i;
    }
    return text.str();
}

void run(const Conv2dBackwardCase &c, const KernelInfo *row, const Tensor &output,
         const Tensor &factor, const Tensor &gradient) {
    const Conv2dOptions &options = c.problem.options;
    const float beta = c.accumulate ? 1 : 0;
    switch (c.pass) {
        case Pass::data:
            return row ? conv2d_backward_data_with(*row, output, factor, gradient, options, beta)
                       : conv2d_backward_data(output, factor, gradient, options, beta);
        case Pass::weight:
            return row ? conv2d_backward_weight_with(*row, output, factor, gradient, options, beta)
                       : conv2d_backward_weight(output, factor, gradient, options, beta);
        case Pass::bias:
            return row ? conv2d_backward_bias_with(*row, output, gradient, options.layout, beta)
                       : conv2d_backward_bias(output, gradient, options.layout, beta);
    }
}

}  // namespace

bool take_infinite_weight(Conv2dBackwardCase &c) {
    const Conv2dOptions &o = c.problem.options;
    Padding all{};
    all.top = all.bottom = o.dilation[0] * (c.problem.kernel_height - 1);
    all.left = all.right = o.dilation[1] * (c.problem.kernel_width - 1);
    c.infinite_weight = o.stride[0] * o.stride[1] == 1;
    if (c.infinite_weight) c.problem.options.padding = all;
    return c.infinite_weight;
}

template<>
std::optional<BackwardDataCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    return drawn<BackwardDataCase>(seed, request);
}

template<>
std::optional<BackwardWeightCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    return drawn<BackwardWeightCase>(seed, request);
}

template<>
std::optional<BackwardBiasCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    return drawn<BackwardBiasCase>(seed, request);
}

std::vector<int64_t> Conv2dBackwardCase::traits() const {
    std::vector<int64_t> traits = ConvolutionCase::traits();
    traits.push_back(accumulate);
    return traits;
}

std::string to_string(const Conv2dBackwardCase &c) {
    return std::string("backward ") + name_of(c.pass) + " of " + to_string(c.problem) +
           (c.accumulate ? " accumulating" : "") + describe_data(c) +
           (c.infinite_weight ? ", one in the weight" : "");
}

BackwardOperands backward_operands(const Conv2dBackwardCase &c) {
    const Conv2dProblem &p = c.problem;
    Random random(c.seed + 1);
    BackwardOperands o;
    o.output_shape = p.output_shape();
    o.factor_shape = c.pass == Pass::data ? weight_shape(p) : input_shape(p);
    o.gradient_shape = c.pass == Pass::data     ? input_shape(p)
                       : c.pass == Pass::weight ? weight_shape(p)
                                                : Shape{p.filters};
    o.output_gradient = numbers(random, c, o.output_shape, 4);
    if (c.pass != Pass::bias) {
        o.factor = numbers(random, c, o.factor_shape, 3);
    }
    if (c.accumulate) {
        o.previous = numbers(random, c, o.gradient_shape, 16);
    }
    if (c.data != Data::one_nan && c.data != Data::one_infinity) {
        return o;
    }
    // In one factor; the other has no zero, for zero times infinity is NaN. Not in the output's
    // gradient where it meets the zeros of the padding.
    const bool in_factor = c.pass == Pass::weight;
    std::vector<double> &spoilt = in_factor ? o.factor : o.output_gradient;
    for (double &value : in_factor ? o.output_gradient : o.factor) {
        value = value == 0 ? 1 : value;
    }
    spoil(random, spoilt, in_factor ? o.factor_shape : o.output_shape, p.options.layout,
          p.options.groups, c.data);
    if (c.infinite_weight) {
        for (double &gradient : o.output_gradient) gradient = gradient == 0 ? 1 : gradient;
        // Of the last filter.
        const int64_t of_filter = std::ssize(o.factor) / p.filters;
        o.factor[o.factor.size() - static_cast<size_t>(uniform(random, 1, of_filter))] =
            std::numeric_limits<double>::infinity();
    }
    return o;
}

std::string compare(const Conv2dBackwardCase &c, const BackwardOperands &o, const Tensor &gradient,
                    const KernelInfo *row) {
    const DataType type = c.problem.type;
    const reference::Conv2dResult wanted = expected(c, o, row);
    const std::vector<double> got = gradient_values(c, gradient);
    const bool winograd = reference::is_winograd(row);
    std::vector<bool> spoilt(got.size());
    if (winograd) {
        spoilt = reference::spoilt_by_winograd(reference::convolution_of_gradient(c.problem),
                                               image_values(c, o.output_shape, o.output_gradient));
    }
    const auto fault = [&](size_t i) {
        // What is NaN of the definition stays it, all else there may be anything.
        if (spoilt[i] && !std::isnan(wanted.value[i])) return std::string();
        return fault_of_sum(type, got[i], wanted.value[i], wanted.magnitude[i], wanted.terms,
                            c.data != Data::reals && !winograd);
    };
    return differences([&](size_t i) { return place_in(c, i); }, got, fault) + unwritten(gradient);
}

std::span<const KernelInfo> rows_of(Pass pass) {
    switch (pass) {
        case Pass::data:
            return conv2d_backward_data_kernels();
        case Pass::weight:
            return conv2d_backward_weight_kernels();
        case Pass::bias:
            return conv2d_backward_bias_kernels();
    }
    return {};
}

Outcome check(const Conv2dBackwardCase &c, Device device, const KernelInfo *row) {
    const DataType type = c.problem.type;
    const BackwardOperands o = backward_operands(c);
    Random random(c.seed + 2);
    const Placed output(host_tensor(o.output_shape, type, o.output_gradient), device, c.input,
                        random);
    std::optional<Placed> factor;
    if (c.pass != Pass::bias) {
        factor.emplace(host_tensor(o.factor_shape, type, o.factor), device, c.weight, random);
    }
    // The gradient of a bias is packed.
    const bool vector = c.pass == Pass::bias && c.output == Placement::steps;
    const Placed gradient(filled(o.gradient_shape, type, o.previous), device,
                          vector ? Placement::margins : c.output, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"output gradient", &output}, {"factor", address_of(factor)}};
    checked.call = [&] { run(c, row, output.tensor(), tensor_of(factor), gradient.tensor()); };
    const KernelInfo *runs = row;
    if (!row && c.pass == Pass::data) {
        runs = select_conv2d_backward_data(c.problem, device.type(), device.limits()).kernel;
    }
    checked.outputs = {
        {"gradient", &gradient, [&](const Tensor &result) { return compare(c, o, result, runs); }}};
    return checked.run();
}

void expect_same_bits(const KernelInfo &first, const KernelInfo &other, Device device,
                      Conv2dRequest request) {
    std::vector<Constraint> where(request.where.begin(), request.where.end());
    where.push_back({"groups", Constraint::Relation::at_least, 2});
    request.where = where;
    int checked = 0;
    for (const uint64_t seed : seeds(40)) {
        const auto c = random_case<BackwardDataCase>(seed, request);
        if (!c) continue;
        const BackwardOperands o = backward_operands(*c);
        const auto tensor = [&](const Shape &shape, const std::vector<double> &values) {
            return host_tensor(shape, first.type, values).to(device);
        };
        const Tensor output = tensor(o.output_shape, o.output_gradient),
                     weight = tensor(o.factor_shape, o.factor);
        const auto computed = [&](const KernelInfo &kernel) {
            const Tensor gradient(o.gradient_shape, first.type, device);
            conv2d_backward_data_with(kernel, output, weight, gradient, c->problem.options);
            return reference::bits(gradient.to(Device::cpu()));
        };
        ASSERT_EQ(computed(first), computed(other))
            << to_string(*c) << "\nrepeat  " << repeat_command(seed);
        checked++;
    }
    EXPECT_GE(checked, std::getenv("HK_SEED") ? 0 : 10);
}

}  // namespace hk::test
