#pragma once
// Features as colours: their first three principal components.

#include <vector>

#include "hk/tensor.h"
#include "pictures/image.h"

namespace hk::pointcloud {

// One colour a row of f32 [rows, channels]. Of each component a row's rank
// among all rows counts. The same features give the same colours.
std::vector<pictures::Colour> colours_of(const Tensor &features);

}  // namespace hk::pointcloud
