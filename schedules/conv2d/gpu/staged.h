#pragma once
// What GPU schedules of convolutions by slices share.

#include "schedules/conv2d/conv2d.h"
#include "schedules/gpu_block.h"

namespace hk::schedules::gpu {

Tiles staged_tiles(const Conv2dContext &context);

// Everything below the block's loops over the output. `taps_outside`: all slices of a tap, instead
// of all taps of a slice, so that a tap which a condition takes out is not staged.
void sum_slices(generators::Conv2dSliced &stages, const Conv2dContext &context, const Block &block,
                bool taps_outside = false);

}  // namespace hk::schedules::gpu
