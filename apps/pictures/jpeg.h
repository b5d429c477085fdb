#pragma once

#include <cstdio>
#include <string>

#include "image.h"

namespace hk::pictures {

// From the start of the file. Throws ImageError.
Image read_jpeg(std::FILE *file, const std::string &path);

}  // namespace hk::pictures
