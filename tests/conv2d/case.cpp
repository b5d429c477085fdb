#include "tests/conv2d/case.h"

#include <cmath>
#include <limits>

#include "tests/conv2d/reference.h"
#include "tests/reference/elements.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

void draw_activation(Random &random, Data data, Conv2dOptions &options) {
    const bool exact = data != Data::reals;
    const auto number = [](Activation a) { return static_cast<int64_t>(a); };
    const int64_t last = number(exact ? Activation::leaky_relu : Activation::gelu);
    // silu and gelu, which only reals test, most of the time.
    const bool smooth = !exact && !one_in(random, 4);
    options.activation =
        static_cast<Activation>(uniform(random, smooth ? number(Activation::silu) : 0, last));
    if (options.activation == Activation::clamp) {
        options.alpha = exact ? -6 : -0.75f;
        options.beta = exact ? 6 : 0.5f;
    } else if (options.activation == Activation::leaky_relu) {
        // Of either sign: a slope below zero turns the branch into an absolute value.
        options.alpha = one_in(random, 4) ? -0.5f : 0.25f;
    }
}

// Whole numbers in -limit..limit, or any in -1..1.
std::vector<double> numbers(Random &random, const Shape &shape, Data data, int64_t limit) {
    return data == Data::reals ? reals(random, shape) : whole_numbers(random, shape, -limit, limit);
}

void round_to(DataType type, std::vector<double> &values) {
    for (double &value : values) {
        value = reference::rounded(type, value);
    }
}

void run(const KernelInfo *row, const Placed &input, const Placed &weight, const Tensor &bias,
         const Tensor &residual, const Placed &output, const Conv2dProblem &problem) {
    const Filter filter =
        problem.prepared_filter ? prepare_filter(weight.tensor()) : weight.tensor();
    // A prepared one, twice: what the first call keeps serves the second.
    for (int call = 0; call <= problem.prepared_filter; call++) {
        if (row) {
            conv2d_with(*row, input.tensor(), filter, bias, residual, output.tensor(),
                        problem.options);
        } else {
            conv2d(input.tensor(), filter, bias, residual, output.tensor(), problem.options);
        }
    }
}

}  // namespace

template<>
std::optional<Conv2dCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    Random random(seed);
    const auto problem = random_problem(random, request);
    if (!problem) {
        return {};
    }
    Conv2dCase c{{.seed = seed, .problem = *problem, .data = request.data}};
    c.problem.prepared_filter = range_of(request.where, "prepared").moved(one_in(random, 2));
    draw_activation(random, request.data, c.problem.options);
    c.bias = !one_in(random, 3);
    c.residual = one_in(random, 2);
    draw_placements(random, c, request.where);
    // Padding times infinity is NaN, and so is what Winograd's transforms make of it.
    const auto &[top, bottom, left, right] = c.problem.options.padding;
    c.infinite_weight = request.data == Data::one_infinity && top + bottom + left + right == 0 &&
                        range_of(request.where, "winograd_tiles").first == 0;
    return c;
}

std::vector<int64_t> Conv2dCase::traits() const {
    std::vector<int64_t> traits = ConvolutionCase::traits();
    traits.insert(traits.end(), {bias, residual, static_cast<int64_t>(problem.options.activation)});
    return traits;
}

std::string to_string(const Conv2dCase &c) {
    return to_string(c.problem) + (c.bias ? " bias" : "") + (c.residual ? " residual" : "") +
           describe_data(c) + (c.infinite_weight ? ", one in the weight" : "");
}

Conv2dOperands conv2d_operands(const Conv2dCase &c) {
    const Conv2dProblem &p = c.problem;
    Random random(c.seed + 1);
    Conv2dOperands o;
    o.input_shape = input_shape(p);
    o.weight_shape = weight_shape(p);
    o.output_shape = p.output_shape();
    o.input = numbers(random, o.input_shape, c.data, 4);
    o.weight = numbers(random, o.weight_shape, c.data, 3);
    if (c.bias) {
        o.bias = numbers(random, {p.filters}, c.data, 8);
    }
    if (c.residual) {
        o.residual = numbers(random, o.output_shape, c.data, 16);
    }
    for (auto *values : {&o.input, &o.weight, &o.bias, &o.residual}) {
        round_to(p.type, *values);
    }
    if (c.data == Data::one_nan || c.data == Data::one_infinity) {
        // No weight is zero, for zero times infinity is NaN.
        for (double &weight : o.weight) {
            weight = weight == 0 ? 1 : weight;
        }
        spoil(random, o.input, o.input_shape, p.options.layout, p.options.groups, c.data);
        if (c.infinite_weight) {
            for (double &input : o.input) input = input == 0 ? 1 : input;
            spoil(random, o.weight, o.weight_shape, p.options.layout, 1, c.data);
        }
    }
    return o;
}

std::string compare(const Conv2dCase &c, const Conv2dOperands &o, const Tensor &output,
                    const KernelInfo *row) {
    const Conv2dProblem &p = c.problem;
    const Tensor input = host_tensor(o.input_shape, p.type, o.input);
    const auto expected = reference::conv2d(
        input, host_tensor(o.weight_shape, p.type, o.weight),
        c.bias ? host_tensor({p.filters}, p.type, o.bias) : Tensor(),
        c.residual ? host_tensor(o.output_shape, p.type, o.residual) : Tensor(), p.options, row);
    const std::vector<double> got =
        reference::read(reference::channels_last(output, p.options.layout));
    const bool winograd = reference::is_winograd(row);
    std::vector<bool> spoilt(got.size());
    if (winograd) {
        spoilt = reference::spoilt_by_winograd(
            p, reference::read(reference::channels_last(input, p.options.layout)));
    }
    const auto fault = [&](size_t i) {
        // What is NaN of the definition stays it, all else there may be anything.
        if (spoilt[i] && !std::isnan(expected.value[i])) return std::string();
        return fault_of_sum(p.type, got[i], expected.value[i], expected.magnitude[i],
                            expected.terms, c.data != Data::reals && !winograd,
                            reference::activation_in(p.options));
    };
    return differences(p, got, fault) + unwritten(output);
}

Outcome check(const Conv2dCase &c, Device device, const KernelInfo *row) {
    if (c.infinite_weight && row && reference::is_winograd(row)) {
        Conv2dCase finite = c;
        finite.infinite_weight = false;
        return check(finite, device, row);
    }
    const DataType type = c.problem.type;
    const Conv2dOperands o = conv2d_operands(c);
    Random random(c.seed + 2);
    const Placed input(host_tensor(o.input_shape, type, o.input), device, c.input, random);
    const Placed weight(host_tensor(o.weight_shape, type, o.weight), device, c.weight, random);
    const Placed output(o.output_shape, type, device, c.output, random);
    std::optional<Placed> bias, residual;
    if (c.bias) {
        bias.emplace(host_tensor({c.problem.filters}, type, o.bias), device, c.weight, random);
    }
    if (c.residual) {
        residual.emplace(host_tensor(o.output_shape, type, o.residual), device, c.output, random);
    }
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"input", &input},
                      {"weight", &weight},
                      {"bias", address_of(bias)},
                      {"residual", address_of(residual)}};
    checked.call = [&] {
        run(row, input, weight, tensor_of(bias), tensor_of(residual), output, c.problem);
    };
    const KernelInfo *const runs =
        row ? row : select_conv2d(c.problem, device.type(), device.limits()).kernel;
    checked.outputs = {
        {"output", &output, [&](const Tensor &result) { return compare(c, o, result, runs); }}};
    return checked.run();
}

}  // namespace hk::test
