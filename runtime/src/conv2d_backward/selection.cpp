// What selection takes for the gradients of a problem.

#include <algorithm>
#include <optional>

#include "conv2d_backward/check.h"
#include "conv2d_backward/joined_windows.h"
#include "conv2d_backward/met_pixels.h"
#include "conv2d_backward/operands.h"
#include "conv2d_backward/passes.h"
#include "conv2d_backward/phases.h"
#include "convolution/channels_last.h"
#include "convolution/met_taps.h"
#include "hk/conv2d_backward.h"

namespace hk {

using namespace detail;

namespace {

Selection select_pass(const GradientFamily &family, const Conv2dProblem &problem, DeviceType device,
                      const DeviceLimits &limits, bool explain) {
    return select(family.kernels(),
                  conv2d_fields(normalised(problem, family.normalise), {device, limits}), device,
                  limits, explain);
}

}  // namespace

Selection select_conv2d_backward_data(const Conv2dProblem &problem, DeviceType device,
                                      const DeviceLimits &limits, bool explain) {
    if (device == DeviceType::cpu && problem.options.layout == Layout::nchw) {
        Selection of_nchw = select_pass(kData, problem, device, limits, explain);
        const std::optional<Conv2dProblem> met = of_met_pixels(problem);
        if (!of_nchw.kernel && met)
            return select_conv2d_backward_data(*met, device, limits, explain);
        return or_of_copies(std::move(of_nchw), problem, device, [&](const Conv2dProblem &last) {
            return select_conv2d_backward_data(last, device, limits, explain);
        });
    }
    const Conv2dShapes shapes(problem);
    const Conv2dOperands whole = folded_for_phases(
        conv2d_operands(problem, shapes.input, shapes.weight, {}, {}, shapes.output));
    const auto on_cpu_in_phases = [&] {
        const Conv2dProblem normal = normalised(problem, normalise_backward_data);
        return !has_row_for_strides(conv2d_fields(normal, {device, limits}), device, limits);
    };
    const bool in_phases =
        is_strided(whole.problem) &&
        (device == DeviceType::cpu ? on_cpu_in_phases()
                                   : products_take_phases(whole, device, limits));
    const DataPhases phases = in_phases ? data_phases(whole.problem) : DataPhases();
    if (phases.phases.empty()) return select_pass(kData, problem, device, limits, explain);
    Conv2dOperands operands = operands_of(with_most_taps(phases), whole);
    normalise_backward_data(operands);
    Selection selection = select(kData.kernels(), conv2d_fields(operands.problem, {device, limits}),
                                 device, limits, explain);
    std::erase_if(selection.ladder, [&](const Rung &rung) {
        return !takes_columns_of_phases(*rung.kernel, whole.problem);
    });
    return selection;
}

Selection select_conv2d_backward_weight(const Conv2dProblem &of_all_taps, DeviceType device,
                                        const DeviceLimits &limits, bool explain) {
    const bool cut = device == DeviceType::cpu && of_all_taps.options.layout == Layout::nhwc;
    const Conv2dProblem problem = cut ? with_met_taps(of_all_taps) : of_all_taps;
    Selection selection = select_pass(kWeight, problem, device, limits, explain);
    if (selection.kernel || device != DeviceType::cpu) return selection;
    if (const std::optional<Conv2dProblem> met = of_met_pixels(problem)) {
        Selection of_met = select_pass(kWeight, *met, device, limits, explain);
        if (of_met.kernel) return of_met;
    }
    if (const std::optional<Conv2dProblem> joined = of_joined_windows(problem))
        return select_conv2d_backward_weight(*joined, device, limits, explain);
    return or_of_copies(std::move(selection), problem, device, [&](const Conv2dProblem &last) {
        return select_conv2d_backward_weight(last, device, limits, explain);
    });
}

Selection select_conv2d_backward_bias(const Conv2dProblem &problem, DeviceType device,
                                      const DeviceLimits &limits, bool explain) {
    const Conv2dProblem bias =
        bias_problem(kBias.name, problem.output_shape(), problem.type, problem.options.layout);
    return select_pass(kBias, bias, device, limits, explain);
}

}  // namespace hk
