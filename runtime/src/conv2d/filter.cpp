#include "conv2d/filter.h"

#include <string_view>

#include "convolution/prepared_filter.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "conv2d";
constexpr int64_t kWinogradPoints = 6;  // of generators/conv2d/winograd.h

// As kernels read a weight: as it is; depthwise, with groups innermost; as
// generators/conv2d/conv2d_filter.h packs it, in vectors, in slices or in those of windows; as
// generators/conv2d/winograd.h transforms it.
enum class Form : uint8_t { plain, groups_inner, vectors, slices, windows, winograd };

// Channels of one: kSliceChannels there.
constexpr int64_t kSlice = 32;

Form form_for(const KernelInfo &kernel, bool prepared) {
    const std::string_view algorithm = kernel.algorithm;
    if (algorithm.starts_with("packed")) return Form::vectors;
    if (algorithm == "slices_of_windows") return Form::windows;
    if (algorithm.starts_with("slices")) return Form::slices;
    if (algorithm == "winograd") return Form::winograd;
    const bool across_groups = algorithm == "depthwise_transposed" ||
                               algorithm == "depthwise_planes" ||
                               (algorithm == "depthwise" && kernel.device == DeviceType::cpu &&
                                kernel.layout == Layout::nhwc);
    return prepared && across_groups ? Form::groups_inner : Form::plain;
}

// Whether a kernel packs pairs of channels, in the type of the weight.
bool packs_pairs(const KernelInfo &kernel) {
    return kernel.extent("packed", 0) == 2 * kFilterBlock;
}

const char *algorithm_of(Form form) {
    switch (form) {
        case Form::slices:
            return "slices";
        case Form::windows:
            return "slices_of_windows";
        case Form::winograd:
            return "winograd";
        default:
            return "vectors";
    }
}

// [ki, c, s, r, ko, g], or [e, p, s, r, ko, g] of pairs, or [ki, c, i, j, ko, g]
BufferView pack(const Conv2dOperands &operands, Form form) {
    const FilterSizes f(operands.problem);
    const bool winograd = form == Form::winograd, windows = form == Form::windows;
    const Packing packing =
        packing_of(kOperation, conv2d_filter_kernels(), algorithm_of(form), operands);
    const bool pairs = packs_pairs(packing.kernel);
    const int64_t whole = windows || form == Form::slices ? kSlice
                          : pairs                         ? 2
                                                          : 1,
                  channels = windows ? f.channels * f.width : f.channels,
                  filled = (channels + whole - 1) / whole * whole;
    const int64_t block = pairs ? 2 * kFilterBlock : kFilterBlock,
                  width = winograd  ? kWinogradPoints
                          : windows ? 1
                                    : f.width,
                  height = winograd ? kWinogradPoints : f.height;
    BufferView packed = pack_filter(
        kOperation, packing, {block, filled / (pairs ? 2 : 1), width, height, f.blocks, f.groups},
        pairs ? packing.kernel.type : DataType::f32);
    // A kernel is told the filter's columns by it.
    if (windows) packed.dims[2] = {f.width, 0};
    return packed;
}

// Depthwise: [c, s, r, k, g], or [s, r, c, k, g] of nchw, with one channel and one filter, groups
// next to each other.
BufferView with_groups_inner(const Conv2dOperands &operands, const Tensor &weight) {
    const FilterSizes f(operands.problem);
    Tensor copy({f.height, f.width, f.groups}, weight.type());
    copy.copy_from(weight.permute({1, 2, 3, 0}).reshape({f.height, f.width, f.groups}));
    const Dim one{1, 1}, s{f.width, f.groups}, r{f.height, f.groups * f.width}, g{f.groups, 1};
    if (operands.problem.options.layout == Layout::nhwc) return {copy, {one, s, r, one, g}};
    return {copy, {s, r, one, one, g}};
}

}  // namespace

BufferView detail::filter_view(const KernelInfo &kernel, const Conv2dOperands &operands,
                               const Filter &filter) {
    const Form form = form_for(kernel, filter.is_prepared());
    if (form == Form::plain) return operands.weight;
    if (!filter.is_prepared()) return pack(operands, form);
    const auto &prepared = filter.prepared();
    return prepared->view(static_cast<int>(form), operands, [&] {
        return form == Form::groups_inner ? with_groups_inner(operands, prepared->weight)
                                          : pack(operands, form);
    });
}

}  // namespace hk
