#pragma once
// The operands of group normalisation: their checks, and as kernels see them.

#include <algorithm>
#include <limits>
#include <string_view>

#include "convolution/check.h"
#include "convolution/operands.h"
#include "hk/error.h"
#include "hk/group_norm.h"
#include "kernel_buffer.h"
#include "operand_check.h"

namespace hk::detail {

// The operands of a call: images first, all of the input's shape.
struct Operands {
    std::span<const Operand> images, vectors, statistics, read;
    std::span<const Operand> written;  // but the output
};

inline void check_operands(const char *operation, const GroupNormProblem &problem,
                           const Operands &operands) {
    const Operand &input = operands.images.front();
    const int64_t statistics[] = {problem.batch, problem.options.groups};
    for (const auto group : {operands.images, operands.vectors, operands.statistics}) {
        for (const Operand &operand : group) check_device(operation, operand, input);
    }
    for (const Operand &image : operands.images) {
        check_type(operation, image, input);
        check_shape(operation, image, input.tensor.shape());
        check_innermost(operation, image, innermost_elements(problem.options.layout));
    }
    for (const Operand &vector : operands.vectors) {
        check_type(operation, vector, input);
        check_shape(operation, vector, {&problem.channels, 1});
    }
    for (const Operand &statistic : operands.statistics) {
        const Tensor &tensor = statistic.tensor;
        if (tensor.defined() && tensor.type() != DataType::f32) {
            throw InvalidArgument(std::string(operation) + ": " + statistic.name + " is " +
                                  std::string(name_of(tensor.type())) + ", it must be f32");
        }
        check_shape(operation, statistic, statistics);
    }
}

inline void check_written(const char *operation, const Operands &operands, const Operand &output,
                          const Output &place, std::span<const Input> inputs) {
    if (output.tensor.defined()) {
        check_elements_disjoint(operation, output);
        check_output(operation, output.name, place, inputs);
    } else if (place.is_inplace()) {
        throw InvalidArgument(std::string(operation) + ": " + output.name +
                              " is inplace() of an undefined tensor");
    }
    for (size_t i = 0; i < operands.written.size(); i++) {
        const Operand &one = operands.written[i];
        if (!one.tensor.defined()) continue;
        check_elements_disjoint(operation, one);
        for (const Operand &operand : operands.read) check_disjoint(operation, operand, one);
        check_disjoint(operation, output, one);
        for (size_t j = 0; j < i; j++) check_disjoint(operation, operands.written[j], one);
    }
}

// A pixel alone in nchw is as one in nhwc, where its channels lie next to each other.
inline GroupNormProblem as_row(GroupNormProblem problem) {
    if (problem.height * problem.width == 1) problem.options.layout = Layout::nhwc;
    return problem;
}

// On GPUs (generators/group_norm/group_norm.h) rows may be vectors: of nhwc a group's channels of a
// pixel, of nchw all of a group, of so many elements, if they lie next to each other, else a
// channel.
constexpr int64_t kMostOfPlanes = 1 << 15, kVectorOfRow = 4;

inline int64_t elements_of_row(const GroupNormProblem &problem) {
    const int64_t pixels = problem.height * problem.width;
    const int64_t channels = problem.channels / problem.options.groups;
    if (problem.options.layout == Layout::nhwc) return channels;
    return pixels <= kMostOfPlanes / channels ? pixels * channels : pixels;
}

// GroupNormProblem::aligned, of an image that the problem with packed tensors holds of.
inline bool is_aligned(const GroupNormProblem &problem, const Tensor &image) {
    const Shape &strides = image.strides();
    const int64_t pixels = problem.height * problem.width;
    const int64_t channels = problem.channels / problem.options.groups;
    const auto whole = [&](int64_t stride) { return stride % kVectorOfRow == 0; };
    if (!begins_at_multiple(BufferView(image, {}), kVectorOfRow * size_of(problem.type)) ||
        (problem.batch > 1 && !whole(strides[0]))) {
        return false;
    }
    if (problem.options.layout == Layout::nhwc) {
        const int64_t column = problem.width > 1 ? strides[2] : strides[1];
        const bool one_row = problem.height == 1 || strides[1] == problem.width * column;
        return one_row && (pixels == 1 || whole(column));
    }
    const bool joined = elements_of_row(problem) > pixels;
    return (problem.height == 1 || strides[2] == problem.width) &&
           (channels == 1 || (joined ? strides[1] == pixels : whole(strides[1]))) &&
           whole(strides[1] * channels);
}

// The same of a vector of channels, which kernels of nhwc read as they do pixels. A strided one is
// copied.
inline bool is_aligned_vector(const GroupNormProblem &problem, const Tensor &vector) {
    const bool of_columns =
        problem.options.layout == Layout::nchw && problem.height * problem.width > 1;
    return of_columns || !vector.defined() || vector.strides()[0] != 1 ||
           begins_at_multiple(BufferView(vector, {}), kVectorOfRow * size_of(problem.type));
}

// The problem as kernels see it. `row`: null where selection takes one. `vectors`: what is read in
// vectors, too.
inline GroupNormProblem seen_by_kernel(const KernelInfo *row, const GroupNormProblem &tensors,
                                       std::span<const Operand> images,
                                       std::span<const Operand> vectors = {}) {
    GroupNormProblem problem = tensors;
    problem.aligned =
        tensors.aligned &&
        std::ranges::all_of(images,
                            [&](const Operand &image) {
                                return !image.tensor.defined() || is_aligned(tensors, image.tensor);
                            }) &&
        std::ranges::all_of(vectors, [&](const Operand &vector) {
            return is_aligned_vector(tensors, vector.tensor);
        });
    if (row && row->layout == problem.options.layout) return problem;
    const size_t c = problem.options.layout == Layout::nhwc ? 3 : 1;
    const bool adjacent = std::ranges::all_of(images, [&](const Operand &image) {
        return !image.tensor.defined() || problem.channels == 1 || image.tensor.strides()[c] == 1;
    });
    return adjacent ? as_row(problem) : problem;
}

// Channels as a kernel sees them: slices of whole groups. Those that have lanes along channels take
// all groups together, but of one image that the second cache holds, whose slices are tasks: from
// memory pieces of pixels are read more slowly.
inline int64_t slices_of(const KernelInfo &kernel, const GroupNormProblem &problem) {
    constexpr int64_t kMost = 8, kPiece = 256, kCached = 1 << 21;  // slices; bytes of pixel, image
    const std::string_view algorithm = kernel.algorithm;
    const int64_t groups = problem.options.groups;
    const bool together = algorithm == "channels" || algorithm.starts_with("parts");
    if (!together || problem.options.layout == Layout::nchw) return groups;
    const int64_t pixel = problem.channels * size_of(problem.type);
    if (problem.batch > 1 || pixel * problem.height * problem.width > kCached) return 1;
    int64_t slices = 1;
    for (int64_t next = 2; next <= std::min(groups, kMost); next++) {
        if (groups % next == 0 && pixel / next >= kPiece) slices = next;
    }
    return slices;
}

// Images of a part, whose gradients of weight and bias are added up while caches hold them: a CPU
// core's second; of a GPU of rows, which have few elements for a sum, the second for all blocks.
inline int64_t images_of_part(const KernelInfo &kernel, const GroupNormProblem &problem,
                              int64_t slices) {
    const std::string_view algorithm = kernel.algorithm;
    const int64_t pixels = problem.height * problem.width;
    const int64_t bytes = 2 * problem.channels / slices * pixels * size_of(problem.type);
    if (std::string_view(kernel.schedule) == "block_of_rows")
        return std::clamp<int64_t>((1 << 17) / bytes / 8 * 8, 8, 64);
    if (algorithm == "parts_of_pixels") return 1;
    if (!algorithm.starts_with("parts") && algorithm != "rows") return 1;
    // Rows are added up at once (generators/group_norm/group_norm.h).
    return std::clamp<int64_t>((1 << 18) / bytes, 1, algorithm == "rows" ? 256 / pixels : 64);
}

// How many parts all images have: by pixels each is up to kPixelsOfPart of a row of `image`, as a
// kernel sees it (generators/group_norm/group_norm.h).
constexpr int64_t kPixelsOfPart = 256;
inline int64_t parts_of(const KernelInfo &kernel, const GroupNormProblem &problem, int64_t slices,
                        const BufferView &image) {
    const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    if (std::string_view(kernel.algorithm) == "parts_of_pixels")
        return problem.batch * image.dims[3].extent * ceil_div(image.dims[2].extent, kPixelsOfPart);
    return ceil_div(problem.batch, images_of_part(kernel, problem, slices));
}

// Tensors of a call as buffers of a kernel.
class Views {
public:
    // `problem`: as kernels see it; `layout`: of the tensors.
    Views(const char *operation, const GroupNormProblem &problem, Layout layout, int64_t slices)
        : operation_(operation), problem_(problem), layout_(layout), slices_(slices) {}

