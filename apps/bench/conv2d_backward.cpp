// The families conv2d_backward_data and conv2d_backward_weight in the benchmark: gradients that
// overwrite what was there.

#include "hk/conv2d_backward.h"

#include <algorithm>

#include "conv2d_check.h"
#include "conv2d_data.h"
#include "conv_cases.h"
#include "peers/conv2d_backward_peer.h"

namespace hk::bench {

namespace {

using Call = void (*)(const Tensor &, const Tensor &, const Tensor &, const Conv2dOptions &, float,
                      const Stream &);
using CallWith = void (*)(const KernelInfo &, const Tensor &, const Tensor &, const Tensor &,
                          const Conv2dOptions &, float, const Stream &);

// What differs between the two.
struct Pass {
    Gradient gradient;
    const char *family, *name;  // the name as in lists of shapes
    Call call;
    CallWith call_with;
    std::span<const KernelInfo> (*kernels)();
    Selection (*select)(const Conv2dProblem &, DeviceType, const DeviceLimits &, bool);
};

const Pass data_pass = {Gradient::input,
                        "conv2d_backward_data",
                        "bwd_data",
                        conv2d_backward_data,
                        conv2d_backward_data_with,
                        conv2d_backward_data_kernels,
                        select_conv2d_backward_data};
const Pass weight_pass = {Gradient::weight,
                          "conv2d_backward_weight",
                          "bwd_weight",
                          conv2d_backward_weight,
                          conv2d_backward_weight_with,
                          conv2d_backward_weight_kernels,
                          select_conv2d_backward_weight};

Data random_tensor(const Conv2dProblem &problem, const Place &extents, uint32_t seed) {
    return random_data(shape_of(problem.options.layout, extents), problem.type, seed, 5);
}

class GradientCase : public Case {
public:
    GradientCase(const Pass &pass, const Conv2dProblem &problem, const KernelInfo *selected,
                 const Settings &settings)
        : Case(selected),
          pass_(pass),
          problem_(problem),
          settings_(settings),
          output_gradient_(random_tensor(problem, output_extents(problem), 1)),
          other_(random_tensor(problem,
                               of_input() ? weight_extents(problem) : input_extents(problem), 2)),
          reference_(problem, pass.gradient, output_gradient_.values, other_.values),
          device_output_gradient_(output_gradient_.tensor.to(settings.device)),
          device_other_(other_.tensor.to(settings.device)),
          gradient_(shape_of(problem.options.layout,
                             of_input() ? input_extents(problem) : weight_extents(problem)),
                    problem.type, settings.device) {}

    double work() const override { return problem_.operations(); }
    std::map<std::string, Shape> shapes() const override {
        return {{"output_gradient", output_gradient_.tensor.shape()},
                {of_input() ? "weight" : "input", other_.tensor.shape()},
                {of_input() ? "input_gradient" : "weight_gradient", gradient_.shape()}};
    }

    Check check() override {
        poison(gradient_);
        run(1);
        const Tensor host = gradient_.to(Device::cpu());
        return reference_.check(bytes_of(host));
    }

    void run(int count) override {
        for (int i = 0; i < count; ++i) {
            if (!used()) {
                pass_.call(device_output_gradient_, device_other_, gradient_, problem_.options, 0,
                           {});
            } else {
                pass_.call_with(*used(), device_output_gradient_, device_other_, gradient_,
                                problem_.options, 0, {});
            }
        }
        settings_.device.synchronize();
    }

    std::vector<Contestant> peers() override {
        if (!settings_.device.is_cpu()) return {};
        const GradientData data{problem_, pass_.gradient, bytes_of(output_gradient_.tensor),
                                bytes_of(other_.tensor)};
        return right_ones(onednn_gradient(data, settings_.threads), [this](const Outputs &outputs) {
            return reference_.check(outputs[0].data()).failure.empty();
        });
    }

private:
    bool of_input() const { return pass_.gradient == Gradient::input; }

    const Pass &pass_;
    Conv2dProblem problem_;
    Settings settings_;
    Data output_gradient_, other_;  // the weight, or the input
    GradientReference reference_;
    Tensor device_output_gradient_, device_other_, gradient_;
};

// What has a speed of its own: sums with few products a channel, and the rest.
std::string gradient_kind(const ConvShape &shape) {
    if (shape.groups > 1 && shape.groups == shape.channels) {
        return shape.kernel_height * shape.kernel_width <= 9 ? "depthwise, up to 3x3"
                                                             : "depthwise, larger";
    }
    return shape.groups > 1 && shape.channels / shape.groups < 8
               ? "grouped, below 8 channels"
               : "dense, and grouped from 8 channels";
}

std::vector<CaseInfo> cases(const Pass &pass, const std::string &list, const Settings &settings) {
    ConvKernels kernels{pass.name, gradient_kind, rows_of(pass.kernels(), settings), {}, {}};
    const auto problem = [settings](const ConvShape &shape) {
        return shape.problem(settings.type, settings.layout);
    };
    kernels.select = [=, &pass, limits = limits_of(settings)](const ConvShape &shape) {
        return pass.select(problem(shape), settings.device.type(), limits, false).kernel;
    };
    kernels.prepare = [=, &pass](const ConvShape &shape, const KernelInfo *selected,
                                 const Settings &how) {
        return std::make_unique<GradientCase>(pass, problem(shape), selected, how);
    };
    return conv_cases(kernels, list, settings);
}

std::vector<PeerLibrary> peers(const Settings &settings) {
    if (!settings.device.is_cpu() || onednn_version().empty()) return {};
    return {{onednn_version(), {"oneDNN", "oneDNN reordered"}}};
}

Family family_of(const Pass &pass) {
    return {pass.family,
            {DataType::f32, DataType::f16, DataType::bf16},
            conv_case_lists(),
            {"resnet50", "mobilenetv2", "resnext50", "depthwise", "grouped_case"},
            [&pass](const std::string &list, const Settings &settings) {
                return cases(pass, list, settings);
            },
            [&pass](const Settings &settings) { return rows_of(pass.kernels(), settings); },
            peers,
            arithmetic,
            {Layout::nhwc, Layout::nchw}};
}

}  // namespace

Family conv2d_backward_data_family() { return family_of(data_pass); }
Family conv2d_backward_weight_family() { return family_of(weight_pass); }

}  // namespace hk::bench
