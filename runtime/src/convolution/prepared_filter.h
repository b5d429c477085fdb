#pragma once
// What is kept of a weight that is prepared, and how a kernel packs it.

#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "convolution/operands.h"
#include "hk/filter.h"

namespace hk {

struct Filter::Prepared {
    // One form of the weight, as a family numbers them, for calls that see it alike.
    struct Kept {
        int form;
        Layout layout;
        int64_t groups, width, height;  // of a filter: it may be turned, and taps be channels
        int64_t offset;                 // of the first tap that is met
        detail::BufferView view;
    };

    explicit Prepared(const Tensor &tensor) : weight(tensor) {}

    // make() is called once for each form.
    template<typename Make>
    detail::BufferView view(int form, const detail::Conv2dOperands &operands, const Make &make) {
        const Conv2dProblem &problem = operands.problem;
        const Conv2dOptions &options = problem.options;
        const int64_t width = problem.kernel_width, height = problem.kernel_height;
        const int64_t offset = operands.weight.offset;
        const std::lock_guard lock(mutex);
        for (const Kept &one : kept) {
            if (one.form == form && one.layout == options.layout && one.groups == options.groups &&
                one.width == width && one.height == height && one.offset == offset) {
                return one.view;
            }
        }
        kept.push_back({form, options.layout, options.groups, width, height, offset, make()});
        return kept.back().view;
    }

    // Of a weight in nchw, for images that are copied in nhwc.
    Filter channels_last();

    size_t bytes();

    const Tensor weight;
    std::mutex mutex;
    std::vector<Kept> kept;
    std::optional<Filter> last;
};

namespace detail {

// Filters of a vector: kFilterBlock of generators/conv2d/conv2d_filter.h, which kernels ask for.
constexpr int64_t kFilterBlock = 16;

// Of a group.
struct FilterSizes {
    explicit FilterSizes(const Conv2dProblem &problem);

    int64_t groups, channels, filters, width, height;
    int64_t blocks;  // vectors of filters
};

// What packs a weight, and the weight as that kernel takes it.
struct Packing {
    const KernelInfo &kernel;
    BufferView weight;
};

// That one of a family's kernels that has the algorithm, and the weight's type and layout.
Packing packing_of(const char *operation, std::span<const KernelInfo> kernels,
                   std::string_view algorithm, const Conv2dOperands &operands);

// The weight in new memory of `type`, dense, of these extents.
BufferView pack_filter(const char *operation, const Packing &packing,
                       std::initializer_list<int64_t> extents, DataType type);

}  // namespace detail

}  // namespace hk
