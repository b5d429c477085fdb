// The families that work element by element: activate, activate_backward, sgd.

#include "flags.h"

#include "hk/activation.h"
#include "hk/error.h"
#include "hk/sgd.h"
#include "verb.h"

namespace hk::explain {

namespace {

class ElementwiseVerb : public Verb {
public:
    ElementwiseVerb(std::string name, std::string description)
        : name_(std::move(name)), description_(std::move(description)) {}

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }

    void add_flags(program::Flags &flags) override {
        flags.add("--type", type_, "f32, f16 or bf16").show_default();
        flags.add("--input", input_, "extents, as 64x56x56x64").required();
        flags
            .add("--elements", elements_,
                 "packed, adjacent (runs of elements next to each other) or apart")
            .show_default();
        if (name_ == "sgd") {
            flags.add("--momentum", momentum_, "0: no velocity").show_default();
        }
    }

    void prepare() override {
        if (elements_ != "packed" && elements_ != "adjacent" && elements_ != "apart") {
            throw InvalidArgument("--elements: \"" + elements_ +
                                  "\" is not packed, adjacent or apart");
        }
        shape_ = parse_shape("--input", input_);
        data_type_ = data_type_of(type_);
    }

    std::string problem() const override {
        return name_ + " " + type_ + ": " + to_string(shape_) + ", elements " + elements_ +
               (field("momentum") ? ", momentum " + std::to_string(momentum_) : "");
    }
    DataType type() const override { return data_type_; }
    Layout layout() const override { return Layout::any; }
    std::span<const KernelInfo> kernels() const override {
        if (name_ == "activate") return activate_kernels();
        return name_ == "sgd" ? sgd_kernels() : activate_backward_kernels();
    }

    Selection select(const Target &target) const override {
        return hk::select(
            kernels(), data_type_, Layout::any, target.type, target.limits,
            [this](std::string_view name) { return field(name); }, true);
    }

    int64_t field(std::string_view name) const override {
        if (name == "packed") return elements_ == "packed";
        if (name == "adjacent") return elements_ != "apart";
        return name_ == "sgd" && momentum_ != 0;
    }

    // Packed tensors, which rows of the others take too.
    void launch(const KernelInfo &kernel) const override {
        MadeUpTensors tensors;
        const Tensor a = tensors.next(data_type_, shape_), b = tensors.next(data_type_, shape_);
        if (name_ == "activate") return activate_with(kernel, a, b);
        const Tensor c = tensors.next(data_type_, shape_);
        if (name_ == "activate_backward") return activate_backward_with(kernel, a, b, c);
        SgdOptions options;
        options.momentum = momentum_;
        sgd_step_with(kernel, a, b, c, options);
    }

private:
    const std::string name_, description_;
    std::string type_ = "f32", input_, elements_ = "packed";
    float momentum_ = 0.9f;
    Shape shape_;
    DataType data_type_ = DataType::f32;
};

}  // namespace

std::unique_ptr<Verb> activate_verb() {
    return std::make_unique<ElementwiseVerb>("activate", "An activation, element by element");
}
std::unique_ptr<Verb> activate_backward_verb() {
    return std::make_unique<ElementwiseVerb>("activate_backward", "The gradient of an activation");
}
std::unique_ptr<Verb> sgd_verb() {
    return std::make_unique<ElementwiseVerb>("sgd", "A step of stochastic gradient descent");
}

}  // namespace hk::explain
