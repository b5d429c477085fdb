#include "tests/elementwise/case.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/elementwise/reference.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

Shape draw_shape(Random &random, int64_t elements) {
    Shape shape;
    const int64_t rank = uniform(random, 0, 5);
    for (int64_t d = 0; d < rank; d++) {
        const double most = std::log(static_cast<double>(std::max<int64_t>(elements, 1)));
        const double size = std::exp(std::uniform_real_distribution<>(0, most)(random));
        shape.push_back(std::max<int64_t>(static_cast<int64_t>(size), 1));
        elements /= shape.back();
    }
    std::ranges::shuffle(shape, random);
    return shape;
}

Placement draw_placement(Random &random, const ElementwiseRequest &request) {
    if (range_of(request.where, "packed").first == 1) return packed_placement(request.where);
    const bool adjacent = range_of(request.where, "adjacent").first == 1;
    return static_cast<Placement>(uniform(random, 0, adjacent ? 2 : 4));
}

// Numbers as the type holds them.
std::vector<double> stored(DataType type, std::vector<double> values) {
    for (double &value : values) value = reference::rounded(type, value);
    return values;
}

// What an element should be, and how far off it may be.
struct Expected {
    double value, tolerance;
};

using ElementOf = std::function<Expected(size_t)>;

std::string compare(const ElementwiseCase &c, const Tensor &result, const ElementOf &expected) {
    const std::vector<double> got = reference::read(result);
    return differences([](size_t i) { return "element " + std::to_string(i); }, got,
                       [&](size_t i) {
                           const auto [value, tolerance] = expected(i);
                           return fault(c.type, got[i], value, tolerance);
                       });
}

// The tensors of a case, what it runs and what should come out.
struct Setup {
    std::optional<Placed> output, first, second;
    std::vector<CheckedCall::Input> inputs;
    std::vector<CheckedCall::Output> outputs;
    std::function<void(const KernelInfo *row)> call;
};

void set_up_activate(const ElementwiseCase &c, Device device, Random &random, Setup &s) {
    auto v = stored(c.type, arguments_of(random, c.shape, c.activation));
    s.first.emplace(host_tensor(c.shape, c.type, v), device, c.first, random);
    if (!c.inplace) s.output.emplace(c.shape, c.type, device, c.output, random);
    const Placed &target = c.inplace ? *s.first : *s.output;
    if (!c.inplace) s.inputs.push_back({"input", &*s.first});
    s.outputs.push_back({"output", &target, [&c, v](const Tensor &result) {
                             return compare(c, result, [&](size_t i) -> Expected {
                                 const double value = reference::activate(v[i], c.activation);
                                 return {value, reference::tolerance(c.type, 1, value,
                                                                     std::abs(v[i]), c.activation)};
                             });
                         }});
    s.call = [&c, &s](const KernelInfo *row) {
        const Tensor input = s.first->tensor();
        const Tensor target = c.inplace ? input : s.output->tensor();
        const Output output = c.inplace ? inplace(target) : Output(target);
        if (row) {
            activate_with(*row, input, output, c.activation);
        } else {
            activate(input, output, c.activation);
        }
    };
}

void set_up_backward(const ElementwiseCase &c, Device device, Random &random, Setup &s) {
    const auto g = stored(c.type, reals(random, c.shape));
    const auto v = stored(c.type, arguments_of(random, c.shape, c.activation));
    auto saved = v;
    for (double &value : saved) {
        if (c.saved_output) value = reference::activate(value, c.activation);
    }
    s.first.emplace(host_tensor(c.shape, c.type, g), device, c.first, random);
    s.second.emplace(host_tensor(c.shape, c.type, saved), device, c.second, random);
    if (!c.inplace) s.output.emplace(c.shape, c.type, device, c.output, random);
    if (c.inplace != 1) s.inputs.push_back({"output_gradient", &*s.first});
    if (c.inplace != 2) s.inputs.push_back({"saved", &*s.second});
    const auto target = [&c, &s]() -> const Placed & {
        return c.inplace == 1 ? *s.first : c.inplace == 2 ? *s.second : *s.output;
    };
    s.outputs.push_back(
        {"input_gradient", &target(), [&c, g, v](const Tensor &result) {
             return compare(c, result, [&](size_t i) -> Expected {
                 const double value = g[i] * reference::activation_derivative(
                                                 v[i], reference::stored(c.type, c.activation));
                 const double magnitude = std::abs(g[i]) * (1 + std::abs(v[i]));
                 return {value, reference::tolerance(c.type, 2, value, magnitude, c.activation)};
             });
         }});
    s.call = [&c, &s, target](const KernelInfo *row) {
        const Tensor written = target().tensor();
        const Output output = c.inplace ? inplace(written) : Output(written);
        const Tensor g = s.first->tensor(), saved = s.second->tensor();
        if (row) {
            activate_backward_with(*row, g, saved, output, c.activation);
        } else {
            activate_backward(g, saved, output, c.activation);
        }
    };
}

