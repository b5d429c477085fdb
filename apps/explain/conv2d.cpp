#include "hk/conv2d.h"

#include "conv_flags.h"
#include "verb.h"

namespace hk::explain {

namespace {

class Conv2dVerb : public Verb {
public:
    std::string name() const override { return "conv2d"; }
    std::string description() const override { return "Convolution, forward"; }

    void add_flags(program::Flags &flags) override {
        flags_.add_to(flags);
        flags.add("--type", type_, "f32, f16 or bf16").show_default();
        flags.add("--in-place", in_place_, "The output takes the residual's storage over");
        flags.add("--prepared-filter", prepared_, "The weight is prepared before the call");
    }

    void prepare() override {
        problem_ = Conv2dProblem::from_shapes(flags_.input(), flags_.weight(), data_type_of(type_),
                                              flags_.options());
        problem_.in_place = in_place_;
        problem_.prepared_filter = prepared_;
    }

    std::string problem() const override { return "conv2d " + flags_.words(type_, problem_); }
    DataType type() const override { return problem_.type; }
    Layout layout() const override { return problem_.options.layout; }
    std::span<const KernelInfo> kernels() const override { return conv2d_kernels(); }

    Selection select(const Target &target) const override {
        return select_conv2d(problem_, target.type, target.limits, true);
    }

    void launch(const KernelInfo &kernel) const override {
        MadeUpTensors tensors;
        const Tensor input = tensors.next(problem_.type, flags_.input());
        const Tensor weight = tensors.next(problem_.type, flags_.weight());
        const Tensor output = tensors.next(problem_.type, problem_.output_shape());
        conv2d_with(kernel, input, weight, {}, {}, output, problem_.options);
    }

private:
    ConvFlags flags_;
    std::string type_ = "f32";
    bool in_place_ = false, prepared_ = false;
    Conv2dProblem problem_;
};

}  // namespace

std::unique_ptr<Verb> conv2d_verb() { return std::make_unique<Conv2dVerb>(); }

}  // namespace hk::explain
