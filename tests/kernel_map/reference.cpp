#include "tests/kernel_map/reference.h"

#include <set>
#include <unordered_map>

namespace hk::reference {
namespace {

struct Hash {
    size_t operator()(const Voxel &voxel) const {
        size_t hash = 0;
        for (const int64_t value : voxel) hash = hash * 1000003 + static_cast<size_t>(value);
        return hash;
    }
};

int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0); }

}  // namespace

KernelMapResult kernel_map(const Voxels &inputs, const KernelMapOptions &options, bool strided) {
    KernelMapResult result;
    result.starts = {0};
    std::unordered_map<Voxel, int32_t, Hash> rows;
    std::set<Voxel> coarse;
    for (const Voxel &voxel : inputs) {
        rows[voxel] = static_cast<int32_t>(rows.size());
        Voxel output = voxel;
        for (size_t a = 0; a < 3; a++) output[a + 1] = floor_of(voxel[a + 1], options.stride[a]);
        coarse.insert(output);
    }
    result.outputs = strided ? Voxels(coarse.begin(), coarse.end()) : inputs;
    const auto &size = options.kernel_size;
    const auto offset = [&](size_t a, int64_t index) {
        return (size[a] % 2 ? index - size[a] / 2 : index) * options.dilation[a];
    };
    for (int64_t n = 0; n < size[0] * size[1] * size[2]; n++) {
        const Voxel step{0, offset(0, n / size[2] / size[1]), offset(1, n / size[2] % size[1]),
                         offset(2, n % size[2])};
        for (size_t o = 0; o < result.outputs.size(); o++) {
            Voxel from = result.outputs[o];
            for (size_t a = 0; a < 3; a++)
                from[a + 1] = from[a + 1] * options.stride[a] + step[a + 1];
            const auto found = rows.find(from);
            if (found == rows.end()) continue;
            result.imap.push_back(found->second);
            result.omap.push_back(static_cast<int32_t>(o));
        }
        result.starts.push_back(static_cast<int64_t>(result.imap.size()));
    }
    return result;
}

}  // namespace hk::reference
