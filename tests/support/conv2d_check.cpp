#include "tests/support/conv2d_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "hk/error.h"
#include "tests/reference/conv2d.h"
#include "tests/reference/elements.h"
#include "tests/support/tolerance.h"

namespace hk::test {
namespace {

Shape nhwc_or_nchw(Layout layout, int64_t n, int64_t y, int64_t x, int64_t c) {
    return layout == Layout::nhwc ? Shape{n, y, x, c} : Shape{n, c, y, x};
}

// Whole numbers in -limit..limit, or any in -1..1.
std::vector<double> numbers(Random &random, const Shape &shape, Data data, int64_t limit) {
    int64_t elements = 1;
    for (const int64_t extent : shape) {
        elements *= extent;
    }
    std::vector<double> values(static_cast<size_t>(elements));
    for (double &value : values) {
        value = data == Data::reals ? std::uniform_real_distribution<>(-1, 1)(random)
                                    : static_cast<double>(uniform(random, -limit, limit));
    }
    return values;
}

void round_to(DataType type, std::vector<double> &values) {
    for (double &value : values) {
        value = reference::rounded(type, value);
    }
}

Tensor host(const Shape &shape, DataType type, const std::vector<double> &values) {
    Tensor tensor(shape, type);
    reference::write(tensor, values);
    return tensor;
}

std::string where(const Conv2dCase &c, size_t place) {
    const Conv2dProblem &p = c.problem;
    const int64_t i = static_cast<int64_t>(place), filters = p.filters, w = p.output_width(),
                  h = p.output_height();
    std::ostringstream text;
    text << "n " << i / (filters * w * h) << " y " << i / (filters * w) % h << " x "
         << i / filters % w << " k " << i % filters;
    return text.str();
}

std::string report(const Conv2dCase &c, Device device, const KernelInfo *row) {
    std::ostringstream text;
    text << "kernel  " << (row ? row->name : "chosen by selection") << "\non      " << device.name()
         << "\nproblem " << to_string(c) << "\nseed    " << c.seed << "\nrepeat  "
         << repeat_command(c.seed);
    return text.str();
}

void run(const KernelInfo *row, const Placed &input, const Placed &weight, const Tensor &bias,
         const Tensor &residual, const Placed &output, const Conv2dOptions &options) {
    if (row) {
        conv2d_with(*row, input.tensor(), weight.tensor(), bias, residual, output.tensor(),
                    options);
    } else {
        conv2d(input.tensor(), weight.tensor(), bias, residual, output.tensor(), options);
    }
}

}  // namespace

Conv2dOperands conv2d_operands(const Conv2dCase &c) {
    const Conv2dProblem &p = c.problem;
    const Layout layout = p.options.layout;
    Random random(c.seed + 1);
    Conv2dOperands o;
    o.input_shape = nhwc_or_nchw(layout, p.batch, p.height, p.width, p.channels);
    o.weight_shape = nhwc_or_nchw(layout, p.filters, p.kernel_height, p.kernel_width,
                                  p.channels / p.options.groups);
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

std::string compare_conv2d(const Conv2dCase &c, const Conv2dOperands &o, const Tensor &output) {
    const Conv2dProblem &p = c.problem;
    const auto expected = reference::conv2d(
        host(o.input_shape, p.type, o.input), host(o.weight_shape, p.type, o.weight),
        c.bias ? host({p.filters}, p.type, o.bias) : Tensor(),
        c.residual ? host(o.output_shape, p.type, o.residual) : Tensor(), p.options);
    const std::vector<double> got =
        reference::read(reference::channels_last(output, p.options.layout));
    std::ostringstream text;
    int wrong = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const bool exact = c.data != Data::reals;
        const double value =
            exact ? reference::rounded(p.type, expected.value[i]) : expected.value[i];
        const double bound =
            exact ? 0 : tolerance(p.type, expected.terms, value, expected.magnitude[i], p.options);
        if (!close(p.type, got[i], value, bound) && wrong++ < 4) {
            text << "\n        " << where(c, i) << ": " << got[i] << ", should be " << value;
            if (!exact) {
                text << " within " << bound;
            }
        }
    }
    for (int64_t i = 0; i < output.elements(); i++) {
        if (is_poison(output, i)) {
            text << "\n        element " << i << " was never written";
            break;
        }
    }
    return wrong ? std::to_string(wrong) + " of " + std::to_string(got.size()) + " elements" +
                       text.str()
                 : text.str();
}

Outcome check_conv2d(const Conv2dCase &c, Device device, const KernelInfo *row) {
    const DataType type = c.problem.type;
    const Conv2dOperands o = conv2d_operands(c);
    Random random(c.seed + 2);
    const Placed input(o.input_shape, type, device, c.input, random, o.input);
    const Placed weight(o.weight_shape, type, device, c.weight, random, o.weight);
    const Placed output(o.output_shape, type, device, c.output, random);
    std::optional<Placed> bias, residual;
    if (c.bias) {
        bias.emplace(Shape{c.problem.filters}, type, device, c.weight, random, o.bias);
    }
    if (c.residual) {
        residual.emplace(o.output_shape, type, device, c.output, random, o.residual);
    }
    try {
        run(row, input, weight, bias ? bias->tensor() : Tensor(),
            residual ? residual->tensor() : Tensor(), output, c.problem.options);
        device.synchronize();
    } catch (const InvalidArgument &error) {
        if (row) {
            return Outcome::refused;
        }
        ADD_FAILURE() << "threw    " << error.what() << '\n' << report(c, device, row);
        return Outcome::failed;
    } catch (const std::exception &error) {
        ADD_FAILURE() << "threw    " << error.what() << '\n' << report(c, device, row);
        return Outcome::failed;
    }

    std::string faults = compare_conv2d(c, o, output.fetch());
    const auto add_fault = [&](const char *what, const std::string &fault) {
        faults += fault.empty() ? "" : std::string("\n        ") + what + ": " + fault;
    };
    add_fault("around the output", output.damage());
    add_fault("input", input.change());
    add_fault("weight", weight.change());
    if (bias) {
        add_fault("bias", bias->change());
    }
    if (residual) {
        add_fault("residual", residual->change());
    }
    if (!faults.empty()) {
        ADD_FAILURE() << "differs " << faults << '\n' << report(c, device, row);
        return Outcome::failed;
    }
    return Outcome::passed;
}

}  // namespace hk::test
