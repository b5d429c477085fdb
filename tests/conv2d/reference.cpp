#include "tests/conv2d/reference.h"

#include <bit>
#include <cmath>
#include <string_view>

#include "tests/convolution/products.h"
#include "tests/elementwise/reference.h"
#include "tests/reference/elements.h"

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

bool is_tf32(const KernelInfo *row) {
    return row && row->type == DataType::f32 && std::string_view(row->schedule) == "matrices";
}

std::vector<double> cut_to_tf32(std::vector<double> values) {
    constexpr uint32_t kept = ~((uint32_t{1} << 13) - 1);
    for (double &value : values) {
        // A NaN's bits that say so are its first.
        const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value)) & kept;
        value = static_cast<double>(std::bit_cast<float>(bits));
    }
    return values;
}

// Of four products and the sum each is off by less than 2^-23 of the largest.
int64_t terms_in_tf32(int64_t terms) { return terms * 5 / 2 + 1; }

Tensor channels_last(const Tensor &tensor, Layout layout) {
    return layout == Layout::nhwc ? tensor : tensor.permute({0, 2, 3, 1});
}

ActivationOptions activation_in(const Conv2dOptions &options) {
    return {options.activation, options.alpha, options.beta};
}

Conv2dResult conv2d_sums(const Conv2dProblem &p, const std::vector<double> &input,
                         const std::vector<double> &weight, const Rows &rows) {
    Conv2dResult result;
    const int64_t pixels = rows.among(p.batch * p.output_height() * p.output_width());
    result.value.assign(static_cast<size_t>(pixels * p.filters), 0);
    result.magnitude = result.value;
    result.terms = p.channels / p.options.groups * p.kernel_height * p.kernel_width;
    for_each_tap(p, [&](int64_t pixel, int64_t tap, int64_t in_pixel) {
        const int64_t row = rows.place(pixel);
        if (row < 0) return;
        for_each_run(p, tap, [&](int64_t filter_row, int64_t channel, int64_t k, int64_t count) {
            const double factor = input[in_pixel * p.channels + channel];
            const double *const weights = &weight[filter_row * p.filters + k];
            double *const sum = &result.value[row * p.filters + k];
            double *const magnitude = &result.magnitude[row * p.filters + k];
            for (int64_t i = 0; i < count; i++) {
                const double term = weights[i] * factor;
                sum[i] += term;
                magnitude[i] += std::abs(term);
            }
        });
    });
    return result;
}

std::vector<double> read_filters(const Tensor &weight, Layout layout) {
    return read(channels_last(weight, layout).permute({1, 2, 3, 0}));
}

Conv2dResult conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias,
                    const Tensor &residual, const Conv2dOptions &options, const KernelInfo *row) {
    const Conv2dProblem p =
        Conv2dProblem::from_shapes(input.shape(), weight.shape(), input.type(), options);
    const std::vector<double> values = read(channels_last(input, options.layout));
    const std::vector<double> filters = read_filters(weight, options.layout);
    Conv2dResult result = is_tf32(row) ? conv2d_sums(p, cut_to_tf32(values), cut_to_tf32(filters))
                                       : conv2d_sums(p, values, filters);
    if (is_tf32(row)) result.terms = terms_in_tf32(result.terms);
    if (is_winograd(row)) bound_by_winograd(p, values, magnitudes_of_filters(p, filters), result);
    if (bias.defined()) {
        add(read(bias), static_cast<size_t>(p.filters), result);
    }
    if (residual.defined()) {
        add(read(channels_last(residual, options.layout)), result.value.size(), result);
    }
    for (double &value : result.value) {
        value = activate(value, activation_in(options));
    }
    return result;
}

}  // namespace hk::reference
