#pragma once
// How the factors of products of matrices are staged in shared memory.

#include "schedules/conv2d/gpu/matrices.h"

namespace hk::schedules::gpu {

// A slice of both at each step of the sum. `across`: as the filter has its terms in memory.
void stage_factors(generators::Conv2dSliced &stages, const MatrixTiles &tiles, bool across);

}  // namespace hk::schedules::gpu
