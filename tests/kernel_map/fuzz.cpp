// hk::submanifold_map and hk::strided_map.

#include "hk/kernel_map.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/kernel_map/reference.h"

namespace hk::fuzz {
namespace {

using reference::Voxel;
using reference::Voxels;

// Different ones in a box somewhere, in any order.
Voxels draw_cloud(Random &random) {
    std::set<Voxel> voxels;
    const int64_t count = one_in(random, 20) ? uniform(random, 0, 2) : uniform(random, 1, 80);
    const int64_t half = uniform(random, 1, one_in(random, 8) ? 100000 : 6);
    const int64_t middle = one_in(random, 8) ? uniform(random, -1000000, 1000000) : 0;
    const auto any = [&] { return middle + uniform(random, -half, half); };
    for (int64_t i = 0; i < count; i++) voxels.insert({uniform(random, 0, 2), any(), any(), any()});
    Voxels cloud(voxels.begin(), voxels.end());
    if (one_in(random, 2)) std::ranges::shuffle(cloud, random);
    return cloud;
}

KernelMapOptions draw_options(Case &c, bool strided) {
    KernelMapOptions options;
    for (size_t a = 0; a < 3; a++) {
        options.kernel_size[a] = pick(c.random, std::vector<int64_t>{1, 2, 3, 3, 5});
        options.dilation[a] = one_in(c.random, 3) ? uniform(c.random, 1, 4) : 1;
        if (strided) options.stride[a] = uniform(c.random, 1, 3);
        c.spoil(options.kernel_size[a]);
        c.spoil(options.dilation[a]);
        c.spoil(options.stride[a]);
    }
    return options;
}

// Whether the reference can be asked: it multiplies without a look at 64 bits, and tries all
// offsets.
bool small(const KernelMapOptions &options, size_t rows) {
    double work = static_cast<double>(rows), most = 0;
    for (size_t a = 0; a < 3; a++) {
        work *= static_cast<double>(options.kernel_size[a]);
        most = std::max({most, static_cast<double>(options.stride[a]),
                         static_cast<double>(options.dilation[a]) *
                             static_cast<double>(options.kernel_size[a])});
    }
    return work < 1e6 && most < 1e10;
}

Voxels voxels_of(const Tensor &coordinates) {
    const std::vector<double> values = reference::read(coordinates);
    Voxels voxels(values.size() / 4);
    for (size_t i = 0; i < values.size(); i++)
        voxels[i / 4][i % 4] = static_cast<int64_t>(values[i]);
    return voxels;
}

template<typename T>
bool same(const Tensor &tensor, const std::vector<T> &values) {
    return tensor.elements() == std::ssize(values) &&
           std::equal(values.begin(), values.end(), tensor.data<T>());
}

std::string compare(const KernelMap &map, const reference::KernelMapResult &wanted, size_t inputs) {
    if (map.input_rows != static_cast<int64_t>(inputs)) return "other input rows";
    if (map.output_rows != std::ssize(wanted.outputs)) return "other output rows";
    if (map.offsets + 1 != std::ssize(wanted.starts)) return "other offsets";
    if (voxels_of(map.coordinates) != wanted.outputs) return "other coordinates";
    if (!same(map.starts, wanted.starts)) return "other starts";
    if (!same(map.imap, wanted.imap) || !same(map.omap, wanted.omap)) return "other pairs";
    return "";
}

}  // namespace

Result kernel_map(Case &c) {
    const bool strided = one_in(c.random, 2);
    Voxels cloud = draw_cloud(c.random);
    if (!cloud.empty() && c.hits(6)) {
        cloud.push_back(pick(c.random, cloud));
        if (one_in(c.random, 2)) {
            cloud.back()[static_cast<size_t>(uniform(c.random, 0, 3))] =
                pick(c.random, std::vector<int64_t>{INT32_MAX, INT32_MIN, -1, int64_t{1} << 31,
                                                    -(int64_t{1} << 40)});
        }
        c.act("a voxel twice, or far away");
    }
    const KernelMapOptions options = draw_options(c, strided);
    std::vector<double> values;
    for (const Voxel &voxel : cloud) values.insert(values.end(), voxel.begin(), voxel.end());
    const bool wide =
        std::ranges::any_of(values, [](double v) { return std::abs(v) > 2147483647; });
    Wanted wanted{"coordinates",
                  Use::read,
                  {std::ssize(cloud), 4},
                  wide || one_in(c.random, 2) ? DataType::s64 : DataType::s32,
                  listed(values)};
    wanted.host = true;
    wanted.repeats = false;
    const Operand &coordinates = c.place(wanted);
    c.tell((strided ? "strided_map kernel " : "submanifold_map kernel ") +
           to_string(Shape(options.kernel_size.begin(), options.kernel_size.end())) + ", stride " +
           to_string(Shape(options.stride.begin(), options.stride.end())) + ", dilation " +
           to_string(Shape(options.dilation.begin(), options.dilation.end())));
    KernelMap map;
    const auto call = [&] {
        map = strided ? strided_map(coordinates.tensor, options)
                      : submanifold_map(coordinates.tensor, options);
    };
    return c.run(call, [&]() -> std::string {
        const Voxels voxels = voxels_of(coordinates.before);
        if (std::set<Voxel>(voxels.begin(), voxels.end()).size() != voxels.size()) {
            return "a voxel that is there twice was accepted";
        }
        if (!small(options, voxels.size())) return "";
        return compare(map, reference::kernel_map(voxels, options, strided), voxels.size());
    });
}

}  // namespace hk::fuzz
