#pragma once
// Group normalisation and its gradients by their equations, in double. Images are in the order n,
// pixel, channel, whatever their layout.

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace hk::reference {

struct GroupNormSizes {
    size_t batch, pixels, channels, groups;

    double count() const { return static_cast<double>(pixels * (channels / groups)); }

    // f(place, group, channel)
    template<typename F>
    void each(F &&f) const {
        const size_t of_group = channels / groups;
        size_t place = 0;
        for (size_t n = 0; n < batch; n++) {
            for (size_t p = 0; p < pixels; p++) {
                for (size_t g = 0; g < groups; g++) {
                    for (size_t c = g * of_group; c < (g + 1) * of_group; c++)
                        f(place++, n * groups + g, c);
                }
            }
        }
    }
};

struct GroupNormResult {
    std::vector<double> mean, rstd;          // [N, groups]
    std::vector<double> normalised, output;  // images
};

// A group that is not finite is NaN.
inline GroupNormResult group_norm(const GroupNormSizes &sizes, const std::vector<double> &input,
                                  const std::vector<double> &weight,
                                  const std::vector<double> &bias, double epsilon) {
    const std::vector<double> zeros(sizes.batch * sizes.groups);
    GroupNormResult result{zeros, zeros, input, input};
    sizes.each([&](size_t i, size_t g, size_t) { result.mean[g] += input[i]; });
    for (double &mean : result.mean) {
        mean =
            std::isfinite(mean) ? mean / sizes.count() : std::numeric_limits<double>::quiet_NaN();
    }
    sizes.each([&](size_t i, size_t g, size_t) {
        result.rstd[g] += (input[i] - result.mean[g]) * (input[i] - result.mean[g]);
    });
    for (double &rstd : result.rstd) rstd = 1 / std::sqrt(rstd / sizes.count() + epsilon);
    sizes.each([&](size_t i, size_t g, size_t c) {
        result.normalised[i] = (input[i] - result.mean[g]) * result.rstd[g];
        result.output[i] = result.normalised[i] * weight[c] + bias[c];
    });
    return result;
}

// With the sums of their terms' magnitudes.
struct GroupNormGradients {
    std::vector<double> input, weight, bias, input_magnitude, weight_magnitude, bias_magnitude;
};

inline GroupNormGradients group_norm_backward(const GroupNormSizes &sizes,
                                              const std::vector<double> &output_gradient,
                                              const std::vector<double> &input,
                                              const std::vector<double> &weight,
                                              const std::vector<double> &mean,
                                              const std::vector<double> &rstd) {
    const std::vector<double> channels(sizes.channels), groups(sizes.batch * sizes.groups);
    GroupNormGradients result{input, channels, channels, input, channels, channels};
    std::vector<double> sum = groups, product = groups, magnitude = groups, of_product = groups;
    const auto normalised = [&](size_t i, size_t g) { return (input[i] - mean[g]) * rstd[g]; };
    sizes.each([&](size_t i, size_t g, size_t c) {
        const double of_weight = output_gradient[i] * normalised(i, g);
        result.bias[c] += output_gradient[i];
        result.bias_magnitude[c] += std::abs(output_gradient[i]);
        result.weight[c] += of_weight;
        result.weight_magnitude[c] += std::abs(of_weight);
        sum[g] += output_gradient[i] * weight[c] / sizes.count();
        product[g] += of_weight * weight[c] / sizes.count();
        magnitude[g] += std::abs(output_gradient[i] * weight[c]) / sizes.count();
        of_product[g] += std::abs(of_weight * weight[c]) / sizes.count();
    });
    sizes.each([&](size_t i, size_t g, size_t c) {
        const double direct = output_gradient[i] * weight[c], x = normalised(i, g);
        result.input[i] = rstd[g] * (direct - sum[g] - x * product[g]);
        result.input_magnitude[i] =
            rstd[g] * (std::abs(direct) + magnitude[g] + std::abs(x) * of_product[g]);
    });
    return result;
}

}  // namespace hk::reference
