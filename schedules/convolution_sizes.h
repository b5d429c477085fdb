#pragma once
// What schedules of all families that convolve are given.

#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dSizes : Context {
    bool nhwc = true;
    // Sizes that the kernel is compiled for; 0: any.
    int kernel_w = 0, kernel_h = 0, stride_x = 0, stride_y = 0, dilation_x = 0, dilation_y = 0,
        channels_per_group = 0, filters_per_group = 0;
    int width = 0;  // of the input
    // Products are of pairs of channels (vdpbf16ps).
    bool pairs = false;
};

// AMD's cores do 64 bytes of them in the cycle of a multiply-add; Intel's take two cycles for what
// their multiply-adds of f32 do in one, and multiply what is widened.
inline bool multiplies_pairs(const Halide::Target &target, const Halide::Type &type) {
    using Halide::Target;
    return type.is_bfloat() && target.features_any_of({Target::AVX512_Zen4, Target::AVX512_Zen5});
}

// A core's second cache is of 2 MB, which cores with registers of tiles have; others: 1 MB or less.
inline bool large_second_cache(const Halide::Target &target) {
    return target.has_feature(Halide::Target::AVX512_SapphireRapids);
}

}  // namespace hk::schedules
