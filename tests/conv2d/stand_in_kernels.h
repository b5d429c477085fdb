#pragma once
// A table of conv2d kernels that are plain functions, so that the call of a kernel is tested
// without the kernel compiler. They compute the definition, and note what they were called with.

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "HalideRuntime.h"
#include "hk/conv2d.h"
#include "tests/support/called_with.h"

namespace hk::tests {

// The arguments of a conv2d kernel.
struct Arguments {
    explicit Arguments(void **pointers);
    explicit Arguments(const test::CalledWith &given);

    void *user_context;
    halide_buffer_t *input, *weight, *bias, *residual;
    int32_t stride_x, stride_y, dilation_x, dilation_y, padding_left, padding_top;
    bool has_bias, has_residual;
    float slope, low, high;
    int32_t smooth;
    halide_buffer_t *output;
};

// Extents and strides of a buffer as the kernel saw it.
struct Seen {
    std::vector<int32_t> extents, strides;
};

struct Call {
    std::string kernel;
    Seen input, weight, bias, residual, output;
    int32_t stride_x = 0, stride_y = 0, dilation_x = 0, dilation_y = 0;
};

// The last call of this thread.
Call &last_call();

// How the next calls of f16 kernels fail: with this status after this message.
struct Failure {
    int status = 0;
    std::string message;
};
extern Failure failure;

// Calls of all kernels so far.
extern std::atomic<int> calls;

// Small integers that differ from place to place.
Tensor numbers(const Shape &shape, int seed);

std::vector<float> values(const Tensor &tensor);

}  // namespace hk::tests
