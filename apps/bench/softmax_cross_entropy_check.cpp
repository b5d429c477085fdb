#include "softmax_cross_entropy_check.h"

#include <algorithm>
#include <cmath>

#include "element_check.h"

namespace hk::bench {

Check check_softmax_cross_entropy(const std::vector<float> &logits,
                                  const std::vector<int32_t> &labels, const Tensor &loss,
                                  const Tensor &gradient) {
    const size_t classes = logits.size() / labels.size();
    // Logits are of the order of 1, so that no exponential of one overflows.
    std::vector<double> sums(labels.size());
    for (size_t i = 0; i < logits.size(); ++i) sums[i / classes] += std::exp(double{logits[i]});
    Check result;
    if (loss.defined()) {
        result = check_elements(
            loss,
            [&](size_t n) {
                return std::log(sums[n]) - logits[n * classes + static_cast<size_t>(labels[n])];
            },
            [](double value) { return (1 + std::abs(value)) * std::ldexp(1, -18); });
    }
    if (!gradient.defined() || !result.failure.empty()) return result;
    const Check of_gradient = check_elements(
        gradient,
        [&](size_t i) {
            const bool is_label = static_cast<size_t>(labels[i / classes]) == i % classes;
            return std::exp(double{logits[i]}) / sums[i / classes] - is_label;
        },
        // A rounding of the type, 2^-24 of a small f16, and those of f32.
        [&](double value) {
            return (2 * rounding(gradient.type()) + std::ldexp(1, -16)) * std::abs(value) +
                   (gradient.type() == DataType::f16 ? std::ldexp(1, -24) : 0);
        });
    return {std::max(result.max_error, of_gradient.max_error), of_gradient.failure};
}

}  // namespace hk::bench
