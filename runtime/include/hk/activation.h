#pragma once
// Activations, element by element, and their gradients:
//
//   output = f(input)                        activate
//   input_gradient = output_gradient * f'(v)   activate_backward, v: what f was applied to
//
// All tensors of a call have one shape and one type, f32, f16 or bf16, and live on one device.
// Arithmetic is f32, rounded once. Tensors are the caller's and may be views with any strides; one
// that is only read may repeat elements (a stride of 0). No elements are legal.
//
// Calls from several threads at once are safe. On a device a call returns when the work is queued.
// Throws InvalidArgument before anything runs; OutOfMemory, DeviceError, KernelFailure.

#include <limits>
#include <span>

#include "hk/kernel_info.h"
#include "hk/output.h"
#include "hk/tensor.h"

namespace hk {

enum class Activation : uint8_t {
    none,
    relu,        // max(v, 0)
    clamp,       // min(max(v, alpha), beta); ReLU6 is alpha 0, beta 6
    leaky_relu,  // v < 0 ? alpha * v : v, with a finite alpha
    silu,        // v / (1 + exp(-v))
    gelu,        // v * (1 + erf(v / sqrt(2))) / 2, the exact form (Hendrycks and Gimpel 2016)
};

std::string_view name_of(Activation activation) noexcept;
Activation activation_of(std::string_view name);  // throws InvalidArgument

// Without bounds a clamp passes every number. Where alpha is above beta it makes all of them beta
// (ONNX operator Clip, opset 13). leaky_relu has no alpha of its own: one must be set.
inline constexpr float kNoLowerBound = -std::numeric_limits<float>::infinity();
inline constexpr float kNoUpperBound = std::numeric_limits<float>::infinity();

struct ActivationOptions {
    Activation activation = Activation::relu;
    float alpha = kNoLowerBound, beta = kNoUpperBound;
};

// The output may be inplace(input).
void activate(const Tensor &input, const Output &output, const ActivationOptions &options = {},
              const Stream &stream = {});

// Of none, relu, clamp and leaky_relu `saved` is the output of activate or its input (of leaky_relu
// with a negative alpha the input), so that a network may activate in place; of silu and gelu it is
// the input. Of none it may be undefined. The result may be inplace(output_gradient) or
// inplace(saved).
//
// f' where f has a corner: relu 0; clamp 0 at both ends, which are rounded to the tensors' type,
// and where its alpha is not below beta 0 everywhere;
// leaky_relu alpha (as in PyTorch).
void activate_backward(const Tensor &output_gradient, const Tensor &saved,
                       const Output &input_gradient, const ActivationOptions &options = {},
                       const Stream &stream = {});

// Runs one given row, whatever selection would take. Throws InvalidArgument where the row does not
// take the problem. For tests and measurements.
void activate_with(const KernelInfo &kernel, const Tensor &input, const Output &output,
                   const ActivationOptions &options = {}, const Stream &stream = {});
void activate_backward_with(const KernelInfo &kernel, const Tensor &output_gradient,
                            const Tensor &saved, const Output &input_gradient,
                            const ActivationOptions &options = {}, const Stream &stream = {});

// All rows of the families, in the order of the table.
std::span<const KernelInfo> activate_kernels();
std::span<const KernelInfo> activate_backward_kernels();

}  // namespace hk
