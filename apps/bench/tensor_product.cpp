// The families of the tensor product in the benchmark, and of its gradients: layers of a sparse
// network over one cloud. Work is counted in operations of pairs, which no kernel can leave out.

#include "hk/tensor_product.h"

#include "conv_cases.h"
#include "hk/error.h"
#include "hk/tensor_product_backward.h"
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
        Layer &layer = result.emplace_back();
        line.read("voxels", layer.cloud.voxels);
        line.read("kernel", layer.cloud.kernel);
        line.read("stride", layer.cloud.stride);
        line.read("c", layer.c);
        line.read("m", layer.m);
        line.finish();
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

// A family, by what it computes.
std::string family_name(Role result) {
    switch (result) {
        case Role::input:
            return "tensor_product_backward_data";
        case Role::weight:
            return "tensor_product_backward_weight";
        default:
            return "tensor_product";
    }
}

std::vector<const KernelInfo *> rows(Role result, const Settings &settings) {
    if (result == Role::weight) return rows_of(tensor_product_backward_weight_kernels(), settings);
    std::vector<const KernelInfo *> rows = rows_of(tensor_product_kernels(), settings);
    for (const KernelInfo *row : rows_of(tensor_product_stationary_kernels(), settings))
        rows.push_back(row);
    return rows;
}

const KernelInfo *selected(Role result, const Layer &layer, const Settings &settings) {
    const KernelMap &map = map_of(layer);
    const auto problem = TensorProductProblem::from_shapes(
        {map.input_rows, layer.c}, {map.offsets, layer.c, layer.m}, map.pairs(),
        {map.output_rows, layer.m}, settings.type);
    const auto select = result == Role::input    ? select_tensor_product_backward_data
                        : result == Role::weight ? select_tensor_product_backward_weight
                                                 : select_tensor_product;
    return select(problem, settings.device.type(), limits_of(settings), false).kernel;
}

class TensorProductCase : public Case {
public:
    TensorProductCase(Role result, const Layer &layer, const Settings &settings)
        : Case(selected(result, layer, settings)),
          settings_(settings),
          map_(map_of(layer)),
          data_(map_, layer.c, layer.m, settings.type, result),
          reference_(data_) {
        for (const Data &data : data_.tensors) tensors_.push_back(data.tensor.to(settings.device));
    }

    double work() const override {
        return 2.0 * static_cast<double>(map_.pairs() * weight().shape()[1] * weight().shape()[2]);
    }
    std::map<std::string, Shape> shapes() const override {
        std::map<std::string, Shape> shapes{{"imap", map_.imap.shape()}};
        for (const Role role : {Role::input, Role::weight, Role::output})
            shapes[data_.name_of(role)] = data_[role].tensor.shape();
        return shapes;
    }

    Check check() override {
        const Tensor &result = tensors_[static_cast<size_t>(data_.result)];
        poison(result);
        run(1);
        const Tensor host = result.to(Device::cpu());
        return reference_.check(bytes_of(host));
    }

    // As a call that is the only one of its maps.
    void run(int count) override {
        for (int i = 0; i < count; ++i) run(maps(true));
        settings_.device.synchronize();
    }

    std::vector<Contestant> peers() override {
        std::vector<Contestant> result;
        if (settings_.device.is_cpu()) {
            result = right_ones(numpy(), [this](const Outputs &outputs) {
                return reference_.check(outputs[0].data()).failure.empty();
            });
        }
        const auto unchecked = [this](int count) {
            for (int i = 0; i < count; ++i) run(maps(false));
            settings_.device.synchronize();
        };
        const auto kept = [this, maps = maps(true)](int count) {
            for (int i = 0; i < count; ++i) run(maps);
            settings_.device.synchronize();
        };
        result.push_back({"hk unchecked", "maps not checked", false, unchecked, nullptr});
        result.push_back({"hk kept maps", "maps checked and sorted before", false, kept, nullptr});
        return result;
    }

private:
    const Tensor &input() const { return tensors_[0]; }
    const Tensor &weight() const { return tensors_[1]; }
    const Tensor &output() const { return tensors_[2]; }

