// From the coordinates of voxels the maps of a sparse convolution. It runs no kernel of the table.
// Work is counted in voxels.

#include "hk/kernel_map.h"

#include <algorithm>
#include <cstring>

#include "cloud.h"
#include "data.h"
#include "family.h"
#include "hk/error.h"
#include "peers/python.h"
#include "tests/kernel_map/reference.h"

namespace hk::bench {

namespace {

// The pairs of each offset in one order: within an offset it is free.
std::string difference(const Tensors &map, const reference::KernelMapResult &wanted) {
    const auto pairs = static_cast<size_t>(map[0].elements());
    if (pairs != wanted.imap.size() || map[1].elements() != map[0].elements() ||
        map[2].elements() != std::ssize(wanted.starts) ||
        !std::equal(wanted.starts.begin(), wanted.starts.end(), map[2].data<int64_t>())) {
        return "starts or maps have wrong lengths";
    }
    const auto sorted = [](const int32_t *imap, const int32_t *omap, int64_t from, int64_t to) {
        std::vector<std::pair<int32_t, int32_t>> result;
        for (int64_t p = from; p < to; ++p) result.emplace_back(omap[p], imap[p]);
        std::ranges::sort(result);
        return result;
    };
    for (size_t n = 0; n + 1 < wanted.starts.size(); ++n) {
        const int64_t from = wanted.starts[n], to = wanted.starts[n + 1];
        if (sorted(map[0].data<int32_t>(), map[1].data<int32_t>(), from, to) !=
            sorted(wanted.imap.data(), wanted.omap.data(), from, to)) {
            return "the pairs of offset " + std::to_string(n) + " are wrong";
        }
    }
    return "";
}

class KernelMapProblem : public Problem {
public:
    std::vector<Field> fields() override {
        return {required(field("voxels", cloud_.voxels, "of the cloud")),
                field("kernel", cloud_.kernel, "in every direction"),
                field("stride", cloud_.stride, "the same")};
    }
    void prepare(Layout) override {
        if (!settings().device.is_cpu()) {
            throw InvalidArgument("kernel_map runs on the CPU, --device is " +
                                  settings().device.name());
        }
        coordinates_ = cloud_of(cloud_.voxels);
        map_ = map_of(coordinates_, cloud_);
    }

    std::string name(std::optional<DataType>) const override { return cloud_.name(); }
    std::string kind() const override { return cloud_.submanifold() ? "submanifold" : "strided"; }
    std::span<const KernelInfo> kernels() const override { return {}; }
    Selection select(DeviceType, const DeviceLimits &, bool) const override { return {}; }

    std::vector<Operand> operands() const override {
        return {{"coordinates", DataType::s32, coordinates_.shape()}};
    }
    std::map<std::string, Shape> shapes() const override {
        return {{"coordinates", coordinates_.shape()},
                {"imap", map_.imap.shape()},
                {"starts", map_.starts.shape()},
                {"output", {map_.output_rows, 4}}};
    }
    double work() const override { return 1e3 * static_cast<double>(map_.input_rows); }

    std::string data() const override { return cloud_.name() + ": " + words(map_); }

    Tensors draw() override { return {coordinates_}; }
    void run(const KernelInfo *) override { map_ = map_of(tensor(0), cloud_); }
    Tensors results() const override { return {map_.imap, map_.omap, map_.starts}; }
    Tensors results_of(const Outputs &made) const override {
        const auto array = [&](size_t i, DataType type) {
            return tensor_of({std::ssize(made.at(i)) / size_of(type)}, type, made.at(i).data());
        };
        return {array(0, DataType::s32), array(1, DataType::s32), array(2, DataType::s64)};
    }

    Judge judge(const Tensors &host) const override {
        reference::Voxels voxels;
        const int32_t *const values = host[0].data<int32_t>();
        for (int64_t i = 0; i < host[0].elements(); i += 4)
            voxels.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
        const auto [all, k, s] = cloud_;
        const auto wanted =
            reference::kernel_map(voxels, {{k, k, k}, {s, s, s}}, !cloud_.submanifold());
        return [wanted](const Tensors &map, const KernelInfo *) {
            const std::string failure = difference(map, wanted);
            return Check{failure.empty() ? 0. : 1., failure};
        };
    }

    Peers libraries(const Tensors &host) const override {
        Peers peers;
        if (numpy_version().empty()) return peers;
        const PythonTask task{"numpy_tasks.py",
                              "kernel_map",
                              {{"coordinates", host[0]}},
                              {{"kernel", cloud_.kernel}, {"stride", cloud_.stride}},
                              settings().threads};
        peers.push_back(std::make_unique<PythonPeer>("NumPy", "sort, searchsorted", task));
        return peers;
    }

private:
    CloudShape cloud_;
    Tensor coordinates_;
    KernelMap map_;
};

std::vector<PeerLibrary> peers(const Settings &) {
    if (numpy_version().empty()) return {};
    return {{numpy_version(), {"NumPy"}}};
}

}  // namespace

std::vector<Family> kernel_map_families() {
    Family family{"kernel_map",
                  "The maps of a sparse convolution",
                  [] { return std::make_unique<KernelMapProblem>(); },
                  "kernel_map",
                  {"cloud"},
                  [](const Settings &) {
                      return Unit{"Mvoxel/s", nullptr, ""};
                  },
                  peers};
    family.types = {DataType::s32};
    family.has_rows = false;
    return {family};
}

}  // namespace hk::bench
