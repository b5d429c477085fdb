#include "conv2d_backward/passes.h"

#include <algorithm>
#include <string_view>

#include "conv2d_backward/calls.h"
#include "conv2d_backward/check.h"
#include "conv2d_backward/operands.h"
#include "hk/conv2d_backward.h"

namespace hk::detail {

const GradientFamily kData{"conv2d_backward_data", conv2d_backward_data_kernels,
                           normalise_backward_data, selections<conv2d_backward_data_kernels>,
                           call_data};
const GradientFamily kWeight{"conv2d_backward_weight", conv2d_backward_weight_kernels,
                             normalise_backward_weight, selections<conv2d_backward_weight_kernels>,
                             call_weight};
const GradientFamily kBias{"conv2d_backward_bias", conv2d_backward_bias_kernels,
                           normalise_backward_bias, selections<conv2d_backward_bias_kernels>,
                           call_bias};

namespace {

// Whether the row was made for strides: it takes a problem of those whole.
bool made_for_strides(const KernelInfo &row) {
    return std::ranges::any_of(row.where, [](const Constraint &constraint) {
        return std::string_view(constraint.field) == "stride_x" && constraint.value > 1;
    });
}

}  // namespace

bool takes(const KernelInfo &row, const Fields &problem, DeviceType device,
           const DeviceLimits &limits) {
    return select({&row, 1}, problem, device, limits, false).kernel;
}

bool has_row_for_strides(const Fields &problem, DeviceType device, const DeviceLimits &limits) {
    return std::ranges::any_of(kData.kernels(), [&](const KernelInfo &row) {
        return made_for_strides(row) && takes(row, problem, device, limits);
    });
}

bool has_row_for_strides(const Fields &problem, Device device) {
    static Immortal<SelectionCache> known(kData.name, kData.kernels(), made_for_strides);
    return known->find_any(problem, device, [] { return std::string(); });
}

Pass::Pass(const GradientFamily &family, Conv2dOperands views, const KernelInfo *row, Device device)
    : family(family), operands(std::move(views)) {
    family.normalise(operands);
    check_fit_kernel(family.name, operands);
    const Conv2dProblem &problem = operands.problem;
    kernel = &family.cache(family.name).find(row, conv2d_fields(problem, device), device, [&] {
        return to_string(problem, family.name);
    });
}

bool any_takes(const GradientFamily &family, Conv2dOperands views, Device device) {
    family.normalise(views);
    const Conv2dProblem &problem = views.problem;
    return family.cache(family.name).find_any(conv2d_fields(problem, device), device, [&] {
        return to_string(problem, family.name);
    });
}

Conv2dOperands bias_operands(const Tensor &output_gradient, const Tensor &bias_gradient,
                             Layout layout) {
    Conv2dOperands operands;
    operands.problem =
        bias_problem(kBias.name, output_gradient.shape(), output_gradient.type(), layout);
    operands.output = image_view(output_gradient, layout, 1);
    operands.bias = vector_of_filters(bias_gradient, operands.problem);
    return operands;
}

}  // namespace hk::detail
