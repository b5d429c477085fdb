#pragma once
// The ONNX file format, as far as a model of one Conv node needs it.

#include <string>

#include "peers/conv2d_peer.h"

namespace hk::bench {

// The bytes of a model x -> Conv -> y with the weight, in OIHW order, as an initializer.
std::string onnx_conv2d_model(const Conv2dProblem &problem, const void *weight_oihw);

// ONNX's number of an element type.
int onnx_type(DataType type);

}  // namespace hk::bench
