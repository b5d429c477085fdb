#include "apps/filter/bank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace hk::filter {
namespace {

double response(const std::vector<float> &filter, double angle, double wavelength) {
    double sum = 0;
    for (int y = 0; y < kernel_size; y++) {
        for (int x = 0; x < kernel_size; x++) {
            const double across =
                (kernel_size / 2 - y) * std::cos(angle) - (x - kernel_size / 2) * std::sin(angle);
            sum +=
                filter[y * kernel_size + x] * std::cos(2 * std::numbers::pi * across / wavelength);
        }
    }
    return sum;
}

TEST(Bank, FiltersSumToZeroAndTheirMagnitudesToOne) {
    const std::vector<float> all = weights();
    constexpr int size = kernel_size * kernel_size * 3;
    ASSERT_EQ(all.size(), static_cast<size_t>(filters) * size);
    for (int f = 0; f < filters; f++) {
        double sum = 0, magnitude = 0;
        for (int i = 0; i < size; i++) {
            sum += all[f * size + i];
            magnitude += std::abs(all[f * size + i]);
        }
        EXPECT_NEAR(sum, 0, 1e-6) << f;
        EXPECT_NEAR(magnitude, 1, 1e-5) << f;
    }
}

TEST(Bank, AnswersMostToLinesOfItsOwnOrientation) {
    for (const Scale &scale : scales) {
        for (int lines = 0; lines < orientations; lines++) {
            const double angle = degrees(lines) * std::numbers::pi / 180;
            int strongest = 0;
            double most = 0;
            for (int o = 0; o < orientations; o++) {
                const double value =
                    response(gabor(scale, Phase::even, o), angle, scale.wavelength);
                if (value > most) {
                    most = value;
                    strongest = o;
                }
            }
            EXPECT_EQ(strongest, lines) << scale.name;
        }
    }
}

}  // namespace
}  // namespace hk::filter
