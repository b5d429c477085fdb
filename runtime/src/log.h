#pragma once
// HK_LOG: what the library tells on stderr. "select" prints the row that each new problem takes.

#include <string>

#include "hk/kernel_info.h"

namespace hk::detail {

// Whether HK_LOG, a list with commas, has that topic.
bool log_enabled(const char *topic);

// "hk select: conv2d nhwc f32 …: conv2d_3x3_f32_nhwc_cpu", with a line for each rejected row.
std::string describe(const Selection &selection, const std::string &problem);

void log_line(const std::string &text);

}  // namespace hk::detail
