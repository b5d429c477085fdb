#pragma once
// The ONNX file format, as far as models of one operation need it.

#include <string>

#include "hk/conv2d.h"
#include "hk/group_norm.h"
#include "hk/topk.h"

namespace hk::bench {

// The bytes of a model x -> Conv -> y with the weight, in OIHW order, as an initializer.
std::string onnx_conv2d_model(const Conv2dProblem &problem, const void *weight_oihw);

struct OnnxScaling {
    float input_scale;
    int32_t input_zero_point;
    std::vector<float> weight_scales;  // of each filter; zero points 0
    float output_scale;
    int32_t output_zero_point;
};

// The same for an s8 weight: x -> QLinearConv -> y, all of the problem's type; and x -> Conv -> y
// in f32, its weight from DequantizeLinear.
std::string onnx_qlinear_conv2d_model(const Conv2dProblem &problem, const void *weight_oihw,
                                      const OnnxScaling &scaling);
std::string onnx_dequantize_conv2d_model(const Conv2dProblem &problem, const void *weight_oihw,
                                         const OnnxScaling &scaling);

// The bytes of a model x -> TopK -> values, indices (of s64) along the last axis, sorted.
std::string onnx_topk_model(const TopKProblem &problem);

// The operation that ONNX has for a normalisation: LayerNormalization of rows, which makes the
// statistics too; InstanceNormalization; GroupNormalization.
std::string onnx_group_norm_operation(const GroupNormProblem &problem);

// The bytes of a model x -> that operation -> y, and mean and rstd of rows, in nchw; weight and
// bias are initializers.
std::string onnx_group_norm_model(const GroupNormProblem &problem, const void *weight,
                                  const void *bias);

// ONNX's number of an element type.
int onnx_type(DataType type);

}  // namespace hk::bench
