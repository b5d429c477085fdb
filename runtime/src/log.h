#pragma once
// HK_LOG: what the library tells on stderr, a list with commas. Warnings come without it; "off"
// silences them. "select" prints the row that each new problem takes, "memory" what pools take and
// give back, and a report when the process ends.

#include <string>
#include <string_view>

#include "hk/kernel_info.h"

namespace hk::detail {

bool log_enabled(const char *topic);
bool warnings_enabled();

// "hk select: conv2d nhwc f32 …: conv2d_3x3_f32_nhwc_cpu", with a line for each rejected row.
std::string describe(const Selection &selection, const std::string &problem);

// "hk warn: conv2d on cuda:0: row 3x3 needs 22784 bytes of shared memory, the device has 16384;
// taking any: conv2d nhwc f32 …", of a selection that fell back.
std::string fallback_warning(const Selection &selection, const char *family, Device device,
                             const std::string &problem);

void log_line(std::string_view text);

}  // namespace hk::detail
