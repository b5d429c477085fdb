// The families that work element by element in the benchmark, on packed tensors apart. Work is
// counted in bytes that are read and written; memcpy reads and writes as many.

#include "conv2d_data.h"
#include "elementwise_check.h"
#include "hk/error.h"
#include "lists.h"
#include "peers/memcpy.h"

namespace hk::bench {

namespace {

// One of the three families, at one of its settings.
struct Operation {
    std::string family, name;
    ActivationOptions activation{};
    SgdOptions sgd{};

    std::span<const KernelInfo> kernels() const {
        if (family == "activate") return activate_kernels();
        return family == "sgd" ? sgd_kernels() : activate_backward_kernels();
    }
    bool has_momentum() const { return sgd.momentum != 0; }
    // Tensors that are read and that are written.
    int moved() const {
        if (family == "activate") return 2;
        return family == "sgd" && has_momentum() ? 5 : 3;
    }
};

std::vector<Operation> operations_of(const std::string &family) {
    if (family == "sgd") {
        return {{family, "momentum", {}, {0.01f, 0.9f, 1e-4f, true}},
                {family, "plain", {}, {0.01f, 0, 1e-4f}}};
    }
    return {{family, "relu", {Activation::relu}},
            {family, "silu", {Activation::silu}},
            {family, "gelu", {Activation::gelu}}};
}

// Of packed tensors.
const KernelInfo *kernel_of(const Operation &operation, const Settings &settings) {
    const auto field = [&](std::string_view name) -> int64_t {
        return name == "momentum" ? operation.has_momentum() : 1;
    };
    const DeviceType device = settings.device.type();
    for (const KernelInfo &kernel : operation.kernels()) {
        const Selection selection = select({&kernel, 1}, settings.type, Layout::any, device,
                                           limits_of(settings), field, false);
        if (selection.kernel) return selection.kernel;
    }
    return nullptr;
}

class ElementwiseCase : public Case {
public:
    ElementwiseCase(const Operation &operation, int64_t elements, const Settings &settings)
        : Case(kernel_of(operation, settings)), operation_(operation), settings_(settings) {
        for (uint32_t i = 0; i < 3; i++) {
            data_.push_back(random_data({elements}, settings.type, i + 1));
            tensors_.push_back(data_[i].tensor.to(settings.device));
        }
    }

    double work() const override { return static_cast<double>(operation_.moved() * bytes()); }
    std::map<std::string, Shape> shapes() const override {
        return {{"output", tensors_[0].shape()}};
    }

    Check check() override {
        if (operation_.family != "sgd") poison(tensors_[0]);
        run(1);
        const Tensor result = tensors_[0].to(Device::cpu());
        if (operation_.family != "sgd") {
            const bool backward = operation_.family == "activate_backward";
            return check_activation(operation_.activation, backward, data_[1].values,
                                    data_[2].values, result);
        }
        return check_sgd(operation_.sgd, {data_[0].values, data_[1].values, data_[2].values},
                         result, tensors_[1].to(Device::cpu()));
    }

    void run(int count) override {
        for (int i = 0; i < count; ++i) run_once();
        settings_.device.synchronize();
    }

    std::vector<Contestant> peers() override { return memcpy_of(work(), settings_); }

private:
    int64_t bytes() const { return tensors_[0].elements() * size_of(settings_.type); }

    void run_once() const {
        const Tensor &a = tensors_[0], &b = tensors_[1], &c = tensors_[2];
        if (operation_.family == "activate") {
            activate_with(*kernel(), b, a, operation_.activation);
        } else if (operation_.family == "activate_backward") {
            activate_backward_with(*kernel(), c, b, a, operation_.activation);
        } else {
            sgd_step_with(*kernel(), a, operation_.has_momentum() ? b : Tensor(), c,
                          operation_.sgd);
        }
    }

    Operation operation_;
    Settings settings_;
    std::vector<Data> data_;
    std::vector<Tensor> tensors_;
};

std::vector<CaseInfo> cases(const std::string &family, const std::string &list,
                            const Settings &settings) {
    if (settings.batch > 0) {
        throw InvalidArgument(family + " has no batches, --batch is " +
                              std::to_string(settings.batch));
    }
    std::vector<CaseInfo> result;
    for (ListLine &line : list_lines(list_text("elementwise", list))) {
        int64_t elements = 0;
        line.read("elements", elements);
        line.finish();
        for (const Operation &operation : operations_of(family)) {
            result.push_back({list, operation.name + "_" + std::to_string(elements), operation.name,
                              1, [operation, elements, settings] {
                                  return std::make_unique<ElementwiseCase>(operation, elements,
                                                                           settings);
                              }});
            result.back().select = [operation, settings] { return kernel_of(operation, settings); };
        }
    }
    return result;
}

Family elementwise_family(const std::string &name) {
    return {name,
            {DataType::f32, DataType::f16, DataType::bf16},
            embedded_lists("elementwise"),
            {"sizes"},
            [name](const std::string &list, const Settings &settings) {
                return cases(name, list, settings);
            },
            [name](const Settings &settings) {
                return rows_of(operations_of(name).front().kernels(), settings);
            },
            memcpy_library,
            [](const Settings &) {
                return Unit{"GB/s", nullptr, ""};
            },
            {Layout::any}};
}

}  // namespace

Family activate_family() { return elementwise_family("activate"); }
Family activate_backward_family() { return elementwise_family("activate_backward"); }
Family sgd_family() { return elementwise_family("sgd"); }

}  // namespace hk::bench
