#include "convolution/line.h"

#include <algorithm>
#include <bit>
#include <cstring>
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

void join(BufferView &image) {
    Dim &x = image.dims[kX], &y = image.dims[kY], &n = image.dims[kN];
    for (Dim *outer : {&y, &n}) {
        if (x.extent == 1) x.stride = outer->stride;
        x.extent *= outer->extent;
        *outer = {1, 0};
    }
    canonicalise(image.dims);
}

}  // namespace

bool pixels_are_a_line(const Conv2dOperands &operands) {
    return operands.problem.options.layout == Layout::nhwc && joins(operands.output) &&
           joins(operands.residual);
}

bool takes_line(const KernelInfo &kernel) {
    return std::ranges::any_of(kernel.loaded().arguments, [](const KernelArgument &argument) {
        return std::strcmp(argument.name, "columns") == 0;
    });
}

Line::Line(Conv2dOperands &operands)
    : columns_(operands.output.dims[kX].extent), rows_(operands.output.dims[kY].extent) {
    join(operands.output);
    join(operands.residual);
}

Line::Divisor::Divisor(int64_t value)
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

}  // namespace hk::detail
