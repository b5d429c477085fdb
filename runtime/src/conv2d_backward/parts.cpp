#include "conv2d_backward/parts.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "convolution/sum_parts.h"

namespace hk::detail {

namespace {

// With the additions of a tile, which has at most 1024 pixels, less than 2^13.
constexpr int64_t kMostAdditions = 7168;

// Of a part by tensor cores, which cut off at each of the summands of a step: the sum before and 8
// products, 4 of TF32. Both are less than 2^14 summands.
int64_t most_pixels(DataType type) { return type == DataType::f32 ? 13056 : 14336; }

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

// What a row's knob says, "tile_k:", or what its schedule has otherwise.
int64_t knob(const KernelInfo &kernel, std::string_view name, int64_t otherwise) {
    const std::string_view knobs = kernel.knobs;
    const size_t found = knobs.find(name);
    int64_t value = otherwise;
    if (found != knobs.npos)
        std::from_chars(knobs.data() + found + name.size(), knobs.data() + knobs.size(), value);
    return value;
}

// In how many parts a row of a GPU divides the pixels.
int64_t parts_of(const KernelInfo &kernel) { return knob(kernel, "parts:", 1); }

// By tensor cores, or else by multiply-adds.
bool on_units(const KernelInfo &kernel) { return std::string_view(kernel.schedule) == "matrices"; }

// Threads of a block of multiply-adds along a filter's elements, of which each has vectors of four.
int64_t threads_e(const KernelInfo &kernel) { return knob(kernel, "threads_e:", 16); }

// Elements of a filter in a part's sums: of windows' rows each tap has whole vectors, at most. Of
// multiply-adds all threads have one.
int64_t elements(const KernelInfo &kernel, const Conv2dProblem &p) {
    constexpr std::string_view windows = "products_of_windows";
    const int64_t vector = 16 / size_of(p.type), channels = p.channels / p.options.groups;
    const bool whole = std::string_view(kernel.algorithm).starts_with(windows);
    const int64_t all =
        (whole ? ceil_div(channels, vector) * vector : channels) * p.kernel_height * p.kernel_width;
    const int64_t unit = on_units(kernel) ? 1 : 4 * threads_e(kernel);
    return ceil_div(all, unit) * unit;
}

// Blocks of a part, as the schedules of products have them
// (schedules/conv2d_backward/gpu/weight_matrices.cpp), the sums of each, and the slices of a step.
struct PartBlocks {
    int64_t count, warps, sums, slices;

