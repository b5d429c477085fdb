#pragma once
// What the conditions of a row of the table leave of the fields of a problem, for random ones.

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "fields.h"
#include "hk/device.h"
#include "hk/kernel_info.h"

namespace hk::test {

// Values of one field.
struct Range {
    int64_t first = 0, last = std::numeric_limits<int32_t>::max(), step = 1;

    bool one() const { return first == last; }

    // The nearest one, upwards for multiples.
    int64_t moved(int64_t value) const {
        const int64_t inside = std::clamp(value, first, last);
        const int64_t up = (inside + step - 1) / step * step;
        return up > last ? last / step * step : up;
    }
};

inline Range range_of(std::span<const Constraint> where, std::string_view field) {
    using enum Constraint::Relation;
    Range range;
    for (const auto &[name, relation, value] : where) {
        if (name != field) continue;
        if (relation == equal || relation == at_least) range.first = std::max(range.first, value);
        if (relation == equal || relation == at_most) range.last = std::min(range.last, value);
        if (relation == multiple_of) range.step = value;
    }
    return range;
}

// Whether the row is for CPUs with AVX-512 alone, or without.
inline bool asks_for(const KernelInfo &row, bool avx512) {
    return row.device == DeviceType::cpu && range_of(row.where, "avx512").moved(!avx512) == avx512;
}

// Whether it is for CPUs of another kind than this one.
inline bool is_of_another_cpu(const KernelInfo &row) {
    return asks_for(row, !Device::cpu().limits().avx512);
}

// Whether problems have hundreds of thousands of elements, so that few of them take long.
inline bool of_large_problems(std::span<const Constraint> where) {
    return std::max(range_of(where, "inputs").first, range_of(where, "outputs").first) > 100000 ||
           (range_of(where, "winograd_tiles").first > 0 &&
            range_of(where, "depth_per_pixel").first > 0);
}

// Whether all conditions hold, those on what is made of several fields too.
inline bool meets(std::span<const Constraint> where, const detail::Fields &fields) {
    return std::ranges::all_of(where, [&](const Constraint &constraint) {
        return holds(constraint, fields[constraint.field]);
    });
}

}  // namespace hk::test