    BufferView image(const Tensor &tensor) const {
        const bool turned = layout_ != problem_.options.layout;
        return image_view(turned ? tensor.permute({0, 2, 3, 1}) : tensor, problem_.options.layout,
                          slices_);
    }

    // Of an image that is not wanted: as another, without channels or columns.
    static BufferView none(BufferView image) {
        image.dims[0].extent = 0;
        image.offset = 0;
        return image;
    }

    // [c, g] of a vector that is read; `copy` is of one that is not packed.
    BufferView vector(const char *name, const Tensor &tensor, const Tensor &other, bool own_queue,
                      Tensor &copy) const {
        Conv2dProblem filters;
        filters.filters = problem_.channels;
        filters.options.groups = slices_;
        if (!tensor.defined()) return absent_vector({&other}, problem_.type, filters);
        const Tensor &packed = packed_vector(operation_, name, tensor, own_queue, copy);
        return checked(name, vector_of_filters(packed, filters));
    }

    // Of one that is written.
    BufferView gradient(const char *name, const Tensor &tensor) const {
        const int64_t channels = problem_.channels / slices_, stride = tensor.strides()[0];
        return checked(name, {tensor, {{channels, stride}, {slices_, stride * channels}}});
    }

    BufferView no_vector(const Tensor &other) const {
        BufferView view(other, {{0, 1}, {slices_, 0}});
        view.offset = 0;
        return view;
    }

