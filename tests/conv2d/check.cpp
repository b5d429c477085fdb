#include "tests/conv2d/check.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "tests/conv2d/reference.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

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
        if (!o.input.empty()) {
            o.input[static_cast<size_t>(uniform(random, 0, std::ssize(o.input) - 1))] =
                c.data == Data::one_nan ? std::numeric_limits<double>::quiet_NaN()
                                        : std::numeric_limits<double>::infinity();
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
    const bool exact = c.data != Data::reals && !reference::is_winograd(row);
    std::vector<bool> spoilt(got.size());
    if (reference::is_winograd(row)) {
        spoilt = reference::spoilt_by_winograd(
            p, reference::read(reference::channels_last(input, p.options.layout)));
    }
    const auto fault = [&](size_t i) {
        // What is NaN of the definition stays it, all else there may be anything.
        if (spoilt[i] && !std::isnan(expected.value[i])) return std::string();
        const double value =
            exact ? reference::rounded(p.type, expected.value[i]) : expected.value[i];
        const double bound =
            exact ? 0
                  : reference::tolerance(p.type, expected.terms, value, expected.magnitude[i],
                                         reference::activation_in(p.options));
        std::ostringstream wanted;
        if (!reference::close(p.type, got[i], value, bound)) {
            wanted << value;
            if (!exact) {
                wanted << " within " << bound;
            }
        }
        return wanted.str();
    };
    return differences(p, got, fault) + unwritten(output);
}

Outcome check(const Conv2dCase &c, Device device, const KernelInfo *row) {
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
