#include "element_check.h"

#include <algorithm>
#include <cmath>

namespace hk::bench {

namespace {

double element(const Tensor &tensor, size_t i) {
    switch (tensor.type()) {
        case DataType::f16:
            return f32_from_f16(tensor.data<uint16_t>()[i]);
        case DataType::bf16:
            return f32_from_bf16(tensor.data<uint16_t>()[i]);
        default:
            return tensor.data<float>()[i];
    }
}

}  // namespace

double rounding(DataType type) {
    const int bits = type == DataType::f16 ? 11 : type == DataType::bf16 ? 8 : 24;
    return std::ldexp(1, -bits);
}

Check check_elements(const Tensor &result, const std::function<double(size_t)> &expected,
                     const std::function<double(double value)> &allowed) {
    Check check;
    double largest = 0, worst = 0;
    for (size_t i = 0; i < static_cast<size_t>(result.elements()); ++i) {
        const double value = expected(i), error = std::abs(element(result, i) - value);
        largest = std::max(largest, std::abs(value));
        worst = std::max(worst, error);
        if (!(error <= allowed(value)) && check.failure.empty()) {
            check.failure = "element " + std::to_string(i) + " is " +
                            std::to_string(element(result, i)) + ", it should be " +
                            std::to_string(value);
        }
    }
    check.max_error = largest > 0 ? worst / largest : worst;
    return check;
}

}  // namespace hk::bench
