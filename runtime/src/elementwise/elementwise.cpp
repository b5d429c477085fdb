#include "elementwise/elementwise.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "hk/error.h"
#include "operand_check.h"
#include "storage.h"

namespace hk::detail {

namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr size_t kKernelDims = 3;

// A dimension, and what a step along it is in each tensor.
struct Axis {
    int64_t extent = 1;
    std::array<int64_t, Elementwise::kMostTensors> strides{};
};

bool continues(const Axis &inner, const Axis &outer) {
    for (size_t i = 0; i < inner.strides.size(); i++) {
        int64_t next;
        if (__builtin_mul_overflow(inner.extent, inner.strides[i], &next)) return false;
        if (outer.strides[i] != next) return false;
    }
    return true;
}

// Innermost first, as few as possible.
std::vector<Axis> axes_of(std::span<const Operand> operands) {
    const Shape &shape = operands[0].tensor.shape();
    std::vector<Axis> all;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] == 1) continue;
        Axis axis{shape[d], {}};
        for (size_t i = 0; i < operands.size(); i++) {
            const Tensor &tensor = operands[i].tensor;
            axis.strides[i] = (tensor.defined() ? tensor : operands[0].tensor).strides()[d];
        }
        all.push_back(axis);
    }
    std::ranges::stable_sort(all, {}, [](const Axis &axis) { return std::abs(axis.strides[0]); });
    std::vector<Axis> joined;
    for (const Axis &axis : all) {
        if (!joined.empty() && continues(joined.back(), axis)) {
            joined.back().extent *= axis.extent;
        } else {
            joined.push_back(axis);
        }
    }
    return joined;
}

// Bytes between the first element and the last along a dimension. In 128 bits, as
// check_fits_kernel counts them.
__int128 reach_along(const BufferView &view, size_t d) {
    const __int128 stride = view.dims[d].stride;
    return (stride < 0 ? -stride : stride) * (view.dims[d].extent - 1) * size_of(view.type);
}

bool fits_kernel(const BufferView &view) {
    __int128 reach = size_of(view.type);
    for (size_t d = 0; d < view.dims.size(); d++) {
        const Dim &dim = view.dims[d];
        if (dim.extent > kMost || dim.stride > kMost || dim.stride < -kMost) return false;
        reach += reach_along(view, d);
    }
    return reach <= kMost;
}

// The dimension along which a view is the longest, of all views.
size_t longest(const Elementwise::Call &call) {
    size_t best = 0;
    __int128 most = -1;
    for (const BufferView &view : call) {
        for (size_t d = 0; d < view.dims.size(); d++) {
            const __int128 reach = reach_along(view, d) + view.dims[d].extent;
            if (view.dims[d].extent > 1 && reach > most) {
                most = reach;
                best = d;
            }
        }
    }
    return best;
}

bool is_aligned(const BufferView &view) { return begins_at_multiple(view, Elementwise::kAlignment); }

// Halves a call until kernels can count it; what is aligned stays so.
void push(std::vector<Elementwise::Call> &calls, Elementwise::Call call) {
    for (BufferView &view : call) {
        for (size_t d = 0; d < view.dims.size(); d++) {
            if (view.dims[d].extent == 1) view.dims[d].stride = d == 0;
        }
    }
    if (std::ranges::all_of(call, fits_kernel)) {
        calls.push_back(std::move(call));
        return;
    }
    Elementwise::Call rest = call;
    const size_t d = longest(call);
    for (size_t i = 0; i < call.size() && call[i].dims.size() > 0; i++) {
        int64_t half = call[i].dims[d].extent / 2;
        if (half > Elementwise::kAlignment) half -= half % Elementwise::kAlignment;
        rest[i].offset += half * call[i].dims[d].stride;
        rest[i].dims[d].extent -= half;
        call[i].dims[d].extent = half;
    }
    push(calls, std::move(call));
    push(calls, std::move(rest));
}

}  // namespace

Elementwise elementwise(std::span<const Operand> operands) {
    std::vector<Axis> axes = axes_of(operands);
    axes.resize(std::max(axes.size(), kKernelDims));
    Elementwise result;
    Elementwise::Call first;
    for (size_t i = 0; i < operands.size(); i++) {
        const Tensor &tensor = operands[i].tensor;
        first[i] = BufferView(tensor.defined() ? tensor : operands[0].tensor, {});
        for (size_t d = 0; d < kKernelDims; d++)
            first[i].dims.push_back({axes[d].extent, axes[d].strides[i]});
        result.adjacent &= axes[0].extent == 1 || axes[0].strides[i] == 1;
    }
    result.packed = result.adjacent && axes[1].extent == 1;
    std::vector<Elementwise::Call> places{first};
    for (size_t d = kKernelDims; d < axes.size(); d++) {
        const size_t count = places.size();
        for (int64_t step = 1; step < axes[d].extent; step++) {
            for (size_t c = 0; c < count; c++) {
                Elementwise::Call call = places[c];
                for (size_t i = 0; i < operands.size(); i++)
                    call[i].offset += step * axes[d].strides[i];
                places.push_back(std::move(call));
            }
        }
    }
    for (Elementwise::Call &call : places) push(result.calls, std::move(call));
    result.aligned =
        result.packed && std::ranges::all_of(result.calls, [&](const auto &call) {
            return std::ranges::all_of(std::span(call).first(operands.size()), is_aligned);
        });
    return result;
}

InputBuffer::InputBuffer(const BufferView &view, const BufferView &output_view,
                         KernelBuffer &output, const KernelBuffer::Role &role)
    : output_(output) {
    const bool one = view.storage == output_view.storage && view.offset == output_view.offset;
    if (!one) apart_.emplace(view, role);
}

Fields elementwise_fields(const Elementwise &problem, DataType type) {
    Fields fields(type, Layout::any);
#include "elementwise/fields.def"
    return fields;
}

std::string to_string(const char *operation, const Elementwise &problem, DataType type) {
    return std::string(operation) + " " + std::string(name_of(type)) + ", " +
           (problem.packed     ? "packed"
            : problem.adjacent ? "runs of adjacent elements"
                               : "elements apart");
}

void check_elementwise(const char *operation, std::span<const Operand> operands) {
    const Operand &first = operands[0];
    if (!first.tensor.defined()) {
        throw InvalidArgument(std::string(operation) + ": " + first.name + " is undefined");
    }
    check_float(operation, first.tensor.type());
    for (const Operand &operand : operands.subspan(1)) {
        check_device(operation, operand, first);
        check_type(operation, operand, first);
        check_shape(operation, operand, first.tensor.shape());
    }
}

}  // namespace hk::detail
