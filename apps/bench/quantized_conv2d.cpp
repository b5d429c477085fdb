// The family quantized_conv2d in the benchmark: forward, without bias or activation; a scale of
// each filter, one of the input and the output.

#include "hk/quantized_conv2d.h"

#include <algorithm>
#include <cstring>

#include "conv2d_data.h"
#include "conv_cases.h"
#include "peers/quantized_conv2d_peer.h"
#include "quantized_conv2d_check.h"

namespace hk::bench {

namespace {

Tensor tensor_of(const Shape &shape, DataType type, const void *data, const Device &device) {
    const Tensor host(shape, type);
    if (host.elements() > 0) std::memcpy(bytes_of(host), data, host.elements() * size_of(type));
    return host.to(device);
}

class QuantizedConv2dCase : public Case {
public:
    QuantizedConv2dCase(const QuantizedConv2dProblem &problem, const KernelInfo *selected,
                        const Settings &settings)
        : Case(selected),
          settings_(settings),
          data_(random_quantized_conv2d(problem)),
          reference_(data_) {
        const Conv2dProblem &p = problem.conv;
        const Device &device = settings.device;
        const Layout layout = p.options.layout;
        input_.values =
            tensor_of(shape_of(layout, input_extents(p)), p.type, data_.input.data(), device);
        weight_.values = tensor_of(shape_of(layout, weight_extents(p)), DataType::s8,
                                   data_.weight.data(), device);
        weight_.quantization = Quantization(data_.weight_scales, 0, device);
        output_.values = Tensor(p.output_shape(), problem.output_type, device);
        if (data_.integer()) {
            input_.quantization = Quantization(data_.input_scale, data_.input_zero_point);
        }
        if (size_of(problem.output_type) == 1) {
            output_.quantization = Quantization(data_.output_scale, data_.output_zero_point);
        }
    }

    double work() const override { return data_.problem.conv.operations(); }
    std::map<std::string, Shape> shapes() const override {
        return {{"input", input_.values.shape()},
                {"weight", weight_.values.shape()},
                {"output", output_.values.shape()}};
    }

    Check check() override {
        poison(output_.values);
        run(1);
        const Tensor host = output_.values.to(Device::cpu());
        return reference_.check(bytes_of(host));
    }

    void run(int count) override {
        const Conv2dOptions &options = data_.problem.conv.options;
        for (int i = 0; i < count; ++i) {
            if (!used()) {
                quantized_conv2d(input_, weight_, {}, output_, options);
            } else {
                quantized_conv2d_with(*used(), input_, weight_, {}, output_, options);
            }
        }
        settings_.device.synchronize();
    }

    std::vector<Contestant> peers() override {
        Peers all = hk_f32_conv2d(data_, settings_.device);
        if (settings_.device.is_cpu()) {
            for (auto make : {onednn_quantized_conv2d, onnxruntime_quantized_conv2d}) {
                for (auto &made : make(data_, settings_.threads)) all.push_back(std::move(made));
            }
        }
        return right_ones(std::move(all), [this](const Outputs &outputs) {
            return reference_.check(outputs[0].data()).failure.empty();
        });
    }

private:
    Settings settings_;
    QuantizedConv2dData data_;
    QuantizedConv2dReference reference_;
    QuantizedTensor input_, weight_, output_;
};

// Rows of type u8 take inputs of s8 too, and make what has their width.
bool serves(const KernelInfo &kernel, const Settings &settings) {
    const DataType type = settings.type == DataType::s8 ? DataType::u8 : settings.type;
    if (kernel.type != type || kernel.layout != settings.layout ||
        kernel.device != settings.device.type()) {
        return false;
    }
    return std::all_of(kernel.where.begin(), kernel.where.end(), [&](const Constraint &condition) {
        return std::string_view(condition.field) != "output_bytes" ||
               condition.value == size_of(settings.output_type);
    });
}

std::vector<const KernelInfo *> rows(const Settings &settings) {
    std::vector<const KernelInfo *> result;
    for (const KernelInfo &kernel : quantized_conv2d_kernels()) {
        if (serves(kernel, settings)) result.push_back(&kernel);
    }
    return result;
}

std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) {
    ConvKernels kernels{"fwd", kind_of, rows(settings), {}, {}};
    const auto problem = [settings](const ConvShape &shape) {
        // The shapes are those of any type; a convolution of bytes is not conv2d's to check.
        QuantizedConv2dProblem result{shape.problem(DataType::f32, settings.layout),
                                      settings.output_type};
        result.conv.type = settings.type;
        return result;
    };
    kernels.select = [=, limits = limits_of(settings)](const ConvShape &shape) {
        return select_quantized_conv2d(problem(shape), settings.device.type(), limits).kernel;
    };
    kernels.prepare = [=](const ConvShape &shape, const KernelInfo *selected, const Settings &how) {
        return std::make_unique<QuantizedConv2dCase>(problem(shape), selected, how);
    };
    return conv_cases(kernels, list, settings);
}

std::vector<PeerLibrary> peers(const Settings &settings) {
    std::vector<PeerLibrary> result;
    const bool integer = settings.type != DataType::f32;
    if (!integer) result.push_back({"", {"hk f32"}});
    if (!settings.device.is_cpu()) return result;
    if (integer && !onednn_version().empty()) {
        result.push_back({onednn_version(), {"oneDNN", "oneDNN blocked", "oneDNN plain weights"}});
        // Bytes have no layout that it likes better than nhwc.
        if (settings.layout == Layout::nhwc) std::erase(result.back().names, "oneDNN blocked");
    }
    if (!onnxruntime_version().empty()) result.push_back({onnxruntime_version(), {"ONNX Runtime"}});
    return result;
}

std::vector<DataType> output_types(DataType input) {
    if (input == DataType::u8) return {DataType::u8, DataType::s8, DataType::f32, DataType::s32};
    if (input == DataType::s8) return {DataType::s8, DataType::u8, DataType::f32, DataType::s32};
    return {DataType::f32, DataType::u8, DataType::s8};
}

}  // namespace

Family quantized_conv2d_family() {
    return {"quantized_conv2d",
            {DataType::u8, DataType::s8, DataType::f32},
            conv_case_lists(),
            {"resnet50", "mobilenetv2", "resnext50", "shape_case"},
            cases,
            rows,
            peers,
            arithmetic,
            {Layout::nhwc, Layout::nchw},
            output_types};
}

}  // namespace hk::bench
