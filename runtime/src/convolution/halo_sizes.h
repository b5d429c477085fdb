#pragma once
// Sizes that kernels of halos (generators/conv2d/halo.h) and their callers have in common.

namespace hk::detail {

// Of the line with zeros around images: places that a row has more than the output's.
constexpr int kHaloMargin = 8;
// Outputs of a tile at most, and what their windows may meet on that line.
constexpr int kHaloOutputs = 128, kMostHalo = 416;

}  // namespace hk::detail
