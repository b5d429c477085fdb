#include "pool2d_check.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "element_check.h"

namespace hk::bench {

namespace {

// Elements of images n, c, y, x.
class Places {
public:
    Places(const Pool2dProblem &problem, int64_t height, int64_t width)
        : nhwc_(problem.options.layout == Layout::nhwc),
          channels_(problem.channels),
          height_(height),
          width_(width) {}

    size_t operator()(int64_t n, int64_t c, int64_t y, int64_t x) const {
        const int64_t place = nhwc_ ? ((n * height_ + y) * width_ + x) * channels_ + c
                                    : ((n * channels_ + c) * height_ + y) * width_ + x;
        return static_cast<size_t>(place);
    }

private:
    bool nhwc_;
    int64_t channels_, height_, width_;
};

// Calls `visit` with the place of each element of the output and those of its window's pixels in
// the image, row by row.
void for_each_window(const Pool2dProblem &p,
                     const std::function<void(size_t, const std::vector<size_t> &)> &visit) {
    const Pool2dOptions &o = p.options;
    const int64_t height = p.output_height(), width = p.output_width();
    const Places input(p, p.height, p.width), output(p, height, width);
    std::vector<size_t> pixels;
    const auto window = [&](int64_t n, int64_t c, int64_t y, int64_t x) {
        const int64_t top = y * o.stride[0] - o.padding.top;
        const int64_t left = x * o.stride[1] - o.padding.left;
        pixels.clear();
        for (int64_t iy = std::max<int64_t>(top, 0); iy < std::min(top + o.kernel[0], p.height);
             ++iy) {
            for (int64_t ix = std::max<int64_t>(left, 0);
                 ix < std::min(left + o.kernel[1], p.width); ++ix) {
                pixels.push_back(input(n, c, iy, ix));
            }
        }
        visit(output(n, c, y, x), pixels);
    };
    for (int64_t n = 0; n < p.batch; ++n) {
        for (int64_t c = 0; c < p.channels; ++c) {
            for (int64_t y = 0; y < height; ++y) {
                for (int64_t x = 0; x < width; ++x) window(n, c, y, x);
            }
        }
    }
}

size_t first_maximum(const std::vector<float> &input, const std::vector<size_t> &pixels) {
    return *std::max_element(pixels.begin(), pixels.end(),
                             [&](size_t a, size_t b) { return input[a] < input[b]; });
}

Check compare(const Tensor &result, const std::vector<double> &expected, double size_of_terms) {
    const double one = rounding(result.type());
    // A rounding of the type, 2^-24 of a small f16, and those of sums of f32.
    const double sums = size_of_terms * std::ldexp(1, -18) + std::ldexp(1, -24);
    return check_elements(
        result, [&](size_t i) { return expected[i]; },
        [=](double value) { return 2 * one * std::abs(value) + sums; });
}

}  // namespace

Check check_pool2d(const Pool2dProblem &problem, const std::vector<float> &input,
                   const Tensor &output) {
    std::vector<double> expected(static_cast<size_t>(output.elements()));
    const bool max = problem.options.pooling == Pooling::max;
    for_each_window(problem, [&](size_t place, const std::vector<size_t> &pixels) {
        if (max) {
            expected[place] = input[first_maximum(input, pixels)];
            return;
        }
        for (const size_t pixel : pixels) expected[place] += input[pixel];
        expected[place] /= static_cast<double>(pixels.size());
    });
    if (max) {
        return check_elements(
            output, [&](size_t i) { return expected[i]; }, [](double) { return 0.0; });
    }
    return compare(output, expected, 1);
}

Check check_pool2d_backward(const Pool2dProblem &problem, const std::vector<float> &output_gradient,
                            const std::vector<float> &input, const Tensor &input_gradient) {
    std::vector<double> expected(static_cast<size_t>(input_gradient.elements()));
    const Pool2dOptions &options = problem.options;
    const bool max = options.pooling == Pooling::max;
    for_each_window(problem, [&](size_t place, const std::vector<size_t> &pixels) {
        const double gradient = output_gradient[place];
        if (max) {
            expected[first_maximum(input, pixels)] += gradient;
            return;
        }
        for (const size_t pixel : pixels)
            expected[pixel] += gradient / static_cast<double>(pixels.size());
    });
    const auto pixels = static_cast<double>(options.kernel[0] * options.kernel[1]);
    return compare(input_gradient, expected, max ? 1 : 1 / pixels);
}

}  // namespace hk::bench
