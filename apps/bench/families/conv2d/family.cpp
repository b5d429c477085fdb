// Convolution, forward, without bias, residual or activation, and beside it with the last two. In
// lists the filter is prepared before, as other libraries do it.

#include <algorithm>

#include "data.h"
#include "families/convolution/convolution.h"
#include "peers/conv2d_peer.h"
#include "tests/reference/elements.h"

namespace hk::bench {

namespace {

class Conv2d : public Convolution {
public:
    std::vector<Field> fields() override {
        std::vector<Field> all = Convolution::fields();
        all.push_back(not_in_lists(
            field("in_place", in_place_, "the output takes the residual's storage over")));
        all.push_back(
            field("prepared_filter", prepared_, "the weight is prepared before the call"));
        all.push_back(not_in_lists(field("direct", direct_, "no Winograd")));
        all.push_back(not_in_lists(
            field("allow_tf32", tf32_, "products of f32 may be of operands cut off to TF32")));
        return all;
    }

    void prepare(Layout written) override {
        Convolution::prepare(written);
        problem_.in_place = in_place_;
        problem_.prepared_filter = prepared_;
        problem_.options.direct = direct_;
        problem_.options.allow_tf32 = tf32_ || settings().allow_tf32;
    }

    std::span<const KernelInfo> kernels() const override { return conv2d_kernels(); }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return select_conv2d(conv(), device, limits, explain);
    }

    bool serves(const KernelInfo &kernel) const override {
        return Problem::serves(kernel) || takes_copies(kernel);
    }

    std::string note() const override {
        return settings().layout == Layout::nchw
                   ? "; on a CPU a row of nhwc computes it of copies in that layout"
                   : "";
    }

    std::vector<Operand> operands() const override {
        return {{"input", type(), input_shape(conv())},
                {"weight", type(), weight_shape(conv())},
                {"output", type(), conv().output_shape(), Operand::Use::written}};
    }

    // What TF32 has, too.
    int bits() const override { return conv().options.allow_tf32 ? 9 : Convolution::bits(); }

    void bind(const Tensors &tensors) override {
        Convolution::bind(tensors);
        filter_ = prepared_ ? prepare_filter(tensor(1)) : Filter(tensor(1));
    }

    void run(const KernelInfo *row) override {
        run(row, wants_plain(row) ? Filter(tensor(1)) : *filter_);
    }

    Judge judge(const Tensors &host) const override {
        const Conv2dProblem &p = conv();
        const auto rows = reference::Rows::sampled(p.batch * p.output_height() * p.output_width(),
                                                   p.operations() / 2);
        const std::vector<double> input =
            reference::read(reference::channels_last(host[0], layout()));
        const std::vector<double> weight = reference::read_filters(host[1], layout());
        auto sums = reference::conv2d_sums(p, input, weight, rows);
        if (p.options.allow_tf32) sums.terms = reference::terms_in_tf32(sums.terms);
        auto by_winograd = sums;
        reference::bound_by_winograd(p, input, reference::magnitudes_of_filters(p, weight),
                                     by_winograd);
        const auto judge = [&](reference::Conv2dResult of_rows) {
            return judge_of({{"output", expected_of(type(), std::move(of_rows), rows,
                                                    channels_last(layout()))}});
        };
        return [direct = judge(sums), winograd = judge(by_winograd)](const Tensors &results,
                                                                     const KernelInfo *row) {
            return (reference::is_winograd(row) ? winograd : direct)(results, row);
        };
    }

    Peers libraries(const Tensors &host) const override {
        if (!settings().device.is_cpu()) return {};
        const Conv2dData data{conv(), bytes_of(host[0]), bytes_of(host[1])};
        Peers all = onednn_conv2d(data, settings().threads);
        for (auto *library : {onnxruntime_conv2d, ncnn_conv2d}) {
            for (auto &made : library(data, settings().threads)) all.push_back(std::move(made));
        }
        return all;
    }

    std::vector<Contestant> variants(const Tensors &) override {
        if (!settings().device.is_cpu()) return {};
        const auto plain = [this](int count) {
            for (int i = 0; i < count; ++i) run(nullptr, tensor(1));
        };
        return {{"hk plain", "filter not prepared", false, plain, nullptr},
                {"hk residual", "residual and relu", false, fused(Activation::relu, true), nullptr},
                {"hk silu", "silu", false, fused(Activation::silu, false), nullptr}};
    }

private:
    // With what networks have after a convolution.
    Work fused(Activation activation, bool with_residual) {
        Conv2dOptions options = conv().options;
        options.activation = activation;
        const Tensor output(conv().output_shape(), type());
        const Tensor residual = with_residual ? Tensor::zeros(output.shape(), type()) : Tensor();
        return [=, this](int count) {
            for (int i = 0; i < count; ++i)
                conv2d(tensor(0), *filter_, Tensor(), residual, output, options);
        };
    }

    void run(const KernelInfo *row, const Filter &weight) const {
        const Tensor none;
        if (row) {
            conv2d_with(*row, tensor(0), weight, none, none, tensor(2), conv().options);
        } else {
            conv2d(tensor(0), weight, none, none, tensor(2), conv().options);
        }
    }

    bool in_place_ = false, prepared_ = false, direct_ = false, tf32_ = false;
    std::optional<Filter> filter_;
};

// What packs the filters of a CPU's rows: for a 1x1 of nchw that of nhwc.
std::vector<const KernelInfo *> helpers(const Settings &settings) {
    std::vector<const KernelInfo *> result;
    for (const KernelInfo &kernel : conv2d_filter_kernels()) {
        if (kernel.device == settings.device.type() && kernel.type == settings.type)
            result.push_back(&kernel);
    }
    return result;
}

std::vector<PeerLibrary> peers(const Settings &settings) {
    if (!settings.device.is_cpu()) return {};
    std::vector<PeerLibrary> result = {{onednn_version(), {"oneDNN", "oneDNN blocked"}},
                                       {onnxruntime_version(), {"ONNX Runtime"}}};
    if (settings.type == DataType::f32) result.push_back({ncnn_version(), {"ncnn"}});
    std::erase_if(result, [](const PeerLibrary &library) { return library.version.empty(); });
    result.push_back({"", {"hk plain", "hk residual", "hk silu"}});
    return result;
}

}  // namespace

std::vector<Family> conv2d_families() {
    Family family = convolution_family(
        "conv2d", "Convolution, forward", [] { return std::make_unique<Conv2d>(); }, "fwd");
    family.usual.insert(family.usual.end(), {"conv_training", "shape_case"});
    family.peers = peers;
    family.helpers = helpers;
    family.variants = {{"prepared_filter", {"1"}}};
    return {family};
}

}  // namespace hk::bench
