#include "tests/reference/rows.h"

#include <algorithm>
#include <random>

namespace hk::reference {

Rows Rows::sampled(int64_t all, double products) {
    constexpr double kMost = 5e7;
    Rows result;
    if (products <= kMost || all <= 2) return result;
    const double share = kMost / products;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> draw;
    result.places_.assign(static_cast<size_t>(all), -1);
    for (int64_t row = 0; row < all; row++) {
        if (draw(random) > share && row != 0 && row != all - 1) continue;
        result.places_[static_cast<size_t>(row)] = static_cast<int64_t>(result.rows_.size());
        result.rows_.push_back(row);
    }
    return result;
}

}  // namespace hk::reference
