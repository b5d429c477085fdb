#include "tests/quantized_conv2d/onnx_reference.h"

#include <algorithm>
#include <cmath>

#include "tests/conv2d/reference.h"
#include "tests/reference/elements.h"

namespace hk::reference {
namespace {

// Elements by their place in n, c, y, x (k, c, r, s of a weight): ONNX's order.
struct Elements {
    Elements(const Tensor &tensor, Layout layout) {
        const Tensor nchw = layout == Layout::nchw ? tensor : tensor.permute({0, 3, 1, 2});
        shape = nchw.shape();
        for (const double value : read(nchw)) {
            values.push_back(static_cast<int32_t>(value));
        }
    }
    int32_t at(int64_t n, int64_t c, int64_t y, int64_t x) const {
        return values[static_cast<size_t>(((n * shape[1] + c) * shape[2] + y) * shape[3] + x)];
    }

    Shape shape;
    std::vector<int32_t> values;
};

int64_t outputs(int64_t size, int64_t padding, int64_t kernel, int64_t stride, int64_t dilation) {
    return (size + padding - ((kernel - 1) * dilation + 1)) / stride + 1;
}

}  // namespace

std::vector<int32_t> conv_integer(const Tensor &x, const Tensor &w, int32_t x_zero_point,
                                  int32_t w_zero_point, const Conv2dOptions &o) {
    const Elements in(x, o.layout), filter(w, o.layout);
    const int64_t filters = filter.shape[0], per_group = filter.shape[1];
    const int64_t h = outputs(in.shape[2], o.padding.top + o.padding.bottom, filter.shape[2],
                              o.stride[0], o.dilation[0]);
    const int64_t width = outputs(in.shape[3], o.padding.left + o.padding.right, filter.shape[3],
                                  o.stride[1], o.dilation[1]);
    std::vector<int32_t> y(static_cast<size_t>(in.shape[0] * h * width * filters));
    for (size_t i = 0; i < y.size(); i++) {
        const auto place = static_cast<int64_t>(i);
        const int64_t k = place % filters, out_x = place / filters % width,
                      out_y = place / filters / width % h, n = place / filters / width / h;
        const int64_t first = k / (filters / o.groups) * per_group;
        for (int64_t c = 0; c < per_group; c++) {
            for (int64_t r = 0; r < filter.shape[2]; r++) {
                for (int64_t s = 0; s < filter.shape[3]; s++) {
                    const int64_t in_y = out_y * o.stride[0] + r * o.dilation[0] - o.padding.top;
                    const int64_t in_x = out_x * o.stride[1] + s * o.dilation[1] - o.padding.left;
                    if (in_y < 0 || in_x < 0 || in_y >= in.shape[2] || in_x >= in.shape[3]) {
                        continue;
                    }
                    y[i] += (in.at(n, first + c, in_y, in_x) - x_zero_point) *
                            (filter.at(k, c, r, s) - w_zero_point);
                }
            }
        }
    }
    return y;
}

QLinearConv qlinear_conv(const Tensor &x, double x_scale, int32_t x_zero_point, const Tensor &w,
                         const std::vector<float> &w_scales, int32_t w_zero_point, double y_scale,
                         int32_t y_zero_point, DataType y_type, const std::vector<double> &bias,
                         const Conv2dOptions &options) {
    const std::vector<int32_t> acc = conv_integer(x, w, x_zero_point, w_zero_point, options);
    const auto filters = static_cast<size_t>(w.shape()[0]);
    const double least = y_type == DataType::u8 ? 0 : -128,
                 most = y_type == DataType::u8 ? 255 : 127;
    QLinearConv result;
    for (size_t i = 0; i < acc.size(); i++) {
        const size_t k = i % filters;
        const double sum = acc[i] + (bias.empty() ? 0 : bias[k]);
        const double w_scale = w_scales.size() == 1 ? w_scales[0] : w_scales[k];
        const double real = sum * x_scale * w_scale / y_scale;
        result.real.push_back(real);
        result.y.push_back(
            static_cast<int32_t>(std::clamp(std::nearbyint(real) + y_zero_point, least, most)));
    }
    return result;
}

Tensor dequantize_linear(const Tensor &x, const std::vector<float> &scales, int32_t zero_point) {
    std::vector<double> values = read(x);
    const size_t slice = values.size() / scales.size();
    for (size_t i = 0; i < values.size(); i++) {
        values[i] = (values[i] - zero_point) * scales[i / slice];
    }
    Tensor real(x.shape(), DataType::f32);
    write(real, values);
    return real;
}

}  // namespace hk::reference
