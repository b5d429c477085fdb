#include "conv2d_backward/parts.h"

#include <algorithm>
#include <charconv>

#include "convolution/sum_parts.h"

namespace hk::detail {

namespace {

// With the additions of a tile, which has at most 1024 pixels, less than 2^13.
constexpr int64_t kMostAdditions = 7168;

// Of a part by tensor cores, which cut off at each of the summands of a step: the sum before and 8
// products, 4 of TF32. Both are less than 2^14 summands.
int64_t most_pixels(DataType type) { return type == DataType::f32 ? 13056 : 14336; }

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

// In how many parts a row of a GPU divides the pixels.
int64_t parts_of(const KernelInfo &kernel) {
    constexpr std::string_view kKnob = "parts:";
    const std::string_view knobs = kernel.knobs;
    const size_t found = knobs.find(kKnob);
    int64_t parts = 1;
    if (found != knobs.npos)
        std::from_chars(knobs.data() + found + kKnob.size(), knobs.data() + knobs.size(), parts);
    return parts;
}

// What a kernel adds up one after the other, at most, for so many pixels of the output. CPU: tiles,
// which have at least 64 pixels or an image; columns past a row's last count, of which narrow rows
// have up to six. GPU: the pixels of a part
// (generators/conv2d_backward/conv2d_backward_weight_sliced.h), in slices of up to eight columns.
int64_t additions(const KernelInfo &kernel, const Conv2dProblem &problem, int64_t images,
                  int64_t rows, int64_t columns) {
    if (takes_parts(kernel)) {
        const LineParts of(problem, images, rows, columns);
        return ceil_div(of.slices * LineParts::kPixels * kMostAdditions, most_pixels(problem.type));
    }
    if (kernel.device == DeviceType::cpu)
        return images * ceil_div(rows * std::max<int64_t>(columns, 7), 64);
    const int64_t parts = parts_of(kernel), all = images * rows, down = std::min(all, parts);
    return ceil_div(all, down) * ceil_div(ceil_div(columns, 8), parts / down) * 8;
}

void crop(BufferView &view, size_t dim, int64_t first, int64_t count) {
    view.offset += first * view.dims[dim].stride;
    view.dims[dim].extent = count;
}

struct Direction {
    size_t dim;
    int64_t first, count;  // of the output
    int64_t taps, stride, dilation;
};

// What is not in the padding stays, at least one row or column.
void cut_direction(const Direction &d, Conv2dOperands &operands, int64_t &size, int64_t &before,
                   int64_t &after) {
    const int64_t from = d.first * d.stride - before;
    const int64_t to = from + (d.count - 1) * d.stride + (d.taps - 1) * d.dilation + 1;
    const int64_t begin = std::clamp<int64_t>(from, 0, size - 1);
    const int64_t end = std::clamp(to, begin + 1, size);
    crop(operands.output, d.dim, d.first, d.count);
    crop(operands.input, d.dim, begin, end - begin);
    size = end - begin;
    before = begin - from;
    after = to - end;
}

}  // namespace

LineParts::LineParts(const Conv2dProblem &problem, int64_t images, int64_t rows, int64_t columns) {
    constexpr int64_t sums = 1 << 22, most = 256, least_slices = 4, most_for_error = 8;
    const int64_t weight = problem.filters * (problem.channels / problem.options.groups) *
                           problem.kernel_height * problem.kernel_width;
    const int64_t pixels = images * rows * columns, all = ceil_div(pixels, kPixels);
    const int64_t for_blocks = std::clamp<int64_t>(sums / weight, 1, most);
    const int64_t for_error = std::min(ceil_div(pixels, most_pixels(problem.type)), most_for_error);
    slices = ceil_div(all, std::min(std::max(for_blocks, for_error), ceil_div(all, least_slices)));
    parts = ceil_div(all, slices);
}

WeightParts::WeightParts(const KernelInfo &kernel, const Conv2dProblem &problem)
    : images_{problem.batch, problem.batch},
      rows_{problem.output_height(), problem.output_height()},
      columns_{problem.output_width(), problem.output_width()} {
    for (Axis *axis : {&images_, &rows_, &columns_}) {
        while (axis->length > 1 && additions(kernel, problem, images_.length, rows_.length,
                                             columns_.length) > kMostAdditions) {
            axis->length = ceil_div(axis->length, 2);
        }
    }
}

void WeightParts::cut(int64_t i, Conv2dOperands &operands) const {
    Conv2dProblem &p = operands.problem;
    Conv2dOptions &options = p.options;
    Padding &padding = options.padding;
    const bool nhwc = options.layout == Layout::nhwc;
    const auto place = [&](const Axis &axis) {
        const int64_t first = i % axis.count() * axis.length;
        i /= axis.count();
        return std::pair{first, std::min(axis.length, axis.size - first)};
    };
    const auto [x, columns] = place(columns_);
    const auto [y, rows] = place(rows_);
    const auto [n, images] = place(images_);
    if (columns < columns_.size) {
        cut_direction(
            {nhwc ? 2U : 0U, x, columns, p.kernel_width, options.stride[1], options.dilation[1]},
            operands, p.width, padding.left, padding.right);
    }
    if (rows < rows_.size) {
        cut_direction(
            {nhwc ? 3U : 1U, y, rows, p.kernel_height, options.stride[0], options.dilation[0]},
            operands, p.height, padding.top, padding.bottom);
    }
    for (BufferView *image : {&operands.input, &operands.output}) crop(*image, 4, n, images);
    p.batch = images;
    canonicalise(operands);
}

int64_t weight_parts_at_once(int64_t gradient_bytes) {
    return std::clamp<int64_t>((16 << 20) / gradient_bytes, 8, 64);
}

}  // namespace hk::detail
