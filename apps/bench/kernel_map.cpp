// The family kernel_map in the benchmark: from the coordinates of voxels the maps of a sparse
// convolution. It runs no kernel of the table. Work is counted in voxels.

#include "hk/kernel_map.h"

#include <cstring>

#include "hk/error.h"
#include "kernel_map_check.h"
#include "lists.h"
#include "peers/numpy.h"

namespace hk::bench {

namespace {

std::vector<CloudShape> shapes_of(const std::string &list) {
    std::vector<CloudShape> result;
    for (ListLine &line : list_lines(list_text("kernel_map", list))) {
        CloudShape &shape = result.emplace_back();
        line.read("voxels", shape.voxels);
        line.read("kernel", shape.kernel);
        line.read("stride", shape.stride);
        line.finish();
    }
    return result;
}

template<typename T>
std::vector<T> values_of(const std::vector<std::byte> &bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

class KernelMapCase : public Case {
public:
    KernelMapCase(const CloudShape &shape, const Settings &settings)
        : Case(nullptr),
          shape_(shape),
          threads_(settings.threads),
          coordinates_(cloud_of(shape.voxels)),
          reference_(coordinates_, shape),
          map_(map_of(coordinates_, shape)) {}

    double work() const override { return 1e3 * static_cast<double>(map_.input_rows); }
    std::map<std::string, Shape> shapes() const override {
        return {{"coordinates", coordinates_.shape()},
                {"imap", map_.imap.shape()},
                {"starts", map_.starts.shape()},
                {"output", {map_.output_rows, 4}}};
    }

    Check check() override {
        const auto pairs = static_cast<size_t>(map_.pairs());
        return reference_.check(
            {map_.imap.data<int32_t>(), pairs}, {map_.omap.data<int32_t>(), pairs},
            {map_.starts.data<int64_t>(), static_cast<size_t>(map_.offsets + 1)});
    }

    void run(int count) override {
        for (int i = 0; i < count; ++i) map_ = map_of(coordinates_, shape_);
    }

    std::vector<Contestant> peers() override {
        Peers peers;
        if (!numpy_version().empty()) {
            const NumpyTask task{"kernel_map",
                                 {{"coordinates", coordinates_}},
                                 {{"kernel", shape_.kernel}, {"stride", shape_.stride}},
                                 threads_};
            peers.push_back(std::make_unique<NumpyPeer>("NumPy", "sort, searchsorted", task));
        }
        return right_ones(std::move(peers), [this](const Outputs &outputs) {
            return reference_
                .check(values_of<int32_t>(outputs[0]), values_of<int32_t>(outputs[1]),
                       values_of<int64_t>(outputs[2]))
                .failure.empty();
        });
    }

private:
    CloudShape shape_;
    int threads_;
    Tensor coordinates_;
    KernelMapReference reference_;
    KernelMap map_;
};

std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) {
    if (settings.batch > 0) {
        throw InvalidArgument("kernel_map has no batches, --batch is " +
                              std::to_string(settings.batch));
    }
    if (!settings.device.is_cpu()) {
        throw InvalidArgument("kernel_map runs on the CPU, --device is " + settings.device.name());
    }
    std::vector<CaseInfo> result;
    for (const CloudShape &shape : shapes_of(list)) {
        result.push_back(
            {list, shape.name(), shape.submanifold() ? "submanifold" : "strided", 1,
             [shape, settings] { return std::make_unique<KernelMapCase>(shape, settings); }});
    }
    return result;
}

std::vector<PeerLibrary> peers(const Settings &) {
    if (numpy_version().empty()) return {};
    return {{numpy_version(), {"NumPy"}}};
}

std::string data(const std::string &list) {
    std::string text;
    for (const CloudShape &shape : shapes_of(list)) {
        text += (text.empty() ? "" : "; ") + shape.name() + ": " +
                words(map_of(cloud_of(shape.voxels), shape));
    }
    return text;
}

}  // namespace

Family kernel_map_family() {
    return {"kernel_map",
            {DataType::s32},
            embedded_lists("kernel_map"),
            {"cloud"},
            cases,
            nullptr,
            peers,
            [](const Settings &) {
                return Unit{"Mvoxel/s", nullptr, ""};
            },
            {Layout::any},
            nullptr,
            data};
}

}  // namespace hk::bench
