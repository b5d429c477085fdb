#include "hk/softmax_cross_entropy.h"

#include "flags.h"
#include "hk/error.h"
#include "verb.h"

namespace hk::explain {

namespace {

class SoftmaxCrossEntropyVerb : public Verb {
public:
    std::string name() const override { return "softmax_cross_entropy"; }
    std::string description() const override {
        return "The loss of rows of logits, and its gradient";
    }

    void add_flags(program::Flags &flags) override {
        flags.add("--type", type_, "f32, f16 or bf16").show_default();
        flags.add("--input", input_, "the logits, rows by classes: 256x1000").required();
    }

    void prepare() override {
        shape_ = parse_shape("--input", input_, 2);
        data_type_ = data_type_of(type_);
        if (shape_[1] < 1) throw InvalidArgument("--input: \"" + input_ + "\" has no classes");
    }

    std::string problem() const override {
        return name() + " " + type_ + ": " + std::to_string(shape_[0]) + " rows of " +
               std::to_string(shape_[1]) + " classes";
    }
    DataType type() const override { return data_type_; }
    Layout layout() const override { return Layout::any; }
    std::span<const KernelInfo> kernels() const override { return softmax_cross_entropy_kernels(); }

    Selection select(const Target &target) const override {
        return select_softmax_cross_entropy(shape_[0], shape_[1], data_type_, target.type,
                                            target.limits, true);
    }

    void launch(const KernelInfo &kernel) const override {
        MadeUpTensors tensors;
        const Tensor logits = tensors.next(data_type_, shape_);
        const Tensor labels = tensors.next(DataType::s32, {shape_[0]});
        const Tensor loss = tensors.next(DataType::f32, {shape_[0]});
        const Tensor gradient = tensors.next(data_type_, shape_);
        softmax_cross_entropy_with(kernel, logits, labels, loss, gradient);
    }

private:
    std::string type_ = "f32", input_;
    Shape shape_;
    DataType data_type_ = DataType::f32;
};

}  // namespace

std::unique_ptr<Verb> softmax_cross_entropy_verb() {
    return std::make_unique<SoftmaxCrossEntropyVerb>();
}

}  // namespace hk::explain
