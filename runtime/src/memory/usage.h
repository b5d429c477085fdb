#pragma once
// What a pool's blocks in use are, by label.

#include <string>
#include <vector>

#include "memory/pool.h"

namespace hk::detail {

struct LabelUsage {
    std::string label;  // empty: none
    int64_t blocks = 0, requested = 0, bytes = 0;
};

// The largest share first.
std::vector<LabelUsage> usage_by_label(const MemoryPool::Impl &pool);

}  // namespace hk::detail
