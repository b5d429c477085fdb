#pragma once
// The families that are tried: each draws a random call, makes it and checks it.

#include <span>

#include "tests/fuzz/case.h"

namespace hk::fuzz {

struct Family {
    const char *name;
    Result (*run)(Case &c);
};

Result conv2d(Case &c);
Result conv2d_backward(Case &c);
Result quantized_conv2d(Case &c);
Result pool2d(Case &c);
Result pool2d_backward(Case &c);
Result topk(Case &c);
Result tensor_product(Case &c);
Result kernel_map(Case &c);
Result softmax_cross_entropy(Case &c);
Result activation(Case &c);
Result sgd(Case &c);

std::span<const Family> families();

}  // namespace hk::fuzz
