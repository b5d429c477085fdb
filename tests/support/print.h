#pragma once
// How GoogleTest prints our types.

#include <ostream>

#include "hk/kernel_info.h"

namespace hk {

inline void PrintTo(const KernelInfo &kernel, std::ostream *out) { *out << kernel.name; }

inline void PrintTo(DataType type, std::ostream *out) { *out << name_of(type); }

inline void PrintTo(Layout layout, std::ostream *out) { *out << name_of(layout); }

inline void PrintTo(DeviceType type, std::ostream *out) { *out << name_of(type); }

}  // namespace hk
