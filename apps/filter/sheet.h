#pragma once
// The contact sheet: the photograph, what the bank says of it as a whole, and every response.

#include <span>
#include <string>

#include "image.h"

namespace hk::filter {

// `responses`: [photo.height, photo.width, filters] in the bank's order.
Image contact_sheet(const Image &photo, std::span<const float> responses,
                    const std::string &caption);

}  // namespace hk::filter
