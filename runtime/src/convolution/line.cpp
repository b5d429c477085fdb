#include "convolution/line.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace hk::detail {

namespace {

constexpr size_t kX = 2, kY = 3, kN = 4;  // of images of nhwc

bool joins(const BufferView &image) {
    const Dim &x = image.dims[kX], &y = image.dims[kY], &n = image.dims[kN];
    const __int128 row = static_cast<__int128>(x.extent) * x.stride, all = row * y.extent;
    if (static_cast<__int128>(x.extent) * y.extent * n.extent > std::numeric_limits<int32_t>::max())
        return false;
    // A stride of one pixel, or row, says nothing.
    if (x.extent == 1 || y.extent == 1) {
        const Dim &inner = x.extent == 1 ? y : x;
        return n.extent == 1 || inner.extent == 1 || n.stride == inner.stride * inner.extent;
    }
    return y.stride == row && (n.extent == 1 || n.stride == all);
}

void join_pixels(BufferView &image) {
    Dim &x = image.dims[kX], &y = image.dims[kY], &n = image.dims[kN];
    for (Dim *outer : {&y, &n}) {
        if (x.extent == 1) x.stride = outer->stride;
        x.extent *= outer->extent;
        *outer = {1, 0};
    }
    canonicalise(image.dims);
}

// Columns, then rows.
bool has_lines(const BufferView &image) {
    const Dim &x = image.dims[0], &y = image.dims[1];
    const __int128 pixels = static_cast<__int128>(x.extent) * y.extent;
    return pixels <= std::numeric_limits<int32_t>::max() && (x.extent == 1 || x.stride == 1) &&
           (y.extent == 1 || y.stride == x.extent);
}

constexpr int64_t kVectorBytes = 16;

// The first dimension's elements are next to each other.
bool has_vectors(const BufferView &view, int64_t bytes = kVectorBytes) {
    return begins_at_multiple(view, bytes) &&
           std::all_of(view.dims.begin() + 1, view.dims.end(), [&](const Dim &dim) {
               return dim.extent == 1 || dim.stride * size_of(view.type) % bytes == 0;
           });
}

// Up to `most` bytes, that has_vectors holds for.
int64_t alignment(const BufferView &view, int64_t most) {
    while (!has_vectors(view, most)) most /= 2;
    return most;
}

}  // namespace

int64_t image_alignment(const Conv2dProblem &problem,
                        std::initializer_list<const BufferView *> images) {
    const bool nhwc = problem.options.layout == Layout::nhwc;
    const auto alignment_of = [&](const BufferView *image) -> int64_t {
        BufferView rows = *image;
        const Dim &first = image->dims[0], &group = image->dims[1];
        if (first.extent > 1 && first.stride != 1) return 0;
        if (nhwc && group.extent > 1 && group.stride != first.extent) return 0;
        if (nhwc) rows.dims[1] = {1, 0};
        return alignment(rows, kVectorBytes);
    };
    int64_t least = kVectorBytes;
    for (const BufferView *image : images) least = std::min(least, alignment_of(image));
    return least;
}

int64_t output_alignment(const Conv2dProblem &problem,
                         std::initializer_list<const BufferView *> outputs) {
    int64_t bytes = kVectorBytes;
    for (const BufferView *output : outputs) {
        BufferView view = *output;
        if (problem.options.layout == Layout::nchw) {
            if (!has_lines(view)) return 0;
            Planes::join({&view});
        }
        bytes = alignment(view, bytes);
    }
    return bytes;
}

bool is_aligned(const Conv2dProblem &problem, std::initializer_list<const BufferView *> all) {
    return problem.options.layout == Layout::nhwc &&
           std::ranges::all_of(all, [](const BufferView *view) { return has_vectors(*view); });
}

bool is_line(const Conv2dProblem &problem, std::initializer_list<const BufferView *> images) {
    const bool nhwc = problem.options.layout == Layout::nhwc;
    return std::ranges::all_of(
        images, [&](const BufferView *image) { return nhwc ? joins(*image) : has_lines(*image); });
}

Planes Planes::join(std::initializer_list<BufferView *> images) {
    Planes planes;
    for (BufferView *image : images) {
        Dim &x = image->dims[0], &y = image->dims[1];
        planes.columns_ = static_cast<int32_t>(x.extent);
        planes.rows_ = static_cast<int32_t>(y.extent);
        x = {x.extent * y.extent, 1};
        y = {1, 0};
        canonicalise(image->dims);
    }
    return planes;
}

// Columns of nchw come first, then rows.
Line::Line(const BufferView &image, Layout layout)
    : columns_(image.dims[layout == Layout::nhwc ? kX : 0].extent),
      rows_(image.dims[layout == Layout::nhwc ? kY : 1].extent) {}

Line Line::join(std::initializer_list<BufferView *> images, Layout layout) {
    const Line line(**images.begin(), layout);
    if (layout == Layout::nchw)
        Planes::join(images);
    else
        for (BufferView *image : images) join_pixels(*image);
    return line;
}

Divisor::Divisor(int64_t value)
    : value(static_cast<int32_t>(value)),
      shift(31 + std::bit_width(static_cast<uint64_t>(value - 1))) {
    const uint64_t divisor = static_cast<uint64_t>(value);
    multiplier = static_cast<uint32_t>(((uint64_t{1} << shift) + divisor - 1) / divisor);
}

std::array<NamedArgument, 6> Line::named() const {
    return {{{"columns", columns_.value},
             {"columns_multiplier", columns_.multiplier},
             {"columns_shift", columns_.shift},
             {"rows", rows_.value},
             {"rows_multiplier", rows_.multiplier},
             {"rows_shift", rows_.shift}}};
}

std::array<NamedArgument, 4> Line::divisors() const {
    return {{{"columns_multiplier", columns_.multiplier},
             {"columns_shift", columns_.shift},
             {"rows_multiplier", rows_.multiplier},
             {"rows_shift", rows_.shift}}};
}

}  // namespace hk::detail
