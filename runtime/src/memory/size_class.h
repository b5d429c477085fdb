#pragma once
// Sizes of blocks: multiples of kUnit bytes up to 32 units, then 32 steps a power of two. Large
// ones are kSkew bytes more than that: as multiples of a page, tensors in a row would all start at
// the same place of their pages, and rows of several, 4 KiB apart, would meet in one set of a cache
// (bench --list resnext50 --filter 1x1: rows of 1024 channels ran at 0.87 of their speed).

#include <bit>
#include <cstddef>

namespace hk::detail {

struct SizeClass {
    static constexpr size_t kUnit = 128;  // bytes; the alignment that Halide's code may assume
    static constexpr int kRows = 48, kSteps = 32;
    static constexpr int kSkewedRow = 6;  // the first whose steps are pages
    static constexpr size_t kSkew = 5 * kUnit;
    static constexpr size_t kMostBytes = size_t{1} << 55;

    int row = 0, step = 0;

    // The smallest class of at least so many bytes, at most kMostBytes.
    static constexpr SizeClass holding(size_t bytes) {
        constexpr size_t kPlain = (size_t{kSteps} << (kSkewedRow - 1)) * kUnit;
        if (bytes > kPlain) bytes = bytes > kPlain + kSkew ? bytes - kSkew : kPlain + 1;
        const size_t last = bytes ? (bytes - 1) / kUnit : 0;  // of its units
        if (last < kSteps) return {0, static_cast<int>(last)};
        const int row = std::bit_width(last) - 5;
        return {row, static_cast<int>((last >> (row - 1)) - kSteps)};
    }

    // The largest class of at most so many bytes, at least kUnit.
    static constexpr SizeClass within(size_t bytes) {
        const SizeClass above = holding(bytes);
        if (above.bytes() <= bytes) return above;
        return above.step ? SizeClass{above.row, above.step - 1}
                          : SizeClass{above.row - 1, kSteps - 1};
    }

    constexpr size_t bytes() const {
        const auto units = static_cast<size_t>(step + 1);
        if (row == 0) return units * kUnit;
        return ((units + kSteps) << (row - 1)) * kUnit + (row >= kSkewedRow ? kSkew : 0);
    }
};

}  // namespace hk::detail
