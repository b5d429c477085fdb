#include "hk/quantized_conv2d.h"

#include "conv_flags.h"
#include "verb.h"

namespace hk::explain {

namespace {

class QuantizedConv2dVerb : public Verb {
public:
    std::string name() const override { return "quantized_conv2d"; }
    std::string description() const override { return "Convolution of a quantised weight"; }

    void add_flags(program::Flags &flags) override {
        flags_.add_to(flags);
        flags.add("--type", type_, "of the input: u8, s8 or f32").show_default();
        flags.add("--output-type", output_type_, "f32, u8, s8 or s32").show_default();
    }

    void prepare() override {
        problem_ = QuantizedConv2dProblem::from_shapes(
            flags_.input(), flags_.weight(), data_type_of(type_), data_type_of(output_type_),
            flags_.options());
    }

    std::string problem() const override {
        return "quantized_conv2d " + flags_.words(type_ + " to " + output_type_, problem_.conv);
    }
    // Rows of u8 take s8 too.
    DataType type() const override {
        return problem_.conv.type == DataType::s8 ? DataType::u8 : problem_.conv.type;
    }
    Layout layout() const override { return problem_.conv.options.layout; }
    std::span<const KernelInfo> kernels() const override { return quantized_conv2d_kernels(); }

    Selection select(const Target &target) const override {
        return select_quantized_conv2d(problem_, target.type, target.limits, true);
    }

    void launch(const KernelInfo &kernel) const override {
        const auto quantization = [](DataType type) {
            const bool quantised = type == DataType::u8 || type == DataType::s8;
            return quantised ? Quantization(1) : Quantization();
        };
        const DataType in = problem_.conv.type, out = problem_.output_type;
        MadeUpTensors tensors;
        const Tensor input = tensors.next(in, flags_.input());
        const Tensor weight = tensors.next(DataType::s8, flags_.weight());
        const Tensor output = tensors.next(out, problem_.conv.output_shape());
        quantized_conv2d_with(kernel, {input, quantization(in)}, {weight, Quantization(1)}, {},
                              {output, quantization(out)}, problem_.conv.options);
    }

private:
    ConvFlags flags_;
    std::string type_ = "u8", output_type_ = "f32";
    QuantizedConv2dProblem problem_;
};

}  // namespace

std::unique_ptr<Verb> quantized_conv2d_verb() { return std::make_unique<QuantizedConv2dVerb>(); }

}  // namespace hk::explain
