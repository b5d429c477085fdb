// Softmax cross-entropy of packed logits: loss and gradient, the gradient over the logits, or the
// loss alone.

#include "hk/softmax_cross_entropy.h"

#include "check.h"
#include "family.h"
#include "hk/error.h"
#include "peers/memcpy.h"
#include "tests/reference/elements.h"
#include "tests/softmax_cross_entropy/reference.h"

namespace hk::bench {

namespace {

class SoftmaxCrossEntropy : public Problem {
public:
    std::vector<Field> fields() override {
        return {required(field("input", input_, 2, "the logits, rows by classes: 256x1000")),
                field("outputs", outputs_, {"both", "in_place", "loss"},
                      "loss and gradient; in_place: this one over the logits")};
    }
    void prepare(Layout) override {
        if (classes() < 1) throw InvalidArgument("input: \"" + name({}) + "\" has no classes");
    }
    void set_batch(int64_t batch) override { input_[0] = batch; }

    std::string name(std::optional<DataType>) const override {
        return std::to_string(rows()) + "x" + std::to_string(classes()) + "_" + outputs_;
    }
    std::string kind() const override { return outputs_; }

    std::span<const KernelInfo> kernels() const override { return softmax_cross_entropy_kernels(); }
    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return select_softmax_cross_entropy(rows(), classes(), type(), device, limits, explain);
    }

    std::vector<Operand> operands() const override {
        using enum Operand::Use;
        std::vector<Operand> all = {{"labels", DataType::s32, {rows()}},
                                    {"loss", DataType::f32, {rows()}, written},
                                    {"logits", type(), input_, in_place() ? both : read}};
        if (outputs_ == "both") all.push_back({"gradient", type(), input_, written});
        return all;
    }

    // In place again and again the logits are the last gradient, which takes as long.
    void run(const KernelInfo *row) override {
        const Tensor apart = outputs_ == "both" ? tensor(3) : Tensor();
        const Output gradient = in_place() ? inplace(tensor(2)) : Output(apart);
        row ? softmax_cross_entropy_with(*row, tensor(2), tensor(0), tensor(1), gradient)
            : softmax_cross_entropy(tensor(2), tensor(0), tensor(1), gradient);
    }

    Tensors draw() override {
        Tensors host = Problem::draw();
        for (int64_t n = 0; n < rows(); ++n)
            host[0].data<int32_t>()[n] = static_cast<int32_t>(7919 * n % classes());
        return host;
    }

    Judge judge(const Tensors &host) const override {
        const std::vector<double> numbers = reference::read(host[0]);
        const reference::SoftmaxCrossEntropyResult made = reference::softmax_cross_entropy(
            reference::read(host[2]), static_cast<size_t>(classes()),
            {numbers.begin(), numbers.end()}, 1);
        Expected loss{made.loss, {}}, gradient{made.gradient, {}};
        for (const double value : made.loss)
            loss.tolerances.push_back(reference::loss_tolerance(classes(), value));
        for (size_t i = 0; i < made.gradient.size(); ++i) {
            gradient.tolerances.push_back(reference::gradient_tolerance(
                type(), classes(), made.gradient[i], made.probability[i], 1));
        }
        if (outputs_ == "loss") return judge_of({{"loss", loss}});
        return judge_of({{"loss", loss}, {"gradient", gradient}});
    }

    std::vector<Contestant> variants(const Tensors &) override {
        return memcpy_of(work(), settings());
    }

private:
    int64_t rows() const { return input_[0]; }
    int64_t classes() const { return input_[1]; }
    bool in_place() const { return outputs_ == "in_place"; }

    Shape input_;
    std::string outputs_ = "both";
};

}  // namespace

std::vector<Family> softmax_cross_entropy_families() {
    Family family{"softmax_cross_entropy",
                  "The loss of rows of logits, and its gradient",
                  [] { return std::make_unique<SoftmaxCrossEntropy>(); },
                  "softmax_cross_entropy",
                  {"logits"}};
    family.variants = {{"outputs", {"both", "in_place", "loss"}}};
    return {family};
}

}  // namespace hk::bench
