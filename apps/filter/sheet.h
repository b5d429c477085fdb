#pragma once
// The contact sheet: the photograph, what the bank says of it as a whole, and every response.

#include <span>
#include <string>

#include "pictures/image.h"

namespace hk::filter {

using namespace pictures;

// `responses`: [photo.height, photo.width, filters] in the bank's order.
Image contact_sheet(const Image &photo, std::span<const float> responses,
                    const std::string &caption);

}  // namespace hk::filter
