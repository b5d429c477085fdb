// The family conv2d in the benchmark: forward, without bias, residual or activation.

#include <algorithm>
#include <cstring>
#include <random>

#include "conv2d_check.h"
#include "family.h"
#include "hk/conv2d.h"
#include "hk/error.h"
#include "peers/conv2d_peer.h"
#include "shapes.h"

namespace hk::bench {

namespace {

// Rounded to the type, both as f32 and in the type's own bits.
struct Data {
    std::vector<float> values;
    Tensor tensor;
};

Data random_data(Shape shape, DataType type, uint64_t seed) {
    Data data{{}, Tensor(std::move(shape), type)};
    data.values.resize(data.tensor.elements());
    std::mt19937 random(static_cast<uint32_t>(seed));
    uint16_t *bits = type == DataType::f32 ? nullptr : data.tensor.data<uint16_t>();
    for (float &value : data.values) {
        value = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f;
        if (type == DataType::f16) value = f32_from_f16(*bits++ = f16_from_f32(value));
        if (type == DataType::bf16) value = f32_from_bf16(*bits++ = bf16_from_f32(value));
    }
    if (!bits && !data.values.empty()) {
        std::memcpy(data.tensor.data<float>(), data.values.data(), data.values.size() * 4);
    }
    return data;
}

const KernelInfo &row_named(const Settings &settings) {
    for (const KernelInfo &kernel : conv2d_kernels()) {
        if (kernel.row == settings.row && kernel.type == settings.type &&
            kernel.layout == settings.layout && kernel.device == settings.device.type()) {
            return kernel;
        }
    }
    throw InvalidArgument("bench: conv2d has no row \"" + settings.row + "\" for " +
                          std::string(name_of(settings.type)) + ", " +
                          std::string(name_of(settings.layout)) + ", " +
                          std::string(name_of(settings.device.type())));
}

const KernelInfo &choose(const Conv2dProblem &problem, const Settings &settings) {
    if (!settings.row.empty()) return row_named(settings);
    const Selection selection =
        select_conv2d(problem, settings.device.type(), settings.device.limits());
    if (!selection.kernel) throw InvalidArgument("bench: no row of conv2d takes this case");
    return *selection.kernel;
}

class Conv2dCase : public Case {
public:
    Conv2dCase(const Conv2dProblem &problem, const Settings &settings)
        : problem_(problem),
          settings_(settings),
          kernel_(choose(problem, settings)),
          input_(random_data(input_shape(), problem.type, 1)),
          weight_(random_data(weight_shape(), problem.type, 2)),
          reference_(problem, input_.values, weight_.values),
          device_input_(input_.tensor.to(settings.device)),
          device_weight_(weight_.tensor.to(settings.device)),
          output_(problem.output_shape(), problem.type, settings.device) {}

    const KernelInfo &kernel() const override { return kernel_; }
    double operations() const override { return problem_.operations(); }
    std::map<std::string, Shape> shapes() const override {
        return {{"input", input_shape()},
                {"weight", weight_shape()},
                {"output", problem_.output_shape()}};
    }

    Check check() override {
        Tensor poisoned(output_.shape(), output_.type());
        std::memset(bytes_of(poisoned), 0xff, poisoned.elements() * size_of(output_.type()));
        output_.copy_from(poisoned.to(settings_.device));
        run(1);
        const Tensor host = output_.to(Device::cpu());
        return reference_.check(bytes_of(host));
    }

    void run(int count) override {
        const Tensor none;
        for (int i = 0; i < count; ++i) {
            if (settings_.row.empty()) {
                conv2d(device_input_, device_weight_, none, none, output_, problem_.options);
            } else {
                conv2d_with(kernel_, device_input_, device_weight_, none, none, output_,
                            problem_.options);
            }
        }
        settings_.device.synchronize();
    }

