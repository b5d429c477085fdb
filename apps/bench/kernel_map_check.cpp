#include "kernel_map_check.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <unordered_map>

namespace hk::bench {

namespace {

using Voxel = std::array<int64_t, 4>;  // batch, x, y, z

struct Hash {
    size_t operator()(const Voxel &voxel) const {
        size_t hash = 0;
        for (const int64_t value : voxel) hash = hash * 1000003 + static_cast<size_t>(value);
        return hash;
    }
};

int64_t floor_divide(int64_t value, int64_t by) { return value / by - (value % by < 0); }

}  // namespace

KernelMapReference::KernelMapReference(const Tensor &coordinates, const CloudShape &shape) {
    const int32_t *values = coordinates.data<int32_t>();
    std::vector<Voxel> outputs;
    std::unordered_map<Voxel, int32_t, Hash> rows;
    for (int32_t row = 0; row < coordinates.shape()[0]; ++row, values += 4) {
        outputs.push_back({values[0], values[1], values[2], values[3]});
        rows[outputs.back()] = row;
    }
    if (!shape.submanifold()) {
        std::set<Voxel> reached;
        for (const auto &[n, x, y, z] : outputs) {
            reached.insert({n, floor_divide(x, shape.stride), floor_divide(y, shape.stride),
                            floor_divide(z, shape.stride)});
        }
        outputs.assign(reached.begin(), reached.end());
    }
    const int64_t k = shape.kernel, s = shape.stride, least = k % 2 == 0 ? 0 : -(k / 2);
    for (int64_t n = 0; n < k * k * k; ++n) {
        Pairs &pairs = offsets_.emplace_back();
        for (const Voxel &o : outputs) {
            const auto found = rows.find({o[0], o[1] * s + least + n / k / k,
                                          o[2] * s + least + n / k % k, o[3] * s + least + n % k});
            if (found == rows.end()) continue;
            pairs.emplace_back(static_cast<int32_t>(&o - outputs.data()), found->second);
        }
    }
}

Check KernelMapReference::check(std::span<const int32_t> imap, std::span<const int32_t> omap,
                                std::span<const int64_t> starts) const {
    if (starts.size() != offsets_.size() + 1 || imap.size() != omap.size() || starts.front() != 0 ||
        starts.back() != std::ssize(imap) || !std::is_sorted(starts.begin(), starts.end())) {
        return {1, "starts or maps have wrong lengths"};
    }
    for (size_t n = 0; n < offsets_.size(); ++n) {
        Pairs pairs;
        for (int64_t p = starts[n]; p < starts[n + 1]; ++p) pairs.emplace_back(omap[p], imap[p]);
        std::sort(pairs.begin(), pairs.end());
        if (pairs != offsets_[n]) {
            return {1, "the pairs of offset " + std::to_string(n) +
                           " are wrong: " + std::to_string(pairs.size()) + ", must be " +
                           std::to_string(offsets_[n].size())};
        }
    }
    return {};
}

}  // namespace hk::bench
