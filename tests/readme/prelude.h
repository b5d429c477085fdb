#pragma once
// What the fragments of C++ in the README and docs/ use without declaring it. They are compiled, not
// run: nothing here is defined.

#include <cstdio>
#include <string>
#include <vector>

#include "hk/activation.h"
#include "hk/conv2d.h"
#include "hk/conv2d_backward.h"
#include "hk/filter.h"
#include "hk/group_norm.h"
#include "hk/kernel_map.h"
#include "hk/memory.h"
#include "hk/memory_trace.h"
#include "hk/pool2d.h"
#include "hk/quantized_conv2d.h"
#include "hk/sgd.h"
#include "hk/softmax_cross_entropy.h"
#include "hk/tensor_product.h"
#include "hk/tensor_product_backward.h"
#include "hk/topk.h"

extern hk::Tensor input, weight, bias, residual, output, features;
extern hk::Tensor input_gradient, weight_gradient, bias_gradient, output_gradient, gradient;
extern hk::Tensor velocity, logits, labels, loss, coordinates;
extern hk::Conv2dOptions options;
extern float batch;