    std::vector<Contestant> peers() override {
        std::vector<Contestant> result;
        if (!settings_.device.is_cpu()) return result;
        const Conv2dData data{problem_, bytes_of(input_.tensor), bytes_of(weight_.tensor)};
        for (auto make : {onednn_conv2d, onnxruntime_conv2d}) {
            for (auto &made : make(data, settings_.threads)) {
                std::shared_ptr<Peer> peer = std::move(made);
                peer->run();
                if (!reference_.check(peer->output().data()).failure.empty()) continue;
                const auto work = [raw = peer.get()](int count) {
                    for (int i = 0; i < count; ++i) raw->run();
                };
                result.push_back({peer->name(), peer->variant(), peer->same_task(), work, peer});
            }
        }
        return result;
    }

private:
    Shape input_shape() const {
        const Conv2dProblem &p = problem_;
        if (p.options.layout == Layout::nhwc) return {p.batch, p.height, p.width, p.channels};
        return {p.batch, p.channels, p.height, p.width};
    }
    Shape weight_shape() const {
        const Conv2dProblem &p = problem_;
        const int64_t depth = p.channels / p.options.groups;
        if (p.options.layout == Layout::nhwc) {
            return {p.filters, p.kernel_height, p.kernel_width, depth};
        }
        return {p.filters, depth, p.kernel_height, p.kernel_width};
    }

    static std::byte *bytes_of(const Tensor &tensor) {
        if (tensor.type() == DataType::f32) {
            return reinterpret_cast<std::byte *>(tensor.data<float>());
        }
        return reinterpret_cast<std::byte *>(tensor.data<uint16_t>());
    }

    Conv2dProblem problem_;
    Settings settings_;
    const KernelInfo &kernel_;
    Data input_, weight_;
    Conv2dReference reference_;
    Tensor device_input_, device_weight_, output_;
};

CaseInfo case_of(const std::string &list, const std::string &name, const ConvShape &shape,
                 const Settings &settings) {
    return {list, name, shape.count, [shape, settings] {
                return std::make_unique<Conv2dCase>(shape.problem(settings.type, settings.layout),
                                                    settings);
            }};
}

// One case for each row of the table: the first shape of the lists that selection gives to the row.
// Rows that none of them reaches have no case.
std::vector<CaseInfo> table_cases(const Settings &settings) {
    std::vector<CaseInfo> result;
    const DeviceLimits limits = settings.device.limits();
    for (const KernelInfo &kernel : conv2d_kernels()) {
        if (kernel.type != settings.type || kernel.layout != settings.layout ||
            kernel.device != settings.device.type()) {
            continue;
        }
        Settings forced = settings;
        forced.row = kernel.row;
        bool found = false;
        for (const char *list :
             {"resnet50", "mobilenetv2", "resnext50", "conv_training", "smoke"}) {
            for (const ConvShape &shape : conv_list(list, "fwd", settings.batch)) {
                const Conv2dProblem problem = shape.problem(settings.type, settings.layout);
                if (select_conv2d(problem, kernel.device, limits).kernel != &kernel) continue;
                result.push_back(case_of("table", kernel.row + (" " + shape.name), shape, forced));
                found = true;
                break;
            }
            if (found) break;
        }
    }
    return result;
}

std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) {
    if (!settings.row.empty()) row_named(settings);
    if (list == "table") return table_cases(settings);
    std::vector<CaseInfo> result;
    for (const ConvShape &shape : conv_list(list, "fwd", settings.batch)) {
        result.push_back(case_of(list, shape.name, shape, settings));
    }
    return result;
}

}  // namespace

Family conv2d_family() {
    std::vector<std::string> lists = conv_list_names();
    lists.push_back("table");
    const auto versions = [] {
        std::vector<std::string> result = {onednn_version(), onnxruntime_version()};
        std::erase(result, "");
        return result;
    };
    return {"conv2d",
            lists,
            {"resnet50", "mobilenetv2", "resnext50", "conv_training", "shape_case"},
            cases,
            versions};
}

}  // namespace hk::bench
