#include "tests/conv2d_backward/reference.h"

#include <cmath>
#include <utility>

#include "tests/convolution/products.h"

namespace hk::reference {
namespace {

void add(Conv2dResult &result, int64_t place, double term) {
    result.value[static_cast<size_t>(place)] += term;
    result.magnitude[static_cast<size_t>(place)] += std::abs(term);
}

Conv2dResult zeros(int64_t elements, int64_t terms) {
    Conv2dResult result;
    result.value.assign(static_cast<size_t>(elements), 0);
    result.magnitude = result.value;
    result.terms = terms;
    return result;
}

int64_t output_pixels(const Conv2dProblem &p) {
    return p.batch * p.output_height() * p.output_width();
}

}  // namespace

Conv2dResult conv2d_backward_data(const Conv2dProblem &p,
                                  const std::vector<double> &output_gradient,
                                  const std::vector<double> &weight, const Rows &rows) {
    Conv2dResult result = zeros(rows.among(p.batch * p.height * p.width) * p.channels,
                                p.filters / p.options.groups * p.kernel_height * p.kernel_width);
    // The weight in the order r, s, k, c, so that the inner loop runs along channels.
    const int64_t channels = p.channels / p.options.groups, filters = p.filters / p.options.groups;
    std::vector<double> turned(weight.size());
    for (size_t i = 0; i < weight.size(); i++) {
        const int64_t row = static_cast<int64_t>(i) / p.filters, k = i % p.filters;
        turned[(row / channels * p.filters + k) * channels + row % channels] = weight[i];
    }
    for_each_tap(p, [&](int64_t pixel, int64_t tap, int64_t in_pixel) {
        const int64_t row = rows.place(in_pixel);
        if (row < 0) return;
        for (int64_t k = 0; k < p.filters; k++) {
            const double factor = output_gradient[pixel * p.filters + k];
            const double *const weights = &turned[(tap * p.filters + k) * channels];
            const int64_t first = row * p.channels + k / filters * channels;
            for (int64_t c = 0; c < channels; c++) add(result, first + c, weights[c] * factor);
        }
    });
    return result;
}

Conv2dResult conv2d_backward_weight(const Conv2dProblem &p,
                                    const std::vector<double> &output_gradient,
                                    const std::vector<double> &input, const Rows &rows) {
    const int64_t taps = p.kernel_height * p.kernel_width;
    Conv2dResult result =
        zeros(rows.among(taps * p.channels / p.options.groups) * p.filters, output_pixels(p));
    for_each_tap(p, [&](int64_t pixel, int64_t tap, int64_t in_pixel) {
        for_each_run(p, tap, [&](int64_t filter_row, int64_t channel, int64_t k, int64_t count) {
            const int64_t row = rows.place(filter_row);
            if (row < 0) return;
            const double factor = input[in_pixel * p.channels + channel];
            const double *const gradient = &output_gradient[pixel * p.filters + k];
            for (int64_t i = 0; i < count; i++) {
                add(result, row * p.filters + k + i, factor * gradient[i]);
            }
        });
    });
    return result;
}

Conv2dResult conv2d_backward_bias(const Conv2dProblem &p,
                                  const std::vector<double> &output_gradient) {
    Conv2dResult result = zeros(p.filters, output_pixels(p));
    for (size_t i = 0; i < output_gradient.size(); i++) {
        add(result, static_cast<int64_t>(i) % p.filters, output_gradient[i]);
    }
    return result;
}

Conv2dProblem convolution_of_gradient(const Conv2dProblem &p) {
    Conv2dProblem result = p;
    std::swap(result.channels, result.filters);
    result.height = p.output_height();
    result.width = p.output_width();
    const Padding &padding = p.options.padding;
    const int64_t y = p.kernel_height - 1, x = p.kernel_width - 1;
    result.options.padding = {y - padding.top, y - padding.bottom, x - padding.left,
                              x - padding.right};
    return result;
}

std::vector<double> magnitudes_of_channels(const Conv2dProblem &p,
                                           const std::vector<double> &weight) {
    const int64_t channels = p.channels / p.options.groups, filters = p.filters / p.options.groups;
    std::vector<double> result(static_cast<size_t>(p.channels));
    for (size_t i = 0; i < weight.size(); i++) {
        const int64_t place = static_cast<int64_t>(i), k = place % p.filters,
                      c = place / p.filters % channels;
        result[static_cast<size_t>(k / filters * channels + c)] += std::abs(weight[i]);
    }
    return result;
}

void accumulate(Conv2dResult &result, const std::vector<double> &previous, double beta) {
    for (size_t i = 0; i < result.value.size(); i++) {
        add(result, static_cast<int64_t>(i), beta * previous[i]);
    }
    result.terms++;
}

}  // namespace hk::reference
