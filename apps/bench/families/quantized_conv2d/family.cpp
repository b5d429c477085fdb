// Quantised convolution, forward, without bias or activation; a scale of each filter, one of the
// input and the output.

#include "hk/quantized_conv2d.h"

#include <algorithm>
#include <optional>

#include "data.h"
#include "families/convolution/convolution.h"
#include "peers/quantized_conv2d_peer.h"
#include "tests/quantized_conv2d/reference.h"
#include "tests/reference/tolerance.h"

namespace hk::bench {

namespace {

bool is_byte(DataType type) { return size_of(type) == 1; }

class QuantizedConv2d : public Convolution {
public:
    std::vector<Field> fields() override {
        std::vector<Field> all = Convolution::fields();
        all.push_back(
            field("prepared_filter", prepared_, "the weight is prepared before the call"));
        return all;
    }

    void prepare(Layout written) override {
        Convolution::prepare(written);
        problem_.prepared_filter = prepared_;
    }

    std::span<const KernelInfo> kernels() const override { return quantized_conv2d_kernels(); }
    // Rows of type u8 take inputs of s8 too, and make what has their width.
    bool serves(const KernelInfo &kernel) const override {
        const DataType rows = type() == DataType::s8 ? DataType::u8 : type();
        return kernel.type == rows && kernel.layout == layout() &&
               std::ranges::all_of(kernel.where, [&](const Constraint &condition) {
                   return std::string_view(condition.field) != "output_bytes" ||
                          condition.value == size_of(output_type());
               });
    }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return select_quantized_conv2d({conv(), output_type()}, device, limits, explain);
    }

    std::vector<Operand> operands() const override {
        return {{"input", type(), input_shape(conv())},
                {"weight", DataType::s8, weight_shape(conv())},
                {"output", output_type(), conv().output_shape(), Operand::Use::written}};
    }

    Tensors draw() override {
        data_ = random_quantized_conv2d({conv(), output_type()});
        return {tensor_of(input_shape(conv()), type(), data_.input.data()),
                tensor_of(weight_shape(conv()), DataType::s8, data_.weight.data()), Tensor()};
    }

    void bind(const Tensors &tensors) override {
        Convolution::bind(tensors);
        call_ = quantized(tensors);
        if (prepared_)
            filter_ = prepare_filter(call_.weight);
        else
            filter_.emplace(call_.weight);
    }

    void run(const KernelInfo *row) override {
        run(row, wants_plain(row) ? QuantizedFilter(call_.weight) : *filter_);
    }

    Judge judge(const Tensors &host) const override {
        const Conv2dProblem &p = conv();
        const DataType made = output_type();
        Expected expected;
        expected.rows = reference::Rows::sampled(p.batch * p.output_height() * p.output_width(),
                                                 p.operations() / 2);
        expected.order = channels_last(layout());
        const Call call = quantized(host);
        const auto result = reference::quantized_conv2d(
            call.input, call.weight, {}, call.output.quantization, p.options, expected.rows);
        for (size_t i = 0; i < result.value.size(); ++i) {
            const double v = result.value[i];
            // Sums of integers are exact, and rounded a few times afterwards; others with each
            // term.
            const double bound = data_.integer()
                                     ? reference::tolerance(DataType::f32, 4, v, std::abs(v))
                                     : reference::tolerance(DataType::f32, result.sum.terms + 4, v,
                                                            result.magnitude[i]);
            if (made == DataType::s32) {
                expected.values.push_back(reference::wrapped(result.sum.value[i]));
                expected.tolerances.push_back(0);
            } else if (is_byte(made)) {
                // The nearest integer, and where v lies between two within the bound either.
                const double least = made == DataType::u8 ? 0 : -128;
                expected.values.push_back(
                    std::clamp(v + data_.output_zero_point, least, least + 255));
                expected.tolerances.push_back(0.5 + bound);
            } else {
                expected.values.push_back(v);
                expected.tolerances.push_back(bound);
            }
        }
        if (is_byte(made)) expected.rounding = 0.5;
        return judge_of({{"output", expected}});
    }

    std::vector<Contestant> variants(const Tensors &) override {
        if (!settings().device.is_cpu()) return {};
        const auto plain = [this](int count) {
            for (int i = 0; i < count; ++i) run(nullptr, call_.weight);
        };
        return {{"hk plain", "filter not prepared", false, plain, nullptr}};
    }

    Peers libraries(const Tensors &) const override {
        Peers all = hk_f32_conv2d(data_, settings().device);
        if (!settings().device.is_cpu()) return all;
        for (auto make : {onednn_quantized_conv2d, onnxruntime_quantized_conv2d}) {
            for (auto &made : make(data_, settings().threads)) all.push_back(std::move(made));
        }
        return all;
    }

private:
    struct Call {
        QuantizedTensor input, weight, output;
    };

    void run(const KernelInfo *row, const QuantizedFilter &weight) const {
        const auto &[input, plain, output] = call_;
        row ? quantized_conv2d_with(*row, input, weight, {}, output, conv().options)
            : quantized_conv2d(input, weight, {}, output, conv().options);
    }

    DataType output_type() const { return settings().output_type; }

    // Scales and zero points are those of the data, where there are data.
    Call quantized(const Tensors &tensors) const {
        const auto of = [](DataType type, float scale, int32_t zero_point) {
            return is_byte(type) ? Quantization(scale, zero_point) : Quantization();
        };
        const Quantization weight = data_.weight_scales.empty()
                                        ? Quantization(1)
                                        : Quantization(data_.weight_scales, 0, tensors[1].device());
        return {{tensors[0], of(type(), data_.input_scale, data_.input_zero_point)},
                {tensors[1], weight},
                {tensors[2], of(output_type(), data_.output_scale, data_.output_zero_point)}};
    }

    bool prepared_ = false;
    QuantizedConv2dData data_;
    Call call_;
    std::optional<QuantizedFilter> filter_;
};

// What packs the filters of a CPU's rows.
std::vector<const KernelInfo *> helpers(const Settings &settings) {
    std::vector<const KernelInfo *> result;
    for (const KernelInfo &kernel : quantized_conv2d_filter_kernels()) {
        if (kernel.device == settings.device.type()) result.push_back(&kernel);
    }
    return result;
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
    result.push_back({"", {"hk plain"}});
    return result;
}

std::vector<DataType> output_types(DataType input) {
    if (input == DataType::u8) return {DataType::u8, DataType::s8, DataType::f32, DataType::s32};
    if (input == DataType::s8) return {DataType::s8, DataType::u8, DataType::f32, DataType::s32};
    return {DataType::f32, DataType::u8, DataType::s8};
}

}  // namespace

std::vector<Family> quantized_conv2d_families() {
    Family family = convolution_family(
        "quantized_conv2d", "Convolution of a quantised weight",
        [] { return std::make_unique<QuantizedConv2d>(); }, "fwd");
    family.usual.emplace_back("shape_case");
    family.helpers = helpers;
    family.variants = {{"prepared_filter", {"1"}}};
    family.peers = peers;
    family.types = {DataType::u8, DataType::s8, DataType::f32};
    family.output_types = output_types;
    return {family};
}

}  // namespace hk::bench
