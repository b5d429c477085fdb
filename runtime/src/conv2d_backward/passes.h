#pragma once
// The three families of a convolution's gradients, and one of them that is about to be computed.

#include "call_context.h"
#include "convolution/operands.h"
#include "selection_cache.h"

namespace hk::detail {

// Operands are those of the forward convolution, with gradients in the places of what they belong
// to.
struct GradientFamily {
    const char *name;
    std::span<const KernelInfo> (*kernels)();
    Normalise normalise;
    SelectionCache &(*cache)(const char *name);
    void (*call)(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
                 CallContext &context, bool own_queue);
};

extern const GradientFamily kData, kWeight, kBias;

// Whether a row takes a problem, which is normalised.
bool takes(const KernelInfo &row, const Fields &problem, DeviceType device,
           const DeviceLimits &limits);

// Whether a row of the input's gradient that was made for a problem's strides takes it: it stands
// before those that take any. For calls, which ask again, the answer is kept.
bool has_row_for_strides(const Fields &problem, DeviceType device, const DeviceLimits &limits);
bool has_row_for_strides(const Fields &problem, Device device);

// A gradient that is about to be computed.
struct Pass {
    // `row`: null for the one that selection takes.
    Pass(const GradientFamily &family, Conv2dOperands views, const KernelInfo *row, Device device);

    const GradientFamily &family;
    Conv2dOperands operands;
    const KernelInfo *kernel;
};

// Whether a row of the family takes the operands, which are not normalised.
bool any_takes(const GradientFamily &family, Conv2dOperands views, Device device);

Conv2dOperands bias_operands(const Tensor &output_gradient, const Tensor &bias_gradient,
                             Layout layout);

}  // namespace hk::detail
