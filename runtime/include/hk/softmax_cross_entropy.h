#pragma once
// Softmax and cross-entropy of rows of logits, and the gradient of their sum:
//
//   loss(n)        = log(sum over c of exp(logits(n, c) - m)) - (logits(n, labels(n)) - m)
//   gradient(n, c) = scale * (exp(logits(n, c) - m) / (sum over c of …) - (c == labels(n)))
//   with m = max over c of logits(n, c)       (torch.nn.functional.cross_entropy, reduction none)
//
// The gradient of a batch's mean loss has the scale 1 / N. A row with a NaN or a positive infinity
// has a loss and a gradient of NaN; a negative infinity is a class of probability 0.

#include <span>

#include "hk/kernel_info.h"
#include "hk/output.h"

namespace hk {

// logits [N, C] and gradient, the same shape and type: f32, f16 or bf16; labels [N], s32 or
// s64; loss [N], f32. Sums are f32, and the gradient is rounded once; a sum errs by at most 2^-14
// of itself, however many classes there are. Either of loss and gradient may be undefined.
//
// Tensors live on one device and are the caller's; they may be views, but the classes of a row lie
// next to each other. The gradient is apart from all others or inplace(logits), the loss apart from
// all. Of a CPU's labels each is checked to be 0 to C - 1 before anything runs; labels on a device
// can't be seen by the host: one out of range is taken as the nearest class, and of s64 the lower
// 32 bits alone count. An empty batch is legal and does nothing. The same call gives the same bits
// on any number of threads. Calls from several threads at once are safe; on a device they return
// when the work is queued. Throws InvalidArgument before anything runs; OutOfMemory, DeviceError,
// KernelFailure, after which logits that were to be written in place are undefined.
void softmax_cross_entropy(const Tensor &logits, const Tensor &labels, const Tensor &loss,
                           const Output &gradient, float scale = 1, const Stream &stream = {});

// Runs one given row, whatever selection would take. Throws InvalidArgument where the row does not
// take the problem. For tests and measurements.
void softmax_cross_entropy_with(const KernelInfo &kernel, const Tensor &logits,
                                const Tensor &labels, const Tensor &loss, const Output &gradient,
                                float scale = 1, const Stream &stream = {});

// All rows of the family, in the order of the table.
std::span<const KernelInfo> softmax_cross_entropy_kernels();

Selection select_softmax_cross_entropy(int64_t rows, int64_t classes, DataType type,
                                       DeviceType device, const DeviceLimits &limits,
                                       bool explain = false);

}  // namespace hk
