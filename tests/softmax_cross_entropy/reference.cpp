#include "tests/softmax_cross_entropy/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hk::reference {

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

}  // namespace hk::reference
