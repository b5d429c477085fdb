#include "hk/error.h"
#include "topk/operands.h"

namespace hk {

std::span<const KernelInfo> topk_tiles_kernels() { return {}; }

namespace detail {

void topk_on_gpu(const KernelInfo &, const TopKOperands &operands, CallContext &context, bool) {
    throw DeviceError(to_string(operands.problem) + ": no kernels for " + context.device.name());
}

}  // namespace detail

}  // namespace hk
