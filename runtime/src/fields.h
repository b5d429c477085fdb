#pragma once
// A problem as the table sees it: its type, its layout, and the values of the fields that its
// family has. Selection sees nothing else of it, and its row is kept by all of it.
//
// A family says its fields once, in a file of lines
//
//   HK_FIELD(name, value)
//   HK_FIELD(name, value, known)
//
// which is included where `fields` is a Fields. CMake reads the same file, line by line, for the
// names that conditions of rows may have. known: the compiler may know the value too, by the
// parameter fix_NAME of the family's generators.

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "hk/kernel_info.h"

#define HK_FIELD(name, value, ...) fields.add(#name, value);

namespace hk::detail {

class Fields {
public:
    static constexpr size_t kMost = 64;

    Fields(DataType type, Layout layout) : type(type), layout(layout) {}

    // What 64 bits don't hold is the largest number that they do.
    void add(const char *name, __int128 value) {
        constexpr __int128 most = std::numeric_limits<int64_t>::max();
        if (count_ == kMost) throw std::length_error("a problem has too many fields");
        names_[count_] = name;
        values_[count_++] = static_cast<int64_t>(std::min(value, most));
    }

    // Throws std::out_of_range for a name that the family does not have.
    int64_t operator[](std::string_view name) const;

    std::span<const int64_t> values() const { return {values_.data(), count_}; }

    DataType type;
    Layout layout;

private:
    size_t count_ = 0;
    std::array<const char *, kMost> names_;
    std::array<int64_t, kMost> values_;
};

// As hk::select().
Selection select(std::span<const KernelInfo> kernels, const Fields &problem, DeviceType device,
                 const DeviceLimits &limits, bool explain);

// Throws InvalidArgument where the row does not take the problem.
void check_row_takes(const char *operation, const KernelInfo &kernel, const Fields &problem,
                     Device device);

}  // namespace hk::detail
