#pragma once
// Is a kernel map right: every voxel looked up by a plain hash map.

#include <span>
#include <utility>
#include <vector>

#include "cloud.h"
#include "family.h"

namespace hk::bench {

class KernelMapReference {
public:
    KernelMapReference(const Tensor &coordinates, const CloudShape &shape);

    // The pairs of an offset may come in any order.
    Check check(std::span<const int32_t> imap, std::span<const int32_t> omap,
                std::span<const int64_t> starts) const;

private:
    using Pairs = std::vector<std::pair<int32_t, int32_t>>;  // output row, input row

    std::vector<Pairs> offsets_;
};

}  // namespace hk::bench
