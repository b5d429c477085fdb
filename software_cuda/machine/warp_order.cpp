#include "software_cuda/machine/warp_order.h"

#include <algorithm>
#include <bit>

#include "software_cuda/machine/race_cell.h"

namespace software_cuda {

namespace {

template<typename F>
void each_lane(uint32_t lanes, F f) {
    for (uint32_t left = lanes; left; left &= left - 1)
        f(static_cast<uint32_t>(std::countr_zero(left)));
}

}  // namespace

void WarpOrder::meet(uint32_t warp, uint32_t lanes) {
    Matrix &before = before_[warp];
    std::array<uint64_t, kLanes> all{};
    each_lane(lanes, [&](uint32_t lane) {
        for (uint32_t other = 0; other < kLanes; other++)
            all[other] = std::max(all[other], before[lane][other]);
    });
    time_++;
    each_lane(lanes, [&](uint32_t lane) { all[lane] = time_; });
    each_lane(lanes, [&](uint32_t lane) { before[lane] = all; });
}

uint32_t WarpOrder::unordered(const Accesses &of, size_t kind, uint32_t lane) const {
    uint32_t result = 0;
    each_lane(of.lanes[kind] & ~(1u << lane), [&](uint32_t other) {
        if (before_[of.warp][lane][other] <= of.times[kind]) result |= 1u << other;
    });
    return result;
}

uint64_t WarpOrder::race(uint64_t cell, uint64_t byte, bool shared, uint64_t kind,
                         uint64_t thread) {
    using namespace race_cell;
    const auto warp = static_cast<uint32_t>(thread / kLanes);
    const auto lane = static_cast<uint32_t>(thread % kLanes);
    const auto [entry, is_new] = accesses_.try_emplace(byte << 1 | shared);
    Accesses &known = entry->second;
    if (is_new) known.warp = warp;
    known.several_warps |= known.warp != warp;
    // Where one warp's conflicts with another's, the kinds of the interval tell it.
    if (known.several_warps) return cell;
    uint64_t conflicting = 0, kinds = 0;
    std::array<uint32_t, 3> others{};
    for (size_t k = 0; k < 3; k++) {
        others[k] = unordered(known, k, lane);
        if (others[k] == 0 || !(conflicts_of(kind) >> k & 1)) continue;
        conflicting |= others[k];
        kinds |= uint64_t{1} << k;
    }
    // What comes after a write that comes after all others comes after these.
    if (kind == kWrite && conflicting == 0) known.lanes = {};
    const auto of_kind = static_cast<size_t>(std::countr_zero(kind));
    // Neither does what comes after this need to know of those of its kind before it.
    if (others[of_kind] == 0) known.times[of_kind] = time_;
    known.lanes[of_kind] = others[of_kind] | 1u << lane;
    if (conflicting == 0) return 0;
    const uint64_t other = warp * kLanes + static_cast<uint32_t>(std::countr_zero(conflicting));
    return (cell & ~(kKinds << kNowShift) & ~(kThreadMask << kThreadShift)) | kinds << kNowShift |
           other << kThreadShift;
}

}  // namespace software_cuda
