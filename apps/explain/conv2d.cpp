#include "hk/conv2d.h"

#include "flags.h"
#include "verb.h"

namespace hk::explain {

namespace {

class Conv2dVerb : public Verb {
public:
    std::string name() const override { return "conv2d"; }
    std::string description() const override { return "Convolution, forward"; }

    void add_flags(CLI::App &app) override {
        app.add_option("--layout", layout_, "nhwc or nchw")->capture_default_str();
        app.add_option("--type", type_, "f32, f16 or bf16")->capture_default_str();
        app.add_option("--input", input_, "NxHxWxC, or NxCxHxW for nchw")->required();
        app.add_option("--weight", weight_, "KxRxSxC/G, or KxC/GxRxS for nchw")->required();
        app.add_option("--stride", stride_, "both directions, or YxX")->capture_default_str();
        app.add_option("--padding", padding_, "all sides, YxX, or top,bottom,left,right")
            ->capture_default_str();
        app.add_option("--dilation", dilation_, "both directions, or YxX")->capture_default_str();
        app.add_option("--groups", groups_, "groups of channels")->capture_default_str();
    }

    void prepare() override {
        Conv2dOptions options;
        options.layout = layout_of(layout_);
        options.stride = parse_pair("--stride", stride_);
        options.dilation = parse_pair("--dilation", dilation_);
        options.padding = parse_padding(padding_);
        options.groups = groups_;
        problem_ = Conv2dProblem::from_shapes(parse_shape("--input", input_, 4),
                                              parse_shape("--weight", weight_, 4),
                                              data_type_of(type_), options);
    }

    std::string problem() const override {
        return "conv2d " + type_ + " " + layout_ + ": input " +
               to_string(parse_shape("--input", input_, 4)) + ", weight " +
               to_string(parse_shape("--weight", weight_, 4)) + ", output " +
               to_string(problem_.output_shape());
    }
    DataType type() const override { return problem_.type; }
    Layout layout() const override { return problem_.options.layout; }
    std::span<const KernelInfo> kernels() const override { return conv2d_kernels(); }

    Selection select(const Target &target) const override {
        return select_conv2d(problem_, target.type, target.limits, true);
    }

    void launch(const KernelInfo &kernel) const override {
        uintptr_t address = uintptr_t{1} << 32;
        const auto tensor = [&](Shape shape) {
            const Tensor result = Tensor::borrow(reinterpret_cast<void *>(address), problem_.type,
                                                 std::move(shape), {}, Device::cuda());
            address += static_cast<uintptr_t>(result.elements() * size_of(problem_.type) + 511) /
                       512 * 512;
            return result;
        };
        const Tensor input = tensor(parse_shape("--input", input_, 4));
        const Tensor weight = tensor(parse_shape("--weight", weight_, 4));
        const Tensor output = tensor(problem_.output_shape());
        conv2d_with(kernel, input, weight, {}, {}, output, problem_.options);
    }

private:
    std::string layout_ = "nhwc", type_ = "f32", input_, weight_;
    std::string stride_ = "1", padding_ = "0", dilation_ = "1";
    int64_t groups_ = 1;
    Conv2dProblem problem_;
};

}  // namespace

std::unique_ptr<Verb> conv2d_verb() { return std::make_unique<Conv2dVerb>(); }

}  // namespace hk::explain
