#include "hk/quantization.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hk/error.h"
#include "rethrow.h"

namespace hk {

namespace {

[[noreturn]] void fail(const std::string &what) { throw InvalidArgument("quantization: " + what); }

void check_scale(float scale, const std::string &name) {
    if (std::isfinite(scale) && scale > 0) return;
    char number[32];  // scales are far from 1: to_string would show them as 0
    std::snprintf(number, sizeof number, "%g", static_cast<double>(scale));
    fail(name + " is " + number + ", it must be finite and above zero");
}

Tensor tensor_of(const std::vector<float> &values, Device device) try {
    Tensor tensor({static_cast<int64_t>(values.size())}, DataType::f32);
    std::copy(values.begin(), values.end(), tensor.data<float>());
    return device.is_cpu() ? tensor : tensor.to(device);
} catch (...) {
    detail::rethrow_as_error("quantization");
}

}  // namespace

Quantization::Quantization(float scale, int32_t zero_point)
    : scale_(scale), zero_point_(zero_point) {
    check_scale(scale, "the scale");
}

Quantization::Quantization(const Tensor &scales, int32_t zero_point) try
    : scales_(scales), zero_point_(zero_point) {
    if (!scales.defined()) fail("scales are undefined");
    if (scales.type() != DataType::f32) {
        fail("scales are " + std::string(name_of(scales.type())) + ", they must be f32");
    }
    if (scales.rank() != 1) {
        fail("scales have the shape " + to_string(scales.shape()) + ", it must be [K]");
    }
    const Tensor host = scales.to(Device::cpu());
    for (int64_t k = 0; k < host.elements(); k++) {
        check_scale(host.data<float>()[k], "scale " + std::to_string(k));
    }
} catch (...) {
    detail::rethrow_as_error("quantization");
}

Quantization::Quantization(const std::vector<float> &scales, int32_t zero_point, Device device)
    : Quantization(tensor_of(scales, device), zero_point) {}

}  // namespace hk
