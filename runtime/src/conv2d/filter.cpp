#include "conv2d/filter.h"

#include <mutex>
#include <string_view>
#include <vector>

#include "hk/error.h"
#include "kernel_call.h"
#include "rethrow.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "conv2d";
constexpr int64_t kBlock =
    16;  // kFilterBlock of generators/conv2d/conv2d_filter.h, which kernels ask for

constexpr int64_t kWinogradPoints = 6;  // of generators/conv2d/winograd.h

// As kernels read a weight: as it is; depthwise, with groups innermost; as
// generators/conv2d/conv2d_filter.h packs it; as generators/conv2d/winograd.h transforms it.
enum class Form : uint8_t { plain, groups_inner, vectors, winograd };

Form form_for(const KernelInfo &kernel, bool prepared) {
    const std::string_view algorithm = kernel.algorithm;
    if (algorithm == "packed") return Form::vectors;
    if (algorithm == "winograd") return Form::winograd;
    const bool across_groups = algorithm == "depthwise_transposed" ||
                               (algorithm == "depthwise" && kernel.device == DeviceType::cpu &&
                                kernel.layout == Layout::nhwc);
    return prepared && across_groups ? Form::groups_inner : Form::plain;
}

// Sizes of a weight, of a group.
struct Filters {
    explicit Filters(const Conv2dProblem &problem)
        : groups(problem.options.groups),
          channels(problem.channels / groups),
          filters(problem.filters / groups),
          width(problem.kernel_width),
          height(problem.kernel_height) {}

    int64_t groups, channels, filters, width, height;
};

// Whether a kernel packs pairs of channels, in the type of the weight.
bool packs_pairs(const KernelInfo &kernel) { return kernel.extent("packed", 0) == 2 * kBlock; }

// [ki, c, s, r, ko, g], or [e, p, s, r, ko, g] of pairs, or [ki, c, i, j, ko, g]
Dims packed_dims(const Filters &f, Form form, bool pairs) {
    Dims dims;
    int64_t stride = 1;
    const int64_t blocks = (f.filters + kBlock - 1) / kBlock;
    const int64_t width = form == Form::winograd ? kWinogradPoints : f.width;
    const int64_t height = form == Form::winograd ? kWinogradPoints : f.height;
    const int64_t block = pairs ? 2 * kBlock : kBlock,
                  channels = pairs ? (f.channels + 1) / 2 : f.channels;
    for (const int64_t extent : {block, channels, width, height, blocks, f.groups}) {
        dims.push_back({extent, stride});
        stride *= extent;
    }
    return dims;
}

// A 1x1 filter of nchw whose channels are adjacent is one of nhwc.
const KernelInfo &packing_kernel(const Conv2dProblem &problem, Form form, BufferView &weight) {
    Layout layout = problem.options.layout;
    const Dims d = weight.dims;
    if (layout == Layout::nchw && d[0].extent == 1 && d[1].extent == 1 && d[2].stride == 1) {
        weight.dims = {d[2], d[0], d[1], d[3], d[4]};
        layout = Layout::nhwc;
    }
    const std::string_view algorithm = form == Form::winograd ? "winograd" : "vectors";
    for (const KernelInfo &kernel : conv2d_filter_kernels()) {
        if (kernel.algorithm == algorithm && kernel.type == problem.type && kernel.layout == layout)
            return kernel;
    }
    throw KernelFailure(std::string(kOperation) + ": the library has no kernel that packs " +
                        std::string(name_of(problem.type)));
}

BufferView pack(const Conv2dOperands &operands, Form form) {
    BufferView plain = operands.weight;
    const KernelInfo &kernel = packing_kernel(operands.problem, form, plain);
    const bool pairs = packs_pairs(kernel);
    const Dims dims = packed_dims(Filters(operands.problem), form, pairs);
    const Dim &last = dims[dims.size() - 1];
    const DataType type = pairs ? kernel.type : DataType::f32;
    const BufferView target(Tensor({last.extent * last.stride}, type), dims);
    check_fits_kernel(kOperation, "weight", target);
    KernelBuffer weight(plain, {kOperation, "weight", KernelBuffer::Use::read, true});
    KernelBuffer packed(target, {kOperation, "packed weight", KernelBuffer::Use::write, true});
    CallContext context(Device::cpu());
    call_kernel(context,
                KernelArguments(kOperation, kernel).add({{"weight", weight}, {"packed", packed}}));
    return target;
}

// Depthwise: [c, s, r, k, g], or [s, r, c, k, g] of nchw, with one channel and one filter, groups
// next to each other.
BufferView with_groups_inner(const Conv2dOperands &operands, const Tensor &weight) {
    const Filters f(operands.problem);
    Tensor copy({f.height, f.width, f.groups}, weight.type());
    copy.copy_from(weight.permute({1, 2, 3, 0}).reshape({f.height, f.width, f.groups}));
    const Dim one{1, 1}, s{f.width, f.groups}, r{f.height, f.groups * f.width}, g{f.groups, 1};
    if (operands.problem.options.layout == Layout::nhwc) return {copy, {one, s, r, one, g}};
    return {copy, {s, r, one, one, g}};
}

}  // namespace

struct Filter::Prepared {
    explicit Prepared(const Tensor &tensor) : weight(tensor) {}

    struct Kept {
        Form form;
        Layout layout;
        int64_t groups, width;  // of a filter: it may be that of a column, turned
        BufferView view;
    };

    BufferView view(Form form, const Conv2dOperands &operands) {
        const Conv2dOptions &options = operands.problem.options;
        const int64_t width = operands.problem.kernel_width;
        const std::lock_guard lock(mutex);
        for (const Kept &one : kept) {
            if (one.form == form && one.layout == options.layout && one.groups == options.groups &&
                one.width == width) {
                return one.view;
            }
        }
        BufferView made =
            form == Form::groups_inner ? with_groups_inner(operands, weight) : pack(operands, form);
        kept.push_back({form, options.layout, options.groups, width, made});
        return made;
    }

    size_t bytes() {
        const std::lock_guard lock(mutex);
        size_t sum = 0;
        for (const Kept &one : kept) {
            int64_t elements = 1;
            for (const Dim &dim : one.view.dims) elements *= dim.extent;
            sum += static_cast<size_t>(elements) * size_of(one.view.type);
        }
        return sum;
    }

    const Tensor weight;
    std::mutex mutex;
    std::vector<Kept> kept;
};

Filter prepare_filter(const Tensor &weight) try {
    auto prepared = std::make_shared<Filter::Prepared>(weight);
    Filter filter(prepared->weight);
    filter.prepared_ = std::move(prepared);
    return filter;
} catch (...) {
    rethrow_as_error("prepare_filter");
}

size_t Filter::bytes() const { return prepared_ ? prepared_->bytes() : 0; }

BufferView detail::filter_view(const KernelInfo &kernel, const Conv2dOperands &operands,
                               const Filter &filter) {
    const Form form = form_for(kernel, filter.is_prepared());
    if (form == Form::plain) return operands.weight;
    return filter.is_prepared() ? filter.prepared()->view(form, operands) : pack(operands, form);
}

}  // namespace hk
