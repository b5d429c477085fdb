#include "tests/softmax_cross_entropy/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/reference/tolerance.h"

namespace hk::reference {
namespace {

// The exponentials' sum has an error of its terms' number, of at most 2^-14 however many these are
// (hk/softmax_cross_entropy.h); the exponentials one of their argument's rounding, at most 104
// units, and some of their evaluation.
int64_t terms_of(int64_t classes) { return std::min<int64_t>(classes, 1024) + 128; }

}  // namespace

SoftmaxCrossEntropyResult softmax_cross_entropy(const std::vector<double> &logits, size_t classes,
                                                const std::vector<int64_t> &labels, double scale) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    SoftmaxCrossEntropyResult result;
    for (size_t n = 0; n < labels.size(); n++) {
        const double *const row = &logits[n * classes];
        double best = -kInfinity, sum = 0;
        for (size_t c = 0; c < classes; c++) {
            best = std::isnan(row[c]) || row[c] > best ? row[c] : best;
            if (std::isnan(best)) break;
        }
        for (size_t c = 0; c < classes; c++) sum += std::exp(row[c] - best);
        const auto label = static_cast<size_t>(labels[n]);
        result.loss.push_back(std::log(sum) - (row[label] - best));
        for (size_t c = 0; c < classes; c++) {
            result.probability.push_back(std::exp(row[c] - best) / sum);
            result.gradient.push_back(scale * (result.probability.back() - (c == label)));
        }
    }
    return result;
}

double loss_tolerance(int64_t classes, double loss) {
    return tolerance(DataType::f32, terms_of(classes), loss, 2 + std::abs(loss));
}

double gradient_tolerance(DataType type, int64_t classes, double gradient, double probability,
                          double scale) {
    const double p = std::abs(scale) * probability, one = std::abs(gradient - scale * probability);
    return tolerance(type, terms_of(classes), gradient, p + one) +
           std::abs(scale) * std::ldexp(1, -125);
}

}  // namespace hk::reference
