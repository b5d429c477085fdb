#pragma once
// How stored integers stand for real numbers: real = scale * (stored - zero_point), the affine
// quantisation of ONNX's operators QuantizeLinear and DequantizeLinear (opset 13).

#include <cstdint>
#include <utility>
#include <vector>

#include "hk/tensor.h"

namespace hk {

// The quantisation of a tensor, or none: then the elements are the numbers themselves. One scale
// for the whole tensor, or one for each filter of a weight (each element of a bias); the zero point
// is one of the whole tensor. Copies share the scales, which nobody may write from then on.
//
// Constructors throw InvalidArgument, naming the value, for a scale that is not finite and above
// zero. Whether a zero point is in the range of the stored type, and the number of scales that of
// the filters, is checked where the quantisation meets its tensor.
class Quantization {
public:
    Quantization() = default;  // none
    Quantization(float scale, int32_t zero_point = 0);

    // `scales` is f32 [K], on the device of the tensor that it describes. Copied to the host once,
    // to be checked.
    Quantization(const Tensor &scales, int32_t zero_point = 0);
    Quantization(const std::vector<float> &scales, int32_t zero_point = 0,
                 Device device = Device::cpu());

    bool defined() const noexcept { return scale_ > 0 || scales_.defined(); }
    bool per_channel() const noexcept { return scales_.defined(); }
    float scale() const noexcept { return scale_; }            // 0 where each channel has its own
    const Tensor &scales() const noexcept { return scales_; }  // undefined where there is one
    int32_t zero_point() const noexcept { return zero_point_; }

private:
    float scale_ = 0;
    Tensor scales_;
    int32_t zero_point_ = 0;
};

// A tensor and what its elements stand for. A Tensor alone stands for itself.
struct QuantizedTensor {
    QuantizedTensor() = default;
    QuantizedTensor(Tensor values, Quantization quantization = {})
        : values(std::move(values)), quantization(std::move(quantization)) {}

    Tensor values;
    Quantization quantization;
};

}  // namespace hk