void set_up_sgd(const ElementwiseCase &c, Device device, Random &random, Setup &s) {
    const auto draw = [&] { return stored(c.type, reals(random, c.shape)); };
    const auto p = draw(), g = draw(), v = draw();
    const bool has_momentum = c.sgd.momentum != 0;
    s.output.emplace(host_tensor(c.shape, c.type, p), device, c.output, random);
    s.first.emplace(host_tensor(c.shape, c.type, g), device, c.first, random);
    s.inputs.push_back({"gradient", &*s.first});
    const auto step = [&c, p, g, v](size_t i) {
        return reference::sgd_step(p[i], v[i], g[i], c.sgd);
    };
    const auto expect = [&c, step](double reference::SgdStep::*part) {
        return [&c, step, part](const Tensor &result) {
            return compare(c, result, [&](size_t i) -> Expected {
                const reference::SgdStep wanted = step(i);
                const double magnitude =
                    part == &reference::SgdStep::velocity ? 3 : wanted.magnitude;
                return {wanted.*part, reference::tolerance(c.type, 6, wanted.*part, magnitude)};
            });
        };
    };
    s.outputs.push_back({"parameter", &*s.output, expect(&reference::SgdStep::parameter)});
    if (has_momentum || c.idle_velocity) {
        s.second.emplace(host_tensor(c.shape, c.type, v), device, c.second, random);
        if (has_momentum) {
            s.outputs.push_back({"velocity", &*s.second, expect(&reference::SgdStep::velocity)});
        } else {
            s.inputs.push_back({"velocity", &*s.second});
        }
    }
    s.call = [&c, &s](const KernelInfo *row) {
        const Tensor p = s.output->tensor(), v = tensor_of(s.second), g = s.first->tensor();
        if (row) {
            sgd_step_with(*row, p, v, g, c.sgd);
        } else {
            sgd_step(p, v, g, c.sgd);
        }
    };
}

void set_up(const ElementwiseCase &c, Device device, Setup &setup) {
    Random random(c.seed + 1);
    switch (c.family) {
        case Elementwise::activate:
            return set_up_activate(c, device, random, setup);
        case Elementwise::activate_backward:
            return set_up_backward(c, device, random, setup);
        case Elementwise::sgd:
            return set_up_sgd(c, device, random, setup);
    }
}

}  // namespace

Elementwise elementwise_of(const KernelInfo &row) {
    const std::string_view family = row.family;
    return family == "activate"            ? Elementwise::activate
           : family == "activate_backward" ? Elementwise::activate_backward
                                           : Elementwise::sgd;
}

Placement packed_placement(std::span<const Constraint> where) {
    return range_of(where, "aligned").first == 1 ? Placement::aligned : Placement::packed;
}

std::span<const ActivationOptions> tested_activations() {
    // 0.1 and 0.3 are no numbers of any type.
    static const ActivationOptions all[] = {{Activation::none},
                                            {Activation::relu},
                                            {Activation::clamp, 0, 6},
                                            {Activation::clamp, 0.1f, 0.3f},
                                            {Activation::clamp},
                                            {Activation::clamp, -1},
                                            {Activation::clamp, 2, 1},
                                            {Activation::leaky_relu, 0},
                                            {Activation::leaky_relu, 0.01f},
                                            {Activation::leaky_relu, -2},
                                            {Activation::silu},
                                            {Activation::gelu}};
    return all;
}

