#include "bank.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace hk::filter {

double degrees(int orientation) { return 180.0 * orientation / orientations; }

// exp(-d^2 / (2 sigma^2)) * cos or sin(2 pi u / wavelength), u across the lines, y upwards.
std::vector<float> gabor(const Scale &scale, Phase phase, int orientation) {
    constexpr int radius = kernel_size / 2;
    const double angle = degrees(orientation) * std::numbers::pi / 180;
    std::vector<double> window, values;
    for (int y = radius; y >= -radius; y--) {
        for (int x = -radius; x <= radius; x++) {
            const double across = y * std::cos(angle) - x * std::sin(angle);
            const double wave = 2 * std::numbers::pi * across / scale.wavelength;
            window.push_back(std::exp(-(x * x + y * y) / (2 * scale.sigma * scale.sigma)));
            values.push_back(window.back() *
                             (phase == Phase::even ? std::cos(wave) : std::sin(wave)));
        }
    }
    // Less so much of the window that nothing remains of the image's brightness.
    const double excess = std::accumulate(values.begin(), values.end(), 0.0) /
                          std::accumulate(window.begin(), window.end(), 0.0);
    double norm = 0;
    for (size_t i = 0; i < values.size(); i++) {
        values[i] -= excess * window[i];
        norm += std::abs(values[i]);
    }
    std::vector<float> result;
    for (const double value : values) {
        result.push_back(static_cast<float>(value / norm));
    }
    return result;
}

std::vector<float> weights() {
    constexpr float luminance[] = {0.2126f, 0.7152f, 0.0722f};  // ITU-R BT.709
    std::vector<float> result;
    for (const Scale &scale : scales) {
        for (const Phase phase : {Phase::even, Phase::odd}) {
            for (int orientation = 0; orientation < orientations; orientation++) {
                for (const float value : gabor(scale, phase, orientation)) {
                    for (const float share : luminance) {
                        result.push_back(value * share);
                    }
                }
            }
        }
    }
    return result;
}

}  // namespace hk::filter