    TensorProductMaps maps(bool check) const {
        return {map_.imap, map_.omap, map_.input_rows, map_.output_rows, map_.starts, check};
    }

    void run(const TensorProductMaps &maps) {
        const bool chosen = !used();
        switch (data_.result) {
            case Role::input:
                chosen
                    ? tensor_product_backward_data(output(), weight(), maps, input())
                    : tensor_product_backward_data_with(*used(), output(), weight(), maps, input());
                break;
            case Role::weight:
                chosen ? tensor_product_backward_weight(input(), output(), maps, weight())
                       : tensor_product_backward_weight_with(*used(), input(), output(), maps,
                                                             weight());
                break;
            case Role::output:
                chosen ? tensor_product(input(), weight(), maps, output())
                       : tensor_product_with(*used(), input(), weight(), maps, output());
                break;
        }
    }

    // The gradient of the input is a product too, from output rows to input rows, by weights turned
    // round.
    Peers numpy() const {
        Peers peers;
        if (numpy_version().empty() || settings_.type == DataType::bf16) return peers;
        const bool back = data_.result == Role::input, of_weight = data_.result == Role::weight;
        NumpyTask task{of_weight ? "tensor_product_backward_weight" : "tensor_product",
                       {{"imap", back ? map_.omap : map_.imap},
                        {"omap", back ? map_.imap : map_.omap},
                        {"starts", map_.starts},
                        {"input", data_[back ? Role::output : Role::input].tensor}},
                       {{"turned", back}},
                       settings_.threads};
        if (of_weight) {
            task.arrays.push_back({"gradient", data_[Role::output].tensor});
        } else {
            task.arrays.push_back({"weight", data_[Role::weight].tensor});
            task.options["output_rows"] = back ? map_.input_rows : map_.output_rows;
        }
        peers.push_back(std::make_unique<NumpyPeer>("NumPy", "whole offsets", task));
        task.options["block"] = 2048;
        peers.push_back(std::make_unique<NumpyPeer>("NumPy blocked", "blocks of pairs", task));
        return peers;
    }

    Settings settings_;
    const KernelMap &map_;
    TensorProductData data_;
    TensorProductReference reference_;
    std::vector<Tensor> tensors_;  // on the device, by their roles
};

std::vector<CaseInfo> cases(Role result, const std::string &list, const Settings &settings) {
    const std::string family = family_name(result);
    if (settings.batch > 0) {
        throw InvalidArgument(family + " has no batches, --batch is " +
                              std::to_string(settings.batch));
    }
    std::vector<CaseInfo> infos;
    for (const Layer &layer : layers_of(list)) {
        infos.push_back(
            {list, layer.name(), layer.cloud.submanifold() ? "submanifold" : "strided", 1,
             [=] { return std::make_unique<TensorProductCase>(result, layer, settings); }});
        infos.back().select = [=] { return selected(result, layer, settings); };
    }
    return infos;
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
    result.push_back({"", {"hk unchecked", "hk kept maps"}});
    return result;
}

Unit unit(const Settings &settings) {
    Unit unit = arithmetic(settings);
    if (settings.type == DataType::f64 || !settings.device.is_cpu()) unit.peak = nullptr;
    return unit;
}

Family family(Role result) {
    return {family_name(result),
            {DataType::f32, DataType::f16, DataType::bf16, DataType::f64},
            embedded_lists("tensor_product"),
            {"cloud"},
            [result](const std::string &list, const Settings &settings) {
                return cases(result, list, settings);
            },
            [result](const Settings &settings) { return rows(result, settings); },
            peers,
            unit,
            {Layout::any},
            nullptr,
            data};
}

}  // namespace

Family tensor_product_family() { return family(Role::output); }
Family tensor_product_backward_data_family() { return family(Role::input); }
Family tensor_product_backward_weight_family() { return family(Role::weight); }

}  // namespace hk::bench