    PartBlocks(const KernelInfo &kernel, const Conv2dProblem &p)
        : slices(knob(kernel, "warps_x:", 1)) {
        warps = on_units(kernel)
                    ? knob(kernel, "warps_k:", 2) * knob(kernel, "warps_e:", 2) * slices
                    : knob(kernel, "threads_k:", 8) * threads_e(kernel) / 32;
        const int64_t groups = p.options.groups, tile_k = knob(kernel, "tile_k:", 128),
                      tile_e = knob(kernel, "tile_e:", 128);
        sums = tile_k * tile_e;
        count =
            ceil_div(p.filters / groups, tile_k) * ceil_div(elements(kernel, p), tile_e) * groups;
    }
};

constexpr int64_t kMultiprocessors = 132;  // of an H100; the order of sums is the same on others

// What the multiprocessor with most blocks has to do, or the images' way from memory, and the sums'
// way there and back that all share, in a quarter of the time of a step's products over
// kMultiprocessors. A block's sums take as long as 23 slices of 16 bits, 745 pixels: 8 bytes each,
// at 12.8 a cycle of a multiprocessor, where it ends 1192 products (apps/counts/gpu.cpp), or as 2.5
// slices of multiply-adds, 128 a cycle, of blocks of 64 filters by 128 elements. Warps that have a
// scheduler to themselves wait a quarter as long again for what they read; of fewer than four some
// schedulers have none.
int64_t cost(const KernelInfo &kernel, const PartBlocks &blocks, const LineParts &of,
             int64_t image_bytes, DataType type) {
    const int64_t all = blocks.count * of.parts, most = ceil_div(all, kMultiprocessors);
    const int64_t warps = most * blocks.warps;
    const int64_t sums = on_units(kernel) ? 46 / size_of(type) * 4 / blocks.slices : 10;
    const int64_t quarters = warps > 4 ? 4 : 5 * 4 / warps;
    return std::max(most * of.steps * quarters * kMultiprocessors,
                    image_bytes / (8 * blocks.sums) * sums) +
           all * sums;
}

// Of a thread that has pixels of a row, then of the parts that blocks leave, as
// generators/conv2d_backward/conv2d_backward_weight_rows.cpp divides them.
int64_t additions_of_rows(const KernelInfo &kernel, const Conv2dProblem &problem, int64_t images,
                          int64_t rows, int64_t columns) {
    constexpr int64_t row_pixels = 1024, shares = 8;
    const int64_t groups = knob(kernel, "groups:", 32), of_block = knob(kernel, "rows:", 8),
                  tile = knob(kernel, "columns:", 8), blocks = knob(kernel, "blocks:", 528);
    const int64_t wanted = std::max(blocks / ceil_div(problem.options.groups, groups),
                                    ceil_div(images * rows * columns, of_block * row_pixels));
    int64_t parts = 1, of_part = tile;
    for (const int64_t length : {ceil_div(rows, of_block), images, ceil_div(columns, tile)}) {
        const int64_t of_length = std::clamp<int64_t>(wanted / parts, 1, length);
        parts *= of_length;
        of_part *= ceil_div(length, of_length);
    }
    return of_part + of_block + ceil_div(parts, shares) + shares;
}

// What a kernel adds up one after the other, at most, for so many pixels of the output. CPU: tiles,
// which have at least 64 pixels or an image; columns past a row's last count, of which narrow rows
// have up to six. GPU: the pixels of a part
// (generators/conv2d_backward/conv2d_backward_weight_sliced.h), in slices of up to eight columns.
int64_t additions(const KernelInfo &kernel, const Conv2dProblem &problem, int64_t images,
                  int64_t rows, int64_t columns) {
    if (takes_parts(kernel)) {
        const LineParts of(kernel, problem, images, rows, columns);
        return ceil_div(of.steps * of.pixels * kMostAdditions, most_pixels(problem.type));
    }
    if (kernel.device == DeviceType::cpu)
        return images * ceil_div(rows * std::max<int64_t>(columns, 7), 64);
    if (std::string_view(kernel.algorithm) == "depthwise_row_sums")
        return additions_of_rows(kernel, problem, images, rows, columns);
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

LineParts::LineParts(const KernelInfo &kernel, const Conv2dProblem &problem, int64_t images,
                     int64_t rows, int64_t columns) {
    constexpr int64_t half = 2, eight = 4 * 8;  // in quarters of a block a multiprocessor
    constexpr int64_t sums = 1 << 22, least_slices = 4, most_parts = 256, enough_for_error = 8;
    constexpr int64_t of_slice = 32;
    const PartBlocks blocks(kernel, problem);
    const int64_t weight = problem.filters * elements(kernel, problem);
    pixels = of_slice * blocks.slices;
    const int64_t line = images * rows * columns, all = ceil_div(line, pixels);
    const int64_t most = std::min(std::clamp(sums / weight, enough_for_error, most_parts),
                                  ceil_div(line, of_slice * least_slices));
    const int64_t least = std::min(ceil_div(line, most_pixels(problem.type)), most);
    const auto [stride_y, stride_x] = problem.options.stride;
    const int64_t bytes =
        line * size_of(problem.type) * (problem.filters + stride_y * stride_x * problem.channels);
    int64_t lowest = std::numeric_limits<int64_t>::max();
    for (int64_t quarters = half; quarters <= eight; quarters++) {
        const int64_t wanted = quarters * kMultiprocessors / (4 * blocks.count);
        LineParts tried = *this;
        tried.steps = ceil_div(all, std::clamp(wanted, least, most));
        tried.parts = ceil_div(all, tried.steps);
        const int64_t costs = cost(kernel, blocks, tried, bytes, problem.type);
        if (costs >= lowest) continue;
        lowest = costs;
        *this = tried;
    }
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
