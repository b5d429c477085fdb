// The family tensor_product in the benchmark: layers of a sparse network over one cloud. Work is
// counted in operations of pairs, which no kernel can leave out.

#include "hk/tensor_product.h"

#include "conv_cases.h"
#include "hk/error.h"
#include "lists.h"
#include "peers/numpy.h"
#include "tensor_product_check.h"

namespace hk::bench {

namespace {

struct Layer {
    CloudShape cloud;
    int64_t c = 1, m = 1;

    std::string name() const {
        return cloud.name() + "_" + std::to_string(c) + "-" + std::to_string(m);
    }
};

std::vector<Layer> layers_of(const std::string &list) {
    std::vector<Layer> result;
    for (ListLine &line : list_lines(list_text("tensor_product", list))) {
        Layer layer;
        line.read("voxels", layer.cloud.voxels);
        line.read("kernel", layer.cloud.kernel);
        line.read("stride", layer.cloud.stride);
        line.read("c", layer.c);
        line.read("m", layer.m);
        line.finish();
        result.push_back(layer);
    }
    return result;
}

// Most cases have that of the one before.
const KernelMap &map_of(const Layer &layer) {
    static std::map<CloudShape, KernelMap> kept;
    const auto [at, is_new] = kept.try_emplace(layer.cloud);
    if (is_new) at->second = map_of(cloud_of(layer.cloud.voxels), layer.cloud);
    return at->second;
}

const KernelInfo *row_named(const Settings &settings) {
    for (const KernelInfo &kernel : tensor_product_kernels()) {
        if (kernel.type == settings.type && kernel.device == settings.device.type() &&
            kernel.row == settings.row) {
            return &kernel;
        }
    }
    return nullptr;
}

class TensorProductCase : public Case {
public:
    TensorProductCase(const Layer &layer, const Settings &settings)
        : settings_(settings),
          map_(map_of(layer)),
          host_input_(random_data({map_.input_rows, layer.c}, settings.type, 1, 5)),
          host_weight_(random_data({map_.offsets, layer.c, layer.m}, settings.type, 2, 5)),
          reference_(map_, host_input_, host_weight_),
          input_(host_input_.tensor.to(settings.device)),
          weight_(host_weight_.tensor.to(settings.device)),
          imap_(map_.imap.to(settings.device)),
          omap_(map_.omap.to(settings.device)),
          output_({map_.output_rows, layer.m}, settings.type, settings.device) {
        options_.starts = map_.starts.to(settings.device);
        const auto problem =
            TensorProductProblem::from_shapes(input_.shape(), weight_.shape(), imap_.shape(),
                                              output_.shape(), settings.type, options_);
        const Device device = settings.device;
        kernel_ = settings.row.empty()
                      ? select_tensor_product(problem, device.type(), device.limits()).kernel
                      : row_named(settings);
        if (!kernel_) throw InvalidArgument("bench: no row of tensor_product takes this case");
    }

    const KernelInfo *kernel() const override { return kernel_; }
    double work() const override {
        return 2.0 * static_cast<double>(map_.pairs() * weight_.shape()[1] * weight_.shape()[2]);
    }
    std::map<std::string, Shape> shapes() const override {
        return {{"input", input_.shape()},
                {"weight", weight_.shape()},
                {"imap", imap_.shape()},
                {"output", output_.shape()}};
    }

    Check check() override {
        poison(output_);
        run(1);
        const Tensor host = output_.to(Device::cpu());
        return reference_.check(bytes_of(host));
    }

    void run(int count) override { run(count, options_); }

    std::vector<Contestant> peers() override {
        std::vector<Contestant> result;
        if (settings_.device.is_cpu()) {
            result = right_ones(numpy(), [this](const Outputs &outputs) {
                return reference_.check(outputs[0].data()).failure.empty();
            });
        }
        TensorProductOptions unchecked = options_;
        unchecked.check_maps = false;
        result.push_back({"hk unchecked", "maps not checked", false,
                          [this, unchecked](int count) { run(count, unchecked); }, nullptr});
        return result;
    }

private:
    void run(int count, const TensorProductOptions &options) {
        for (int i = 0; i < count; ++i) {
            if (settings_.row.empty()) {
                tensor_product(input_, weight_, imap_, omap_, output_, options);
            } else {
                tensor_product_with(*kernel_, input_, weight_, imap_, omap_, output_, options);
            }
        }
        settings_.device.synchronize();
    }

    Peers numpy() const {
        Peers peers;
        if (numpy_version().empty() || settings_.type == DataType::bf16) return peers;
        NumpyTask task{"tensor_product",
                       {{"input", host_input_.tensor},
                        {"weight", host_weight_.tensor},
                        {"imap", map_.imap},
                        {"omap", map_.omap},
                        {"starts", map_.starts}},
                       {{"output_rows", map_.output_rows}},
                       settings_.threads};
        peers.push_back(std::make_unique<NumpyPeer>("NumPy", "whole offsets", task));
        task.options["block"] = 2048;
        peers.push_back(std::make_unique<NumpyPeer>("NumPy blocked", "blocks of pairs", task));
        return peers;
    }

    Settings settings_;
    const KernelMap &map_;
    Data host_input_, host_weight_;
    TensorProductReference reference_;
    Tensor input_, weight_, imap_, omap_, output_;
    TensorProductOptions options_;
    const KernelInfo *kernel_ = nullptr;
};

std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) {
    if (settings.batch > 0) {
        throw InvalidArgument("bench: tensor_product has no batches, --batch is " +
                              std::to_string(settings.batch));
    }
    if (!settings.row.empty() && !row_named(settings)) {
        throw InvalidArgument("bench: tensor_product has no row \"" + settings.row + "\" for " +
                              std::string(name_of(settings.type)) + ", " +
                              std::string(name_of(settings.device.type())));
    }
    std::vector<CaseInfo> result;
    for (const Layer &layer : layers_of(list)) {
        result.push_back(
            {list, layer.name(), layer.cloud.submanifold() ? "submanifold" : "strided", 1,
             [layer, settings] { return std::make_unique<TensorProductCase>(layer, settings); }});
    }
    return result;
}

std::string data(const std::string &list) {
    std::map<CloudShape, std::string> told;
    for (const Layer &layer : layers_of(list)) told[layer.cloud] = words(map_of(layer));
    std::string text;
    for (const auto &[cloud, map] : told)
        text += (text.empty() ? "" : "; ") + cloud.name() + ": " + map;
    return text;
}

std::vector<PeerLibrary> peers(const Settings &settings) {
    std::vector<PeerLibrary> result;
    if (settings.device.is_cpu() && !numpy_version().empty()) {
        result.push_back({numpy_version(), {"NumPy", "NumPy blocked"}});
    }
    result.push_back({"", {"hk unchecked"}});
    return result;
}

Unit unit(const Settings &settings) {
    Unit unit = arithmetic(settings);
    if (settings.type == DataType::f64 || !settings.device.is_cpu()) unit.peak = nullptr;
    return unit;
}

}  // namespace

Family tensor_product_family() {
    return {"tensor_product",
            {DataType::f32, DataType::f16, DataType::bf16, DataType::f64},
            embedded_lists("tensor_product"),
            {"cloud"},
            cases,
            peers,
            unit,
            {Layout::any},
            nullptr,
            data};
}

}  // namespace hk::bench
