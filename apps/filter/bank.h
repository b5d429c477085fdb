#pragma once
// A bank of oriented filters: Gabor functions in quadrature.

#include <iterator>
#include <vector>

namespace hk::filter {

constexpr int orientations = 8;
constexpr int kernel_size = 15;

enum class Phase { even, odd };

struct Scale {
    const char *name;
    double wavelength, sigma;  // pixels
};
constexpr Scale scales[] = {{"fine", 5, 2}, {"coarse", 10, 3.5}};
constexpr int filters = 2 * static_cast<int>(std::size(scales)) * orientations;

// Where a filter stands in the bank: scale, then phase, then orientation.
constexpr int place(int scale, Phase phase, int orientation) {
    return (scale * 2 + static_cast<int>(phase)) * orientations + orientation;
}

// Degrees, of the lines that the filter answers to, counterclockwise from horizontal.
double degrees(int orientation);

// One filter on luminance, row-major kernel_size squared. It sums to zero, its magnitudes to one.
std::vector<float> gabor(const Scale &scale, Phase phase, int orientation);

// The bank as a weight tensor [filters, kernel_size, kernel_size, 3] over R, G and B.
std::vector<float> weights();

}  // namespace hk::filter
