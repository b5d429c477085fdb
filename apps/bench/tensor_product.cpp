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
    int64_t voxels = 1, kernel = 3, stride = 1, c = 1, m = 1;

    std::string name() const {
        const std::string k = std::to_string(kernel);
        return k + "x" + k + "x" + k + (stride > 1 ? "_s" + std::to_string(stride) : "") + "_" +
               std::to_string(c) + "-" + std::to_string(m);
    }
};

std::vector<Layer> layers_of(const std::string &list) {
    std::vector<Layer> result;
    for (ListLine &line : list_lines(list_text("tensor_product", list))) {
        Layer layer;
        line.read("voxels", layer.voxels);
        line.read("kernel", layer.kernel);
        line.read("stride", layer.stride);
        line.read("c", layer.c);
        line.read("m", layer.m);
        line.finish();
        result.push_back(layer);
    }
    return result;
}

// Those of the cases that came before are kept: most have the same.
const CloudMaps &maps_of(const Layer &layer) {
    static std::map<std::array<int64_t, 3>, CloudMaps> kept;
    const auto [at, is_new] = kept.try_emplace({layer.voxels, layer.kernel, layer.stride});
    if (is_new) at->second = cloud_maps(cloud(layer.voxels), layer.kernel, layer.stride);
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
          maps_(maps_of(layer)),
          host_input_(random_data({maps_.input_rows, layer.c}, settings.type, 1, 5)),
          host_weight_(random_data({maps_.offsets(), layer.c, layer.m}, settings.type, 2, 5)),
          reference_(maps_, host_input_, host_weight_),
          input_(host_input_.tensor.to(settings.device)),
          weight_(host_weight_.tensor.to(settings.device)),
          imap_(maps_.imap.to(settings.device)),
          omap_(maps_.omap.to(settings.device)),
          output_({maps_.output_rows, layer.m}, settings.type, settings.device) {
        options_.starts = maps_.starts.to(settings.device);
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
        return 2.0 * static_cast<double>(maps_.pairs() * weight_.shape()[1] * weight_.shape()[2]);
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
                        {"imap", maps_.imap},
                        {"omap", maps_.omap},
                        {"starts", maps_.starts}},
                       {{"output_rows", maps_.output_rows}},
                       settings_.threads};
        peers.push_back(std::make_unique<NumpyPeer>("NumPy", "whole offsets", task));
        task.options["block"] = 2048;
        peers.push_back(std::make_unique<NumpyPeer>("NumPy blocked", "blocks of pairs", task));
        return peers;
    }

    Settings settings_;
    const CloudMaps &maps_;
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
            {list, layer.name(), layer.stride > 1 ? "strided" : "submanifold", 1,
             [layer, settings] { return std::make_unique<TensorProductCase>(layer, settings); }});
    }
    return result;
}

std::string data(const std::string &list) {
    std::string text;
    std::string before;
    for (const Layer &layer : layers_of(list)) {
        const CloudMaps &maps = maps_of(layer);
        const std::string told = std::to_string(maps.input_rows) + " to " +
                                 std::to_string(maps.output_rows) + " voxels, " +
                                 std::to_string(maps.pairs()) + " pairs over " +
                                 std::to_string(maps.offsets()) + " offsets";
        if (told != before) text += (text.empty() ? "" : "; ") + told;
        before = told;
    }
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