std::vector<double> arguments_of(Random &random, const Shape &shape,
                                 const ActivationOptions &options) {
    std::vector<double> values = reals(random, shape);
    // exp() of some is out of the range of f32, and of those that are drawn up to 110 near its
    // ends; types of 16 bits round others to zero, or to infinity when they are doubled.
    std::vector<double> corners{0, -0.0, 100, -100, 0x1p-20, -0x1p-20, 6e4, -6e4};
    for (const float end : {options.alpha, options.beta}) {
        if (!std::isfinite(end)) continue;
        for (const double factor : {1., 1 - 1. / 64, 1 + 1. / 64}) corners.push_back(factor * end);
    }
    for (double &value : values) {
        const int64_t kind = uniform(random, 0, 5);
        value = kind == 0 ? pick(random, corners) : kind == 1 ? 110 * value : 6 * value;
    }
    return values;
}

std::string to_string(const ElementwiseCase &c) {
    std::ostringstream text;
    const char *const names[] = {"activate", "activate_backward", "sgd_step"};
    text << names[static_cast<size_t>(c.family)] << " " << hk::name_of(c.type) << " "
         << hk::to_string(c.shape);
    if (c.family == Elementwise::sgd) {
        text << ", rate " << c.sgd.learning_rate << ", momentum " << c.sgd.momentum << ", decay "
             << c.sgd.weight_decay << (c.sgd.nesterov ? ", nesterov" : "");
    } else {
        text << ", " << name_of(c.activation.activation) << " " << c.activation.alpha << " "
             << c.activation.beta << (c.saved_output ? ", saved output" : "");
        if (c.inplace) text << ", in place of input " << c.inplace;
    }
    text << ", " << name_of(c.output) << " from " << name_of(c.first) << " and "
         << name_of(c.second);
    return text.str();
}

void make_empty(ElementwiseCase &c) {
    if (c.shape.empty()) c.shape = {1};
    c.shape.back() = 0;
}

template<>
std::optional<ElementwiseCase> random_case(uint64_t seed, const ElementwiseRequest &request) {
    Random random(seed);
    ElementwiseCase c{.seed = seed, .family = request.family};
    c.shape = draw_shape(random, request.elements);
    c.type = request.type;
    const auto all = tested_activations();
    c.activation = all[static_cast<size_t>(uniform(random, 0, std::ssize(all) - 1))];
    const bool smooth =
        c.activation.activation == Activation::silu || c.activation.activation == Activation::gelu;
    const bool odd = c.activation.alpha < 0 && c.activation.activation == Activation::leaky_relu;
    c.saved_output = !smooth && !odd && one_in(random, 2);
    const int most = request.family == Elementwise::activate            ? 1
                     : request.family == Elementwise::activate_backward ? 2
                                                                        : 0;
    c.inplace = static_cast<int>(uniform(random, 0, most));
    const Range momentum = range_of(request.where, "momentum");
    c.sgd.learning_rate = pick(random, std::vector<float>{0, 0.1f, 1.5f});
    c.sgd.momentum = momentum.moved(one_in(random, 2)) ? 0.9f : 0;
    c.sgd.weight_decay = one_in(random, 2) ? 0.125f : 0;
    c.sgd.nesterov = c.sgd.momentum != 0 && one_in(random, 2);
    c.idle_velocity = one_in(random, 2);
    c.output = draw_placement(random, request);
    c.first = draw_placement(random, request);
    c.second = draw_placement(random, request);
    return c;
}

Outcome check(const ElementwiseCase &c, Device device, const KernelInfo *row) {
    Setup setup;
    set_up(c, device, setup);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = setup.inputs;
    checked.outputs = setup.outputs;
    checked.call = [&] { setup.call(row); };
    return checked.run();
}

std::vector<uint64_t> bits_of_result(const ElementwiseCase &c, Device device,
                                     const KernelInfo *row) {
    Setup setup;
    set_up(c, device, setup);
    setup.call(row);
    device.synchronize();
    std::vector<uint64_t> all;
    for (const CheckedCall::Output &output : setup.outputs) {
        const std::vector<uint64_t> bits = reference::bits(output.tensor->fetch());
        all.insert(all.end(), bits.begin(), bits.end());
    }
    return all;
}

}  // namespace hk::test
