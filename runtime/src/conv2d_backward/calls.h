#pragma once
// One call of a kernel of each of the gradients of a convolution.

#include "call_context.h"
#include "convolution/operands.h"

namespace hk::detail {

void call_data(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue);
void call_weight(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
                 CallContext &context, bool own_queue);
void call_bias(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue);

}  // namespace hk::detail
