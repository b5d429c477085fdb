#include "convolution/met_taps.h"

#include <tuple>

namespace hk::detail {

namespace {

struct Axis {
    int64_t pixels, outputs, taps, stride, dilation;
};

struct Met {
    int64_t first, count, before, after;
};

// Paddings may not become negative, which would leave out pixels.
Met met_of(const Axis &axis, int64_t before, int64_t after) {
    int64_t first = 0, last = axis.taps - 1;
    const int64_t last_window = (axis.outputs - 1) * axis.stride;
    while (first < last && last_window + first * axis.dilation < before &&
           (first + 1) * axis.dilation <= before)
        first++;
    while (last > first && last * axis.dilation - before >= axis.pixels &&
           (axis.taps - last) * axis.dilation <= after)
        last--;
    return {first, last - first + 1, before - first * axis.dilation,
            after - (axis.taps - 1 - last) * axis.dilation};
}

}  // namespace

std::optional<MetTaps> met_taps(const Conv2dProblem &problem) {
    const bool depthwise = problem.options.groups == problem.channels;
    if (problem.prepared_filter && depthwise) return {};
    const auto &[stride, dilation] = std::tie(problem.options.stride, problem.options.dilation);
    const Padding &padding = problem.options.padding;
    const Axis rows{problem.height, problem.output_height(), problem.kernel_height, stride[0],
                    dilation[0]};
    const Axis columns{problem.width, problem.output_width(), problem.kernel_width, stride[1],
                       dilation[1]};
    for (const Axis &axis : {rows, columns}) {
        if (axis.pixels < 1 || axis.outputs < 1) return {};
    }
    const Met y = met_of(rows, padding.top, padding.bottom);
    const Met x = met_of(columns, padding.left, padding.right);
    if (y.count == rows.taps && x.count == columns.taps) return {};
    return MetTaps{{y.first, x.first}, {y.count, x.count}, {y.before, y.after, x.before, x.after}};
}

Conv2dProblem with_met_taps(Conv2dProblem problem) {
    if (const std::optional<MetTaps> met = met_taps(problem)) {
        problem.kernel_height = met->count[0];
        problem.kernel_width = met->count[1];
        problem.options.padding = met->padding;
    }
    return problem;
}

Tensor met_taps_of(const Tensor &weight, const MetTaps &met) {
    if (!weight.defined()) return weight;
    return weight.slice(1, met.first[0], met.count[0]).slice(2, met.first[1], met.count[1]);
}

void cut_taps(Conv2dOperands &operands) {
    const std::optional<MetTaps> met = met_taps(operands.problem);
    if (!met) return;
    const bool nhwc = operands.problem.options.layout == Layout::nhwc;
    const size_t column = nhwc ? 1 : 0;  // of a weight's view
    for (const size_t axis : {0, 1}) {
        Dim &taps = operands.weight.dims[axis == 0 ? column + 1 : column];
        operands.weight.offset += met->first[axis] * taps.stride;
        taps.extent = met->count[axis];
    }
    operands.problem = with_met_taps(operands.problem);
}

}  // namespace hk::detail
