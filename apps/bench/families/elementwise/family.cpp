// What works element by element: activate, activate_backward and sgd, in bench on packed tensors.

#include <cmath>

#include "check.h"
#include "family.h"
#include "hk/activation.h"
#include "hk/sgd.h"
#include "peers/memcpy.h"
#include "tests/elementwise/reference.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"

namespace hk::bench {

namespace {

class Elementwise : public Problem {
public:
    std::vector<Field> fields() override {
        return {
            required(field("input", shape_, 0, "extents, as 64x56x56x64")),
            not_in_lists(field("elements", elements_, {"aligned", "packed", "adjacent", "apart"},
                               "where they are; aligned: packed, from 16 bytes on; adjacent: "
                               "in runs next to each other"))};
    }
    void prepare(Layout) override {}

    std::string name(std::optional<DataType>) const override {
        int64_t elements = 1;
        for (const int64_t extent : shape_) elements *= extent;
        return kind() + "_" + std::to_string(elements);
    }

    Selection select(DeviceType device, const DeviceLimits &limits, bool explain) const override {
        return hk::select(
            kernels(), type(), Layout::any, device, limits,
            [this](std::string_view name) { return value_of(name); }, explain);
    }
    int64_t value_of(std::string_view name) const override {
        if (name == "aligned") return elements_ == "aligned";
        return name == "packed" ? elements_ == "aligned" || elements_ == "packed"
                                : elements_ != "apart";
    }

    std::vector<Contestant> variants(const Tensors &) override {
        return memcpy_of(work(), settings());
    }

protected:
    Operand operand(const char *name, Operand::Use use = Operand::Use::read) const {
        return {name, type(), shape_, use};
    }

private:
    Shape shape_;
    std::string elements_ = "aligned";
};

class Activate : public Elementwise {
public:
    explicit Activate(bool backward) : backward_(backward) {}

    std::vector<Field> fields() override {
        std::vector<Field> all = Elementwise::fields();
        all.push_back(field("activation", options_.activation,
                            {Activation::relu, Activation::silu, Activation::gelu}, "function"));
        return all;
    }
    std::string kind() const override { return std::string(name_of(options_.activation)); }
    std::span<const KernelInfo> kernels() const override {
        return backward_ ? activate_backward_kernels() : activate_kernels();
    }

    std::vector<Operand> operands() const override {
        if (!backward_) return {operand("input"), operand("output", Operand::Use::written)};
        return {operand("output_gradient"), operand("saved"),
                operand("input_gradient", Operand::Use::written)};
    }

    void run(const KernelInfo *row) override {
        if (backward_) {
            row ? activate_backward_with(*row, tensor(0), tensor(1), tensor(2), options_)
                : activate_backward(tensor(0), tensor(1), tensor(2), options_);
        } else {
            row ? activate_with(*row, tensor(0), tensor(1), options_)
                : activate(tensor(0), tensor(1), options_);
        }
    }

    Judge judge(const Tensors &host) const override {
        const std::vector<double> first = reference::read(host[0]);
        const std::vector<double> saved = backward_ ? reference::read(host[1]) : first;
        Expected expected;
        for (size_t i = 0; i < first.size(); ++i) {
            const double v = saved[i], g = first[i];
            const double value = backward_ ? g * reference::activation_derivative(v, options_)
                                           : reference::activate(v, options_);
            const double magnitude = backward_ ? std::abs(g) * (1 + std::abs(v)) : std::abs(v);
            expected.values.push_back(value);
            expected.tolerances.push_back(
                reference::tolerance(type(), backward_ ? 2 : 1, value, magnitude, options_));
        }
        return judge_of({{operands().back().name, expected}});
    }

private:
    bool backward_;
    ActivationOptions options_;
};

class Sgd : public Elementwise {
public:
    std::vector<Field> fields() override {
        std::vector<Field> all = Elementwise::fields();
        all.push_back(field("momentum", options_.momentum, "0: no velocity"));
        return all;
    }
    std::string kind() const override { return has_momentum() ? "momentum" : "plain"; }
    std::span<const KernelInfo> kernels() const override { return sgd_kernels(); }
    int64_t value_of(std::string_view name) const override {
        return name == "momentum" ? has_momentum() : Elementwise::value_of(name);
    }

    std::vector<Operand> operands() const override {
        std::vector<Operand> all = {operand("parameter", Operand::Use::both), operand("gradient")};
        if (has_momentum()) all.push_back(operand("velocity", Operand::Use::both));
        return all;
    }

    void run(const KernelInfo *row) override {
        const Tensor velocity = has_momentum() ? tensor(2) : Tensor();
        row ? sgd_step_with(*row, tensor(0), velocity, tensor(1), options())
            : sgd_step(tensor(0), velocity, tensor(1), options());
    }

    Judge judge(const Tensors &host) const override {
        const std::vector<double> p = reference::read(host[0]), g = reference::read(host[1]);
        const std::vector<double> v =
            has_momentum() ? reference::read(host[2]) : std::vector<double>(p.size());
        Expected parameter, velocity;
        const auto add = [&](Expected &to, double value, double magnitude) {
            to.values.push_back(value);
            to.tolerances.push_back(reference::tolerance(type(), 6, value, magnitude));
        };
        for (size_t i = 0; i < p.size(); ++i) {
            const reference::SgdStep step = reference::sgd_step(p[i], v[i], g[i], options());
            add(parameter, step.parameter, step.magnitude);
            add(velocity, step.velocity, 3);
        }
        if (!has_momentum()) return judge_of({{"parameter", parameter}});
        return judge_of({{"parameter", parameter}, {"velocity", velocity}});
    }

private:
    bool has_momentum() const { return options_.momentum != 0; }
    SgdOptions options() const {
        SgdOptions result = options_;
        result.nesterov = has_momentum();
        return result;
    }

    SgdOptions options_{0.01f, 0.9f, 1e-4f};
};

Family family_of(std::string name, std::string description,
                 std::function<std::unique_ptr<Problem>()> problem) {
    Family family{
        std::move(name), std::move(description), std::move(problem), "elementwise", {"sizes"}};
    family.variants = {{"activation", {"relu", "silu", "gelu"}}};
    return family;
}

}  // namespace

std::vector<Family> elementwise_families() {
    Family sgd = family_of("sgd", "A step of stochastic gradient descent",
                           [] { return std::make_unique<Sgd>(); });
    sgd.variants = {{"momentum", {"0.9", "0"}}};
    return {family_of("activate", "An activation, element by element",
                      [] { return std::make_unique<Activate>(false); }),
            family_of("activate_backward", "The gradient of an activation",
                      [] { return std::make_unique<Activate>(true); }),
            sgd};
}

}  // namespace hk::bench
