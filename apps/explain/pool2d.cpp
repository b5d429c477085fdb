// Pooling and its gradient: pool2d, pool2d_backward.

#include "pool2d/problem.h"

#include "flags.h"
#include "hk/error.h"
#include "verb.h"

namespace hk::explain {

namespace {

class Pool2dVerb : public Verb {
public:
    explicit Pool2dVerb(bool backward) : backward_(backward) {}

    std::string name() const override { return backward_ ? "pool2d_backward" : "pool2d"; }
    std::string description() const override {
        return backward_ ? "The gradient of pooling" : "Pooling, the maximum or the mean";
    }

    void add_flags(program::Flags &flags) override {
        flags.add("--type", type_, "f32, f16 or bf16").show_default();
        flags.add("--layout", layout_, "nhwc or nchw").show_default();
        flags.add("--input", input_, "NxHxWxC, or NxCxHxW for nchw").required();
        flags.add("--pooling", pooling_, "max or average").show_default();
        flags.add("--kernel", kernel_, "both directions, or YxX").show_default();
        flags.add("--stride", stride_, "both directions, or YxX").show_default();
        flags.add("--padding", padding_, "all sides, YxX, or top,bottom,left,right").show_default();
    }

    void prepare() override {
        if (pooling_ != "max" && pooling_ != "average") {
            throw InvalidArgument("--pooling: \"" + pooling_ + "\" is not max or average");
        }
        shape_ = parse_shape("--input", input_, 4);
        Pool2dOptions options;
        options.layout = layout_of(layout_);
        options.pooling = pooling_ == "max" ? Pooling::max : Pooling::average;
        options.kernel = parse_pair("--kernel", kernel_);
        options.stride = parse_pair("--stride", stride_);
        options.padding = parse_padding(padding_);
        problem_ = Pool2dProblem::from_shape(shape_, data_type_of(type_), options);
    }

    std::string problem() const override {
        return detail::to_string(problem_, name().c_str()) + ", output " +
               hk::to_string(problem_.output_shape());
    }
    DataType type() const override { return problem_.type; }
    Layout layout() const override { return problem_.options.layout; }
    std::span<const KernelInfo> kernels() const override {
        return backward_ ? pool2d_backward_kernels() : pool2d_kernels();
    }

    Selection select(const Target &target) const override {
        const auto select = backward_ ? select_pool2d_backward : select_pool2d;
        return select(problem_, target.type, target.limits, true);
    }

    void launch(const KernelInfo &kernel) const override {
        MadeUpTensors tensors;
        const Tensor input = tensors.next(problem_.type, shape_);
        const Tensor output = tensors.next(problem_.type, problem_.output_shape());
        if (!backward_) return pool2d_with(kernel, input, output, problem_.options);
        const Tensor output_gradient = tensors.next(problem_.type, problem_.output_shape());
        const Tensor input_gradient = tensors.next(problem_.type, shape_);
        pool2d_backward_with(kernel, output_gradient, input, output, input_gradient,
                             problem_.options);
    }

private:
    const bool backward_;
    std::string type_ = "f32", layout_ = "nhwc", input_, pooling_ = "max";
    std::string kernel_ = "2", stride_ = "2", padding_ = "0";
    Shape shape_;
    Pool2dProblem problem_;
};

}  // namespace

std::unique_ptr<Verb> pool2d_verb() { return std::make_unique<Pool2dVerb>(false); }
std::unique_ptr<Verb> pool2d_backward_verb() { return std::make_unique<Pool2dVerb>(true); }

}  // namespace hk::explain
