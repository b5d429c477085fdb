#pragma once
// What an operation writes to, and whether that may be the storage of one of its inputs.
//
// Arguments stand in one order: what is read, what is written, options, stream. A call that makes
// its output lacks the output, or has in its place what the inputs don't tell (a shape, a type),
// and lacks the stream.
//
//   hk::conv2d(input, weight, bias, residual, output, options);               // its own tensor
//   hk::conv2d(input, weight, bias, residual, hk::inplace(residual), options);  // instead of it
//
// Each operation's header names the inputs that the output may alias. One that shares memory with
// an input by accident is InvalidArgument; so is inplace() of a tensor that is no such input, or
// another view of it: the output has the input's shape, strides and first element.

#include "hk/tensor.h"

namespace hk {

// Refers to the tensor: to be made in the call that it is for.
class Output {
public:
    Output(const Tensor &tensor) : tensor_(&tensor) {}

    const Tensor &tensor() const noexcept { return *tensor_; }
    bool is_inplace() const noexcept { return inplace_; }

    friend Output inplace(const Tensor &tensor) {
        Output output(tensor);
        output.inplace_ = true;
        return output;
    }

private:
    const Tensor *tensor_;
    bool inplace_ = false;
};

Output inplace(const Tensor &tensor);

}  // namespace hk
