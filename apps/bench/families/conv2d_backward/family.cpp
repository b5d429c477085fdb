// The gradients of a convolution's input and of its weight, which overwrite what was there.

#include "hk/conv2d_backward.h"

#include <algorithm>

#include "conv2d_backward/operands.h"
#include "data.h"
#include "families/convolution/convolution.h"
#include "hk/error.h"
#include "peers/conv2d_backward_peer.h"
#include "tests/conv2d_backward/reference.h"
#include "tests/reference/elements.h"

namespace hk::bench {

namespace {

// What differs between the two.
struct Pass {
    Gradient gradient;
    const char *name, *description, *in_lists;
    void (*call)(const Tensor &, const Tensor &, const Tensor &, const Conv2dOptions &, float,
                 const Stream &);
    decltype(&conv2d_backward_data_with) call_with;
    std::span<const KernelInfo> (*kernels)();
    decltype(&select_conv2d_backward_data) select;
};

const Pass data_pass = {Gradient::input,
                        "conv2d_backward_data",
                        "Gradient of a convolution's input",
                        "bwd_data",
                        conv2d_backward_data,
                        conv2d_backward_data_with,
                        conv2d_backward_data_kernels,
                        select_conv2d_backward_data};
const Pass weight_pass = {Gradient::weight,
                          "conv2d_backward_weight",
                          "Gradient of a convolution's weight",
                          "bwd_weight",
                          conv2d_backward_weight,
                          conv2d_backward_weight_with,
                          conv2d_backward_weight_kernels,
                          select_conv2d_backward_weight};

class Conv2dBackward : public Convolution {
public:
    explicit Conv2dBackward(const Pass &pass) : pass_(pass) {}

    std::vector<Field> fields() override {
        std::vector<Field> all = Convolution::fields();
        if (of_input()) {
            all.push_back(not_in_lists(field("formulation", formulation_,
                                             {"any", "flip_expand", "expand_flip"},
                                             "of the graph, rows that are written so")));
            all.push_back(not_in_lists(field("direct", direct_, "no Winograd")));
        }
        all.push_back(not_in_lists(
            field("allow_tf32", tf32_, "products of f32 may be of operands cut off to TF32")));
        return all;
    }

    void prepare(Layout written) override {
        Convolution::prepare(written);
        problem_.options.direct = direct_;
        problem_.options.allow_tf32 = tf32_ || settings().allow_tf32;
        for (const KernelInfo &kernel : pass_.kernels()) {
            if (std::string_view(kernel.algorithm).starts_with(formulation_))
                of_formulation_.push_back(kernel);
        }
    }

    // What has a speed of its own: sums with few products a channel, and the rest.
    std::string kind() const override {
        const Conv2dProblem p = sizes();
        const int64_t groups = p.options.groups;
        if (groups > 1 && groups == p.channels) {
            return p.kernel_height * p.kernel_width <= 9 ? "depthwise, up to 3x3"
                                                         : "depthwise, larger";
        }
        return groups > 1 && p.channels / groups < 8 ? "grouped, below 8 channels"
                                                     : "dense, and grouped from 8 channels";
    }

    std::span<const KernelInfo> kernels() const override {
        return formulation_ == "any" ? pass_.kernels() : of_formulation_;
    }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        if (formulation_ == "any") return pass_.select(conv(), device, limits, explain);
        const Conv2dProblem problem = detail::normalised(conv(), detail::normalise_backward_data);
        return detail::select(of_formulation_, detail::conv2d_fields(problem, {device, limits}),
                              device, limits, explain);
    }

    std::vector<Operand> operands() const override {
        const Shape shape = of_input() ? input_shape(conv()) : weight_shape(conv());
        return {{"output_gradient", type(), conv().output_shape()},
                {of_input() ? "weight" : "input", type(),
                 of_input() ? weight_shape(conv()) : input_shape(conv())},
                {of_input() ? "input_gradient" : "weight_gradient", type(), shape,
                 Operand::Use::written}};
    }
    // Multiples of 1/16, whose sums, below 2^16, are exact in f32 in any order: a weight's element
    // sums so many products that a bound for any order would let one that is left out pass.
    int bits() const override { return 5; }

