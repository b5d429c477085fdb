#include "conv2d_backward/phases.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "conv2d_backward/operands.h"

namespace hk::detail {

namespace {

struct Axis {
    int64_t pixels, outputs, taps, stride, dilation, padding;
};

// Pixel X * stride + first meets tap s at the output (X * stride + first + padding - s * dilation)
// / stride, where that is whole: at every step-th tap. Taps are tried one by one, for there are at
// most `taps` phases that have any.
std::vector<PhaseAxis> phases_of(const Axis &axis) {
    const int64_t common = std::gcd(axis.stride, axis.dilation), step = axis.stride / common;
    std::vector<PhaseAxis> phases;
    for (int64_t tap = 0; tap < std::min(axis.taps, step); tap++) {
        const int64_t reach = tap * axis.dilation - axis.padding;
        const int64_t first = (reach % axis.stride + axis.stride) % axis.stride;
        if (first >= axis.pixels) continue;
        PhaseAxis phase;
        phase.first = first;
        phase.pixels = (axis.pixels - first + axis.stride - 1) / axis.stride;
        phase.tap = tap;
        phase.taps = (axis.taps - tap + step - 1) / step;
        phase.step = step;
        phase.dilation = phase.taps == 1 ? 1 : axis.dilation / common;
        phase.before = (first - reach) / axis.stride;
        phase.after =
            axis.outputs + (phase.taps - 1) * phase.dilation - phase.pixels - phase.before;
        phases.push_back(phase);
    }
    return phases;
}

DataPhase phase_of(const Conv2dProblem &whole, const PhaseAxis &y, const PhaseAxis &x) {
    DataPhase phase{y, x, whole};
    Conv2dProblem &p = phase.problem;
    p.height = y.pixels;
    p.width = x.pixels;
    p.kernel_height = y.taps;
    p.kernel_width = x.taps;
    p.options.stride = {1, 1};
    p.options.dilation = {y.dilation, x.dilation};
    p.options.padding = {y.before, y.after, x.before, x.after};
    p.options.direct = true;  // as hk/conv2d_backward.h says
    return phase;
}

// Of images in rows: neighbouring pixels of a phase.
bool columns_are_apart(const Conv2dProblem &problem) {
    return problem.options.layout == Layout::nchw && problem.options.stride[1] > 1;
}

}  // namespace

bool is_strided(const Conv2dProblem &problem) {
    const auto &[stride_y, stride_x] = problem.options.stride;
    return stride_y > 1 || stride_x > 1;
}

bool takes_columns_of_phases(const KernelInfo &row, const Conv2dProblem &problem) {
    return !columns_are_apart(problem) || row.layout != Layout::nchw ||
           !std::string_view(row.algorithm).ends_with("_sliced");
}

DataPhases data_phases(const Conv2dProblem &p) {
    const Conv2dOptions &o = p.options;
    const auto ys = phases_of(
        {p.height, p.output_height(), p.kernel_height, o.stride[0], o.dilation[0], o.padding.top});
    const auto xs = phases_of(
        {p.width, p.output_width(), p.kernel_width, o.stride[1], o.dilation[1], o.padding.left});
    DataPhases result;
    int64_t pixels = 0;
    for (const PhaseAxis &y : ys) {
        for (const PhaseAxis &x : xs) {
            result.phases.push_back(phase_of(p, y, x));
            pixels += y.pixels * x.pixels;
        }
    }
    result.all_pixels = pixels == p.height * p.width;
    return result;
}

const DataPhase &with_most_taps(const DataPhases &phases) {
    return *std::ranges::max_element(
        phases.phases, {}, [](const DataPhase &phase) { return phase.y.taps * phase.x.taps; });
}

Conv2dOperands folded_for_phases(Conv2dOperands whole) {
    const auto taps = [](const Conv2dOperands &operands) {
        return operands.problem.kernel_height * operands.problem.kernel_width;
    };
    Conv2dOperands simple = whole;
    simplify_axes(simple);
    return taps(simple) == taps(whole) ? whole : simple;
}

Conv2dOperands operands_of(const DataPhase &phase, Conv2dOperands whole) {
    const auto &[stride_y, stride_x] = whole.problem.options.stride;
    const auto take = [](BufferView &view, size_t d, int64_t first, int64_t count, int64_t step) {
        Dim &dim = view.dims[d];
        view.offset += first * dim.stride;
        dim = {count, dim.stride * step};
    };
    const bool nhwc = whole.problem.options.layout == Layout::nhwc;
    const size_t column = nhwc ? 2 : 0, tap = nhwc ? 1 : 0;
    take(whole.input, column, phase.x.first, phase.x.pixels, stride_x);
    take(whole.input, column + 1, phase.y.first, phase.y.pixels, stride_y);
    take(whole.weight, tap, phase.x.tap, phase.x.taps, phase.x.step);
    take(whole.weight, tap + 1, phase.y.tap, phase.y.taps, phase.y.step);
    whole.problem = phase.problem;
    return whole;
}

namespace {

bool by_multiply_adds(const Conv2dProblem &p) {
    return p.type == DataType::f32 && !p.options.allow_tf32;
}

// Whether a phase has fewer tiles of 64 channels by 128 pixels than half of a large GPU's
// multiprocessors: a row that takes all phases at once is faster then
// (counts --list resnet50 --family conv2d_backward_data --batch 1).
bool is_small(const Conv2dProblem &p) {
    constexpr __int128 tiles = 64, sums = 64 * 128;
    const auto &[stride_y, stride_x] = p.options.stride;
    return static_cast<__int128>(p.batch) * p.height * p.width * p.channels <
           tiles * sums * stride_y * stride_x;
}

}  // namespace

bool products_take_phases(const Conv2dOperands &whole, DeviceType device,
                          const DeviceLimits &limits) {
    const Conv2dProblem &problem = whole.problem;
    if (device != DeviceType::cuda || (by_multiply_adds(problem) && is_small(problem)))
        return false;
    const auto row_for = [&](const DataPhase &phase) {
        Conv2dOperands operands = operands_of(phase, whole);
        normalise_backward_data(operands);
        return select(conv2d_backward_data_kernels(),
                      conv2d_fields(operands.problem, {device, limits}), device, limits, false)
            .kernel;
    };
    const auto multiplies = [&](const KernelInfo *row) {
        return row && std::string_view(row->algorithm).starts_with("products");
    };
    const auto is_taken = [&](const DataPhase &phase) {
        const KernelInfo *row = row_for(phase);
        return row && takes_columns_of_phases(*row, problem);
    };
    const DataPhases phases = data_phases(problem);
    return !phases.phases.empty() && multiplies(row_for(with_most_taps(phases))) &&
           (!columns_are_apart(problem) || std::ranges::all_of(phases.phases, is_taken));
}

}  // namespace hk::detail
