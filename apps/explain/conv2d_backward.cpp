#include "hk/conv2d_backward.h"

#include "conv2d_backward/operands.h"
#include "conv_flags.h"
#include "hk/error.h"
#include "verb.h"

namespace hk::explain {

namespace {

// What the verbs of the gradients differ in. `launch`: output gradient, input and weight, of which
// the one whose gradient it is stands for that.
struct Gradient {
    const char *name, *description;
    std::span<const KernelInfo> (*kernels)();
    Selection (*select)(const Conv2dProblem &, DeviceType, const DeviceLimits &, bool explain);
    void (*launch)(const KernelInfo &, const Tensor &output, const Tensor &input,
                   const Tensor &weight, const Conv2dOptions &);
    bool phases = false;  // of strided problems
};

const Gradient kData{"conv2d_backward_data",
                     "Gradient of a convolution's input",
                     conv2d_backward_data_kernels,
                     select_conv2d_backward_data,
                     [](const KernelInfo &kernel, const Tensor &output, const Tensor &input,
                        const Tensor &weight, const Conv2dOptions &options) {
                         conv2d_backward_data_with(kernel, output, weight, input, options);
                     },
                     true};

const Gradient kWeight{"conv2d_backward_weight", "Gradient of a convolution's weight",
                       conv2d_backward_weight_kernels, select_conv2d_backward_weight,
                       [](const KernelInfo &kernel, const Tensor &output, const Tensor &input,
                          const Tensor &weight, const Conv2dOptions &options) {
                           conv2d_backward_weight_with(kernel, output, input, weight, options);
                       }};

class Conv2dBackwardVerb : public Verb {
public:
    explicit Conv2dBackwardVerb(const Gradient &gradient) : gradient_(gradient) {}

    std::string name() const override { return gradient_.name; }
    std::string description() const override { return gradient_.description; }

    void add_flags(program::Flags &flags) override {
        flags_.add_to(flags);
        flags.add("--type", type_, "f32, f16 or bf16").show_default();
    }

    void prepare() override {
        problem_ = Conv2dProblem::from_shapes(flags_.input(), flags_.weight(), data_type_of(type_),
                                              flags_.options());
    }

    std::string problem() const override {
        std::string words = name() + " " + flags_.words(type_, problem_);
        if (gradient_.phases && problem_.options.stride != std::array<int64_t, 2>{1, 1}) {
            words += "; on a CPU its stride phases are calls of their own, shown is the largest";
        }
        return words;
    }
    DataType type() const override { return problem_.type; }
    Layout layout() const override { return problem_.options.layout; }
    std::span<const KernelInfo> kernels() const override { return gradient_.kernels(); }

    Selection select(const Target &target) const override {
        return gradient_.select(problem_, target.type, target.limits, true);
    }

    void launch(const KernelInfo &kernel) const override {
        MadeUpTensors tensors;
        const Tensor output = tensors.next(problem_.type, problem_.output_shape());
        const Tensor input = tensors.next(problem_.type, flags_.input());
        const Tensor weight = tensors.next(problem_.type, flags_.weight());
        gradient_.launch(kernel, output, input, weight, problem_.options);
    }

protected:
    const Conv2dProblem &conv_problem() const { return problem_; }

private:
    const Gradient &gradient_;
    ConvFlags flags_;
    std::string type_ = "f32";
    Conv2dProblem problem_;
};

// --formulation: of the two ways to write the graph, the rows of one alone.
class Conv2dBackwardDataVerb : public Conv2dBackwardVerb {
public:
    Conv2dBackwardDataVerb() : Conv2dBackwardVerb(kData) {}

    void add_flags(program::Flags &flags) override {
        Conv2dBackwardVerb::add_flags(flags);
        flags.add("--formulation", formulation_,
                  "only rows that are written so: flip_expand or expand_flip");
    }

    void prepare() override {
        Conv2dBackwardVerb::prepare();
        if (formulation_.empty()) return;
        for (const KernelInfo &kernel : Conv2dBackwardVerb::kernels()) {
            if (std::string_view(kernel.algorithm).starts_with(formulation_)) {
                rows_.push_back(kernel);
            }
        }
        if (formulation_ != "flip_expand" && formulation_ != "expand_flip") {
            throw InvalidArgument("--formulation is \"" + formulation_ +
                                  "\", not flip_expand or expand_flip");
        }
    }

    std::string problem() const override {
        return Conv2dBackwardVerb::problem() +
               (formulation_.empty() ? "" : ", written as " + formulation_);
    }

    std::span<const KernelInfo> kernels() const override {
        return formulation_.empty() ? Conv2dBackwardVerb::kernels() : rows_;
    }

    Selection select(const Target &target) const override {
        if (formulation_.empty()) return Conv2dBackwardVerb::select(target);
        const Conv2dProblem problem =
            detail::normalised(conv_problem(), detail::normalise_backward_data);
        return detail::select(rows_, detail::conv2d_fields(problem), target.type, target.limits,
                              true);
    }

private:
    std::string formulation_;
    std::vector<KernelInfo> rows_;
};

}  // namespace

std::unique_ptr<Verb> conv2d_backward_data_verb() {
    return std::make_unique<Conv2dBackwardDataVerb>();
}

std::unique_ptr<Verb> conv2d_backward_weight_verb() {
    return std::make_unique<Conv2dBackwardVerb>(kWeight);
}

}  // namespace hk::explain
