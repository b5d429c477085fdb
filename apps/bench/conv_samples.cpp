#include "conv_samples.h"

#include <algorithm>
#include <ostream>
#include <random>

namespace hk::bench {

std::ostream &operator<<(std::ostream &stream, const OutputPlace &at) {
    return stream << "output(n " << at.n << ", y " << at.y << ", x " << at.x << ", k " << at.k
                  << ")";
}

int64_t sum_length(const Conv2dProblem &p) {
    return p.channels / p.options.groups * p.kernel_height * p.kernel_width;
}

std::vector<OutputPlace> sampled_outputs(const Conv2dProblem &p) {
    const int64_t height = p.output_height(), width = p.output_width();
    const int64_t outputs = p.batch * height * width * p.filters;
    const int64_t length = sum_length(p);
    std::vector<OutputPlace> result;
    if (outputs == 0) return result;
    constexpr int64_t products = 20'000'000;
    if (outputs * length <= products) {
        for (int64_t i = 0; i < outputs; ++i) {
            result.push_back({i / p.filters / width / height, i / p.filters / width % height,
                              i / p.filters % width, i % p.filters});
        }
        return result;
    }
    for (int corner = 0; corner < 8; ++corner) {
        result.push_back({p.batch - 1, corner & 1 ? height - 1 : 0, corner & 2 ? width - 1 : 0,
                          corner & 4 ? p.filters - 1 : 0});
    }
    std::mt19937_64 random(1);
    for (int64_t i = std::clamp<int64_t>(products / length, 500, 4000); i > 0; --i) {
        const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
        const int64_t n = below(p.batch), y = below(height), x = below(width);
        result.push_back({n, y, x, below(p.filters)});
    }
    return result;
}

}  // namespace hk::bench