    // [group, g, n].
    BufferView statistic(const char *name, const Tensor &tensor, const Tensor &other) const {
        const int64_t groups = problem_.options.groups / slices_;
        if (!tensor.defined()) {
            BufferView view(other, {{0, 1}, {slices_, 0}, {problem_.batch, 0}});
            view.type = DataType::f32;
            view.offset = 0;
            return view;
        }
        const int64_t stride = tensor.strides()[1];
        return checked(name, {tensor,
                              {{groups, stride},
                               {slices_, stride * groups},
                               {problem_.batch, tensor.strides()[0]}}});
    }

    // [c, g, part] of packed sums [parts, C].
    BufferView sums(const Tensor &tensor, int64_t parts, const Tensor &other) const {
        const int64_t channels = problem_.channels / slices_;
        if (!tensor.defined()) {
            BufferView view(other, {{0, 1}, {slices_, 0}, {parts, 0}});
            view.type = DataType::f32;
            view.offset = 0;
            return view;
        }
        return checked("sums of parts",
                       {tensor, {{channels, 1}, {slices_, channels}, {parts, problem_.channels}}});
    }

    // Rows of pixels become one where they do in all images.
    void join_rows(std::initializer_list<BufferView *> images) const {
        const bool nhwc = problem_.options.layout == Layout::nhwc;
        const size_t x = nhwc ? 2 : 0, y = x + 1;
        const int64_t pixels = problem_.height * problem_.width;
        bool even = pixels <= std::numeric_limits<int32_t>::max();
        for (const BufferView *view : images) {
            const Dim &row = view->dims[x], &column = view->dims[y];
            const bool apart = problem_.height > 1 && problem_.width > 1;
            even = even && (!apart || column.stride == problem_.width * row.stride);
            // Kernels need a stride of 1 innermost.
            if (x == 0 && problem_.width == 1 && problem_.height > 1) {
                even = even && column.stride == 1;
            }
        }
        for (BufferView *view : images) {
            Dim &row = view->dims[x], &column = view->dims[y];
            if (even) {
                if (problem_.width == 1) row.stride = column.stride;
                if (row.extent > 0) row.extent = pixels;
                column = {1, 0};
            }
            canonicalise(view->dims);
            if (view->dims[0].extent == 0) view->dims[0].stride = 1;
            check_fits_kernel(operation_, "an image", *view);
        }
    }

    // The channels of a group become columns of one row.
    static void join_planes(std::initializer_list<BufferView *> images) {
        for (const BufferView *view : images) {
            const Dim &x = view->dims[0], &y = view->dims[1], &c = view->dims[2];
            if (y.extent != 1 || c.stride != x.extent) return;
            if (x.extent > kMostOfPlanes / c.extent) return;
        }
        for (BufferView *view : images) {
            Dim &x = view->dims[0], &c = view->dims[2];
            x.extent *= c.extent;
            c = {1, x.extent};
            canonicalise(view->dims);
        }
    }

private:
    BufferView checked(const char *name, BufferView view) const {
        canonicalise(view.dims);
        check_fits_kernel(operation_, name, view);
        return view;
    }

    const char *const operation_;
    const GroupNormProblem &problem_;
    const Layout layout_;
    const int64_t slices_;
};

// The output's gradient, the input, and the gradient that is made of it, which may be undefined.
struct GradientImages {
    GradientImages(const Views &views, const Tensor &output_gradient, const Tensor &input,
                   const Tensor &gradient)
        : from(views.image(output_gradient)),
          was(views.image(input)),
          to(gradient.defined() ? views.image(gradient) : Views::none(was)) {
        views.join_rows({&from, &was, &to});
    }

    BufferView from, was, to;
};

}  // namespace hk::detail
