#include "tests/pool2d/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace hk::reference {
namespace {

// Calls `visit` with the place of each element of the output and those of its window's pixels in
// the image, row by row.
void for_each_window(const Pool2dProblem &p,
                     const std::function<void(size_t, const std::vector<size_t> &)> &visit) {
    const Pool2dOptions &o = p.options;
    size_t output = 0;
    std::vector<size_t> pixels;
    for (int64_t n = 0; n < p.batch; n++) {
        for (int64_t y = 0; y < p.output_height(); y++) {
            for (int64_t x = 0; x < p.output_width(); x++) {
                for (int64_t c = 0; c < p.channels; c++) {
                    pixels.clear();
                    for (int64_t r = 0; r < o.kernel[0]; r++) {
                        for (int64_t s = 0; s < o.kernel[1]; s++) {
                            const int64_t iy = y * o.stride[0] + r - o.padding.top;
                            const int64_t ix = x * o.stride[1] + s - o.padding.left;
                            if (iy < 0 || iy >= p.height || ix < 0 || ix >= p.width) continue;
                            pixels.push_back(((n * p.height + iy) * p.width + ix) * p.channels + c);
                        }
                    }
                    visit(output++, pixels);
                }
            }
        }
    }
}

// Of a window's pixels.
size_t first_maximum(const std::vector<double> &input, const std::vector<size_t> &pixels) {
    size_t best = pixels.front();
    for (const size_t pixel : pixels) {
        if (std::isnan(input[best])) break;
        if (input[pixel] > input[best] || std::isnan(input[pixel])) best = pixel;
    }
    return best;
}

}  // namespace

Conv2dResult pool2d(const Pool2dProblem &p, const std::vector<double> &input) {
    Conv2dResult result;
    result.terms =
        p.options.pooling == Pooling::max ? 1 : p.options.kernel[0] * p.options.kernel[1];
    for_each_window(p, [&](size_t, const std::vector<size_t> &pixels) {
        if (p.options.pooling == Pooling::max) {
            result.value.push_back(input[first_maximum(input, pixels)]);
            result.magnitude.push_back(std::abs(result.value.back()));
            return;
        }
        double sum = 0, magnitude = 0;
        for (const size_t pixel : pixels) {
            sum += input[pixel];
            magnitude += std::abs(input[pixel]);
        }
        result.value.push_back(sum / static_cast<double>(pixels.size()));
        result.magnitude.push_back(magnitude / static_cast<double>(pixels.size()));
    });
    return result;
}

Conv2dResult pool2d_backward(const Pool2dProblem &p, const std::vector<double> &output_gradient,
                             const std::vector<double> &input) {
    const auto most = [](int64_t kernel, int64_t stride) { return (kernel + stride - 1) / stride; };
    const Pool2dOptions &o = p.options;
    Conv2dResult result;
    result.terms = most(o.kernel[0], o.stride[0]) * most(o.kernel[1], o.stride[1]);
    result.value.assign(static_cast<size_t>(p.batch * p.height * p.width * p.channels), 0);
    result.magnitude = result.value;
    for_each_window(p, [&](size_t output, const std::vector<size_t> &pixels) {
        const bool max = o.pooling == Pooling::max;
        const double share =
            output_gradient[output] / (max ? 1 : static_cast<double>(pixels.size()));
        for (const size_t pixel : max ? std::vector{first_maximum(input, pixels)} : pixels) {
            result.value[pixel] += share;
            result.magnitude[pixel] += std::abs(share);
        }
    });
    return result;
}

}  // namespace hk::reference
