#pragma once
// A step of stochastic gradient descent with momentum (torch.optim.SGD with dampening 0):
//
//   g = gradient + weight_decay * parameter
//   velocity = momentum * velocity + g
//   parameter -= learning_rate * (nesterov ? g + momentum * velocity : velocity)
//
// The velocity starts as zeros. PyTorch starts it as the first gradient, which is the same: the
// first step makes momentum * 0 + g of it.

#include <span>

#include "hk/kernel_info.h"
#include "hk/tensor.h"

namespace hk {

struct SgdOptions {
    float learning_rate = 0, momentum = 0, weight_decay = 0;
    bool nesterov = false;  // asks for a momentum
};

// Parameter and velocity are read and written in place. Where momentum is 0 the velocity is
// neither, and may be undefined.
//
// Tensors have one shape and one type, f32, f16 or bf16, and live on one device; they are the
// caller's and may be views with any strides. Parameter and velocity overlap no other tensor of the
// call. Arithmetic is f32; of 16 bits parameter and velocity are each rounded once a step, and a
// step below half a unit in the last place of a parameter is lost.
//
// Calls from several threads at once are safe. On a device the call returns when the work is
// queued. Throws InvalidArgument before anything runs, also for a rate, momentum or decay that is
// negative or not finite; OutOfMemory, DeviceError, KernelFailure.
void sgd_step(const Tensor &parameter, const Tensor &velocity, const Tensor &gradient,
              const SgdOptions &options, const Stream &stream = {});

// Runs one given row, whatever selection would take. Throws InvalidArgument where the row does not
// take the problem. For tests and measurements.
void sgd_step_with(const KernelInfo &kernel, const Tensor &parameter, const Tensor &velocity,
                   const Tensor &gradient, const SgdOptions &options, const Stream &stream = {});

// All rows, in the order of the table.
std::span<const KernelInfo> sgd_kernels();

}  // namespace hk
