#pragma once
// Zeros for a tensor in the order of a call's work.

#include "hk/device.h"
#include "hk/tensor.h"

namespace hk::detail {

// On a completed stream, which is not waited for, and which the tensor's memory is in order with
// (OperationCall); {}: on the queue of the memory's copies. On a CPU at once.
void queue_zeros(const Tensor &tensor, const Stream &stream);

}  // namespace hk::detail
