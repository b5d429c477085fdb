#include "convolution/sum_parts.h"

#include <algorithm>
#include <utility>

namespace hk::detail {

namespace {

// As the schedules of products have them (schedules/conv2d/gpu/matrices.cpp), by the rows' knobs:
// tiles of 64 pixels and of 128 filters, or, of gradients and bytes, of 64 where outputs are as few
// as kernels.cmake says.
constexpr int64_t kTilePixels = 64, kSliceBytes = 64;
constexpr int64_t kTileFilters = 128, kSmallTileFilters = 64, kOutputsOfSmallTiles = 131072;

// The time of a kernel in steps of blocks that share a multiprocessor: those that have most blocks
// end last. One block alone takes longer a step than each of two, for there is too little to do
// while it waits, and its first slices take some steps to come. A second kernel is as long as so
// many steps, and reads a tile's part, by a multiprocessor's share of memory, as long as others.
struct Costs {
    double alone, first_steps, second_kernel, sums_of_block;
    int64_t most_parts;
};
// Fitted to 54.5 us of 100 blocks of 144 steps, 38.7 of 196 of 72 (bench --list resnet50
// --filter 3x3 --type bf16 --batch 32 on an H100: docs/performance/nvidia-h100.md).
constexpr Costs kOfUnits{1.5, 3, 8, 9, 16};
// A step of multiply-adds, 128 * 64 * 16 of them at 128 a cycle, is twice as long, and not measured
// yet.
constexpr Costs kOfMultiplyAdds{1.3, 1.5, 4, 4.5, 32};
constexpr int64_t kMultiprocessors = 132;
// Of 32 KB of sums each: 17.3 MB, which hk/conv2d.h says.
constexpr int64_t kMostBlocks = 4 * kMultiprocessors;
constexpr double kGain = 0.875;  // the time of parts, of that without, is not more

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

// `steps` of a part.
double time_of(const Costs &costs, int64_t tiles, int64_t parts, double steps) {
    const int64_t blocks = tiles * parts;
    const auto at_once = static_cast<double>(ceil_div(blocks, kMultiprocessors));
    const double sums = (steps + costs.first_steps) * std::max(at_once, costs.alone);
    if (parts == 1) return sums;
    return sums + costs.second_kernel +
           costs.sums_of_block * static_cast<double>(blocks) / kMultiprocessors;
}

SumSizes sizes_of(const Conv2dProblem &p, int64_t height, int64_t width) {
    const int64_t groups = p.options.groups;
    return {static_cast<__int128>(p.batch) * height * width,
            p.filters / groups,
            groups,
            p.channels / groups,
            p.kernel_height * p.kernel_width,
            p.type,
            p.type != DataType::f32 || p.options.allow_tf32};
}

}  // namespace

SumSizes sum_sizes(const Conv2dProblem &p) {
    return sizes_of(p, p.output_height(), p.output_width());
}

SumSizes gradient_sum_sizes(const Conv2dProblem &p) {
    SumSizes sizes = sizes_of(p, p.height, p.width);
    std::swap(sizes.filters, sizes.channels);
    return sizes;
}

SumParts::SumParts(const SumSizes &s)
    : slices_(ceil_div(s.channels * size_of(s.type), kSliceBytes)), parts_(1) {
    const bool small = s.on_units && s.pixels * s.filters * s.groups <= kOutputsOfSmallTiles;
    const __int128 all = (s.pixels + kTilePixels - 1) / kTilePixels * s.groups *
                         ceil_div(s.filters, small ? kSmallTileFilters : kTileFilters);
    if (slices_ == 1 || all >= 2 * kMultiprocessors) return;
    const Costs &costs = s.on_units ? kOfUnits : kOfMultiplyAdds;
    const int64_t slices = slices_, most = std::min(slices, costs.most_parts);
    const auto tiles = static_cast<int64_t>(all);
    const auto taps = static_cast<double>(s.taps);
    double least = kGain * time_of(costs, tiles, 1, static_cast<double>(slices) * taps);
    for (int64_t wanted = 2; wanted <= most; wanted++) {
        const int64_t of_part = ceil_div(slices, wanted), parts = ceil_div(slices, of_part);
        if (tiles * parts > kMostBlocks) break;
        const double time = time_of(costs, tiles, parts, static_cast<double>(of_part) * taps);
        if (time >= least) continue;
        least = time;
        slices_ = of_part;
        parts_ = parts;
    }
}

std::array<NamedArgument, 2> SumParts::named() const {
    return {{{"parts", static_cast<int32_t>(parts_)}, {"slices", static_cast<int32_t>(slices_)}}};
}

}  // namespace hk::detail
