#include "convolution/sum_parts.h"

#include <algorithm>

namespace hk::detail {

namespace {

// As the schedule `matrices` has them (schedules/conv2d/gpu/matrices.cpp), by the rows' knobs.
constexpr int64_t kTile = 64, kSliceBytes = 64;
constexpr int64_t kBlocks = 528, kLeastSteps = 8, kMostParts = 16;

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

}  // namespace

SumSizes sum_sizes(const Conv2dProblem &p) {
    const int64_t groups = p.options.groups;
    return {p.batch * p.output_height() * p.output_width(),
            p.filters / groups,
            groups,
            p.channels / groups,
            p.kernel_height * p.kernel_width,
            p.type};
}

SumParts::SumParts(const SumSizes &s) {
    const int64_t tiles = ceil_div(s.pixels, kTile) * ceil_div(s.filters, kTile) * s.groups;
    const int64_t slices = ceil_div(s.channels * size_of(s.type), kSliceBytes);
    const int64_t most = std::min({slices, slices * s.taps / kLeastSteps, kMostParts});
    slices_ = ceil_div(slices, std::clamp<int64_t>(kBlocks / tiles, 1, std::max<int64_t>(most, 1)));
    parts_ = ceil_div(slices, slices_);
}

std::array<NamedArgument, 2> SumParts::named() const {
    return {{{"parts", static_cast<int32_t>(parts_)}, {"slices", static_cast<int32_t>(slices_)}}};
}

}  // namespace hk::detail
