#include "tests/conv2d/reference.h"

#include <cmath>
#include <numbers>

#include "tests/reference/elements.h"
#include "tests/convolution/products.h"

namespace hk::reference {
namespace {

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
            if (value < options.alpha) value = options.alpha;
            return value > options.beta ? options.beta : value;
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
    Conv2dResult result;
    const int64_t pixels = p.batch * p.output_height() * p.output_width();
    result.value.assign(static_cast<size_t>(pixels * p.filters), 0);
    result.magnitude = result.value;
    result.terms = p.channels / p.options.groups * p.kernel_height * p.kernel_width;
    for_each_product(p, [&](int64_t output, int64_t in, int64_t filter, int64_t count) {
        double *const sum = &result.value[output], *const magnitude = &result.magnitude[output];
        const double *const weights = &weight[filter];
        for (int64_t k = 0; k < count; k++) {
            const double term = weights[k] * input[in];
            sum[k] += term;
            magnitude[k] += std::abs(term);
        }
    });
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
