#include "tests/reference/conv2d.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/reference/elements.h"

namespace hk::reference {
namespace {

struct Operands {
    const Conv2dProblem &problem;
    int64_t group_channels, group_filters, out_h, out_w;
    const std::vector<double> &input, &weight;
};

// Adds the products of one pixel's group to sum(k) and magnitude(k).
void accumulate(const Operands &o, int64_t n, int64_t y, int64_t x, int64_t g, double *sum,
                double *magnitude) {
    const Conv2dProblem &p = o.problem;
    const Conv2dOptions &options = p.options;
    for (int64_t r = 0; r < p.kernel_height; r++) {
        const int64_t in_y = y * options.stride[0] + r * options.dilation[0] - options.padding.top;
        if (in_y < 0 || in_y >= p.height) {
            continue;
        }
        for (int64_t s = 0; s < p.kernel_width; s++) {
            const int64_t in_x =
                x * options.stride[1] + s * options.dilation[1] - options.padding.left;
            if (in_x < 0 || in_x >= p.width) {
                continue;
            }
            const double *in = &o.input[((n * p.height + in_y) * p.width + in_x) * p.channels +
                                        g * o.group_channels];
            const double *weight =
                &o.weight[(r * p.kernel_width + s) * o.group_channels * p.filters +
                          g * o.group_filters];
            for (int64_t c = 0; c < o.group_channels; c++, weight += p.filters) {
                for (int64_t k = 0; k < o.group_filters; k++) {
                    const double term = weight[k] * in[c];
                    sum[k] += term;
                    magnitude[k] += std::abs(term);
                }
            }
        }
    }
}

void add(const std::vector<double> &terms, size_t period, Conv2dResult &result) {
    for (size_t i = 0; i < result.value.size(); i++) {
        const double term = terms[i % period];
        result.value[i] += term;
        result.magnitude[i] += std::abs(term);
    }
    result.terms++;
}

}  // namespace

Tensor channels_last(const Tensor &tensor, Layout layout) {
    return layout == Layout::nhwc ? tensor : tensor.permute({0, 2, 3, 1});
}

double activate(double value, const Conv2dOptions &options) {
    switch (options.activation) {
        case Activation::none:
            return value;
        case Activation::relu:
            return value < 0 ? 0 : value;
        case Activation::clamp:
            return value < options.alpha  ? options.alpha
                   : value > options.beta ? options.beta
                                          : value;
        case Activation::leaky_relu:
            return value < 0 ? options.alpha * value : value;
        case Activation::silu:
            return value / (1 + std::exp(-value));
        case Activation::gelu:
            return value * (1 + std::erf(value / std::numbers::sqrt2)) / 2;
    }
    return value;
}

Conv2dResult conv2d_sums(const Conv2dProblem &p, const std::vector<double> &input,
                         const std::vector<double> &weight) {
    const Conv2dOptions &options = p.options;
    const Operands o{.problem = p,
                     .group_channels = p.channels / options.groups,
                     .group_filters = p.filters / options.groups,
                     .out_h = p.output_height(),
                     .out_w = p.output_width(),
                     .input = input,
                     .weight = weight};
    Conv2dResult result;
    const int64_t pixels = p.batch * o.out_h * o.out_w;
    result.value.assign(static_cast<size_t>(pixels * p.filters), 0);
    result.magnitude = result.value;
    result.terms = o.group_channels * p.kernel_height * p.kernel_width;
    for (int64_t i = 0; i < pixels; i++) {
        const int64_t n = i / (o.out_h * o.out_w), y = i / o.out_w % o.out_h, x = i % o.out_w;
        for (int64_t g = 0; g < options.groups; g++) {
            const int64_t first = i * p.filters + g * o.group_filters;
            accumulate(o, n, y, x, g, &result.value[first], &result.magnitude[first]);
        }
    }
    return result;
}

std::vector<double> read_filters(const Tensor &weight, Layout layout) {
    return read(channels_last(weight, layout).permute({1, 2, 3, 0}));
}

Conv2dResult conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias,
                    const Tensor &residual, const Conv2dOptions &options) {
    const Conv2dProblem p =
        Conv2dProblem::from_shapes(input.shape(), weight.shape(), input.type(), options);
    Conv2dResult result = conv2d_sums(p, read(channels_last(input, options.layout)),
                                      read_filters(weight, options.layout));
    if (bias.defined()) {
        add(read(bias), static_cast<size_t>(p.filters), result);
    }
    if (residual.defined()) {
        add(read(channels_last(residual, options.layout)), result.value.size(), result);
    }
    for (double &value : result.value) {
        value = activate(value, options);
    }
    return result;
}

}  // namespace hk::reference