    void run(const KernelInfo *row) override {
        if (row) {
            pass_.call_with(*row, tensor(0), tensor(1), tensor(2), conv().options, 0, {});
        } else {
            pass_.call(tensor(0), tensor(1), tensor(2), conv().options, 0, {});
        }
    }

    void run_beside() override {
        if (of_input()) return;
        const Tensor bias({conv().filters}, type(), settings().device);
        conv2d_backward_bias(tensor(0), bias, layout());
    }

    Judge judge(const Tensors &host) const override {
        const Conv2dProblem &p = conv();
        const auto read = [&](const Tensor &tensor) {
            return reference::read(reference::channels_last(tensor, layout()));
        };
        const int64_t all = of_input()
                                ? p.batch * p.height * p.width
                                : p.kernel_height * p.kernel_width * p.channels / p.options.groups;
        const auto rows = reference::Rows::sampled(all, p.operations() / 2);
        const std::vector<double> gradient = read(host[0]);
        std::vector<int> order = channels_last(layout());
        if (of_input()) {
            const std::vector<double> weight = reference::read_filters(host[1], layout());
            const auto sums = reference::conv2d_backward_data(p, gradient, weight, rows);
            auto by_winograd = sums;
            reference::bound_by_winograd(reference::convolution_of_gradient(p), gradient,
                                         reference::magnitudes_of_channels(p, weight), by_winograd);
            const auto judge = [&](reference::Conv2dResult of_rows, Sums are) {
                return judge_of({{"input_gradient",
                                  expected_of(type(), std::move(of_rows), rows, order, are)}});
            };
            return
                [direct = judge(sums, Sums::exact), winograd = judge(by_winograd, Sums::rounded)](
                    const Tensors &results, const KernelInfo *row) {
                    return (reference::is_winograd(row) ? winograd : direct)(results, row);
                };
        }
        auto sums = reference::conv2d_backward_weight(p, gradient, read(host[1]), rows);
        std::rotate(order.begin(), order.begin() + 1, order.end());  // k, r, s, c to r, s, c, k
        return judge_of(
            {{"weight_gradient", expected_of(type(), std::move(sums), rows, order, Sums::exact)}});
    }

    Peers libraries(const Tensors &host) const override {
        if (!settings().device.is_cpu()) return {};
        return onednn_gradient({conv(), pass_.gradient, bytes_of(host[0]), bytes_of(host[1])},
                               settings().threads);
    }

    bool serves(const KernelInfo &kernel) const override {
        return Problem::serves(kernel) || takes_copies(kernel);
    }

    std::string note() const override {
        std::string text;
        if (of_input() && conv().options.stride != std::array<int64_t, 2>{1, 1})
            text =
                "; on a CPU, and by tensor cores, its stride phases are calls of their own, shown "
                "is the largest";
        if (settings().layout == Layout::nchw)
            text += "; on a CPU a row of nhwc computes it of copies in that layout";
        return formulation_ == "any" ? text : text + ", written as " + formulation_;
    }

private:
    bool of_input() const { return pass_.gradient == Gradient::input; }

    bool direct_ = false, tf32_ = false;
    const Pass &pass_;
    std::string formulation_ = "any";
    std::vector<KernelInfo> of_formulation_;
};

// What run_beside() calls.
std::vector<const KernelInfo *> bias_rows(const Settings &settings) {
    std::vector<const KernelInfo *> result;
    for (const KernelInfo &kernel : conv2d_backward_bias_kernels()) {
        if (kernel.device == settings.device.type() && kernel.type == settings.type &&
            kernel.layout == settings.layout)
            result.push_back(&kernel);
    }
    return result;
}

std::vector<PeerLibrary> peers(const Settings &settings) {
    if (!settings.device.is_cpu() || onednn_version().empty()) return {};
    return {{onednn_version(), {"oneDNN", "oneDNN reordered"}}};
}

Family family_of(const Pass &pass) {
    Family family = convolution_family(
        pass.name, pass.description, [&pass] { return std::make_unique<Conv2dBackward>(pass); },
        pass.in_lists);
    family.usual.insert(family.usual.end(), {"depthwise", "grouped_case"});
    family.peers = peers;
    if (pass.gradient == Gradient::weight) family.helpers = bias_rows;
    return family;
}

}  // namespace

std::vector<Family> conv2d_backward_families() {
    return {family_of(data_pass), family_of(weight_pass)};
}

}  // namespace hk::bench
