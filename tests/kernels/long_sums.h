#pragma once
// Sums of millions of terms, of tensors that are small: dimensions that repeat have the stride 0.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "hk/tensor.h"
#include "tests/reference/elements.h"

namespace hk::test {

inline double half_ulp(DataType type) {
    return type == DataType::f16    ? std::ldexp(1, -11)
           : type == DataType::bf16 ? std::ldexp(1, -8)
                                    : 0;
}

// Results of positive terms are near `wanted`, by `bound` of it. Names the farthest.
inline void expect_near(std::string_view name, const Tensor &result,
                        const std::vector<double> &wanted, double bound) {
    const std::vector<double> got = reference::read(result.to(Device::cpu()));
    ASSERT_EQ(got.size(), wanted.size()) << name;
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const double error = std::abs(got[i] - wanted[i]) / std::max(wanted[i], 1e-30);
        if (error <= worst) continue;
        worst = error;
        where = i;
    }
    EXPECT_LE(worst, bound) << name << ": " << got[where] << " for " << wanted[where] << " at "
                            << where;
}

// Values of which many add up to something else, one after the other; 16-bit sums stay in range.
inline double value(DataType type, int64_t channel) {
    return reference::rounded(type, 0.1 + 0.013 * static_cast<double>(channel % 40));
}
inline constexpr double kFactor = 1.0 / 256;

// A view of the shape on a host tensor whose dimensions of size 1 repeat; it must outlive the view.
inline Tensor repeated(const Tensor &tensor, const Shape &shape) {
    Shape strides = tensor.strides();
    for (size_t d = 0; d < shape.size(); d++)
        if (tensor.shape()[d] == 1) strides[d] = 0;
    void *data = size_of(tensor.type()) == 8   ? static_cast<void *>(tensor.data<double>())
                 : size_of(tensor.type()) == 4 ? static_cast<void *>(tensor.data<float>())
                                               : tensor.data<uint16_t>();
    return Tensor::borrow(data, tensor.type(), shape, strides);
}

// The same; on a host the view, on a device a copy.
inline Tensor repeated_on(const Tensor &tensor, const Shape &shape, Device device) {
    const Tensor view = repeated(tensor, shape);
    return device.is_cpu() ? view : view.to(device);
}

}  // namespace hk::test
