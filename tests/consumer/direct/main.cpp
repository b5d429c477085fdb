// A program that calls compiled functions with Halide's buffers, without the library's interface.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "HalideRuntime.h"
#include "hk/kernels/conv2d_any_f32_nhwc_cpu.h"
#include "hk/kernels/conv2d_filter_any_f32_nhwc_cpu.h"

namespace {

// A packed buffer of f32; dimensions innermost first.
struct Buffer {
    explicit Buffer(std::vector<int> extents, float value) {
        int stride = 1;
        for (int extent : extents) {
            dims.push_back({0, extent, stride, 0});
            stride *= extent;
        }
        data.assign(static_cast<size_t>(stride), value);
        buffer.host = reinterpret_cast<uint8_t *>(data.data());
        buffer.type = {halide_type_float, 32};
        buffer.dimensions = static_cast<int>(dims.size());
        buffer.dim = dims.data();
    }

    std::vector<halide_dimension_t> dims;
    std::vector<float> data;
    halide_buffer_t buffer{};
};

// The weight [c, s, r, k, g] in vectors of 16 filters: [ki, c, s, r, ko, g].
Buffer packed(Buffer &weight) {
    const auto extent = [&](size_t d) { return weight.dims[d].extent; };
    Buffer result({16, extent(0), extent(1), extent(2), (extent(3) + 15) / 16, extent(4)}, 0);
    if (conv2d_filter_any_f32_nhwc_cpu(nullptr, &weight.buffer, &result.buffer)) std::exit(1);
    return result;
}

// A 3x3 convolution with ReLU: input [c, g, x, y, n], weight packed, bias [k, g].
int convolve(Buffer &input, Buffer &weight, Buffer &bias, Buffer &output) {
    const float infinity = std::numeric_limits<float>::infinity();
    return conv2d_any_f32_nhwc_cpu(nullptr, &input.buffer, &weight.buffer, &bias.buffer,
                                   &output.buffer, 1, 1, 1, 1, 1, 1, true, false, 1.0f, 0.0f,
                                   infinity, 0, &output.buffer);
}

}  // namespace

int main() {
    Buffer input({4, 1, 8, 6, 1}, 0.5f), weight({4, 3, 3, 5, 1}, 0.25f), bias({5, 1}, -1.0f);
    Buffer output({5, 1, 8, 6, 1}, -1.0f), filter = packed(weight);
    if (const int status = convolve(input, filter, bias, output)) {
        std::printf("failed with status %d\n", status);
        return 1;
    }
    const float inside = output.data[5 * (8 * 2 + 3)], corner = output.data[0];
    std::printf("inside %g, corner %g\n", inside, corner);
    if (std::abs(inside - 3.5f) > 1e-6f || std::abs(corner - 1.0f) > 1e-6f) return 1;

    // A failure is a status, and a message on stderr; nothing aborts.
    Buffer short_bias({3, 1}, 0.0f);
    const int status = convolve(input, filter, short_bias, output);
    std::printf("a short bias: status %d\n", status);
    return status == 0 ? 1 : 0;
}
