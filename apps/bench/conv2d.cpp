// The family conv2d in the benchmark: forward, without bias, residual or activation. The filter is
// prepared before, as peers do it.

#include <algorithm>

#include "conv2d_check.h"
#include "conv2d_data.h"
#include "conv_cases.h"
#include "hk/conv2d.h"
#include "peers/conv2d_peer.h"

namespace hk::bench {

namespace {

class Conv2dCase : public Case {
public:
    Conv2dCase(const Conv2dProblem &problem, const KernelInfo *selected, const Settings &settings)
        : Case(selected),
          problem_(problem),
          settings_(settings),
          input_(random_data(shape_of(layout(), input_extents(problem)), problem.type, 1)),
          weight_(random_data(shape_of(layout(), weight_extents(problem)), problem.type, 2)),
          reference_(problem, input_.values, weight_.values),
          device_input_(input_.tensor.to(settings.device)),
          device_weight_(weight_.tensor.to(settings.device)),
          filter_(prepare_filter(device_weight_)),
          output_(problem.output_shape(), problem.type, settings.device) {}

    double work() const override { return problem_.operations(); }
    std::map<std::string, Shape> shapes() const override {
        return {{"input", input_.tensor.shape()},
                {"weight", weight_.tensor.shape()},
                {"output", output_.shape()}};
    }

    Check check() override {
        poison(output_);
        run(1);
        const Tensor host = output_.to(Device::cpu());
        return reference_.check(bytes_of(host));
    }

    void run(int count) override { run(wants_plain(used()) ? device_weight_ : filter_, count); }

    std::vector<Contestant> peers() override {
        if (!settings_.device.is_cpu()) return {};
        const Conv2dData data{problem_, bytes_of(input_.tensor), bytes_of(weight_.tensor)};
        Peers all = onednn_conv2d(data, settings_.threads);
        for (auto &made : onnxruntime_conv2d(data, settings_.threads)) {
            all.push_back(std::move(made));
        }
        std::vector<Contestant> result = right_ones(std::move(all), [this](const Outputs &outputs) {
            return reference_.check(outputs[0].data()).failure.empty();
        });
        const auto plain = [this](int count) { run(device_weight_, count); };
        result.push_back({"hk plain", "filter not prepared", false, plain, nullptr});
        return result;
    }

private:
    static bool wants_plain(const KernelInfo *row) {
        return row && std::ranges::any_of(row->where, [](const Constraint &condition) {
                   return condition.field == std::string_view("prepared") && !holds(condition, 1);
               });
    }

    void run(const Filter &weight, int count) const {
        const Tensor none;
        for (int i = 0; i < count; ++i) {
            if (!used()) {
                conv2d(device_input_, weight, none, none, output_, problem_.options);
            } else {
                conv2d_with(*used(), device_input_, weight, none, none, output_, problem_.options);
            }
        }
        settings_.device.synchronize();
    }

    Layout layout() const { return problem_.options.layout; }

    Conv2dProblem problem_;
    Settings settings_;
    Data input_, weight_;
    Conv2dReference reference_;
    Tensor device_input_, device_weight_;
    Filter filter_;
    Tensor output_;
};

std::vector<const KernelInfo *> rows(const Settings &settings) {
    return rows_of(conv2d_kernels(), settings);
}

// What packs the filters of a CPU's rows: for a 1x1 of nchw that of nhwc.
std::vector<const KernelInfo *> helpers(const Settings &settings) {
    std::vector<const KernelInfo *> result;
    for (const KernelInfo &kernel : conv2d_filter_kernels()) {
        if (kernel.device == settings.device.type() && kernel.type == settings.type)
            result.push_back(&kernel);
    }
    return result;
}

std::vector<CaseInfo> cases(const std::string &list, const Settings &settings) {
    ConvKernels kernels{"fwd", kind_of, rows(settings), {}, {}};
    const auto problem = [settings](const ConvShape &shape) {
        Conv2dProblem problem = shape.problem(settings.type, settings.layout);
        problem.prepared_filter = true;
        return problem;
    };
    kernels.select = [=, limits = limits_of(settings)](const ConvShape &shape) {
        return select_conv2d(problem(shape), settings.device.type(), limits).kernel;
    };
    kernels.prepare = [=](const ConvShape &shape, const KernelInfo *selected, const Settings &how) {
        return std::make_unique<Conv2dCase>(problem(shape), selected, how);
    };
    return conv_cases(kernels, list, settings);
}

std::vector<PeerLibrary> peers(const Settings &settings) {
    if (!settings.device.is_cpu()) return {};
    std::vector<PeerLibrary> result = {{onednn_version(), {"oneDNN", "oneDNN blocked"}},
                                       {onnxruntime_version(), {"ONNX Runtime"}}};
    std::erase_if(result, [](const PeerLibrary &library) { return library.version.empty(); });
    result.push_back({"", {"hk plain"}});
    return result;
}

}  // namespace

Family conv2d_family() {
    return {"conv2d",
            {DataType::f32, DataType::f16, DataType::bf16},
            conv_case_lists(),
            {"resnet50", "mobilenetv2", "resnext50", "conv_training", "shape_case"},
            cases,
            rows,
            peers,
            arithmetic,
            {Layout::nhwc, Layout::nchw},
            {},
            {},
            {},
            helpers};
}

}  // namespace hk::bench
