// hk::activate and hk::activate_backward, apart and in place, and hk::sgd_step.

#include <algorithm>
#include <cmath>

#include "hk/activation.h"
#include "hk/sgd.h"
#include "tests/elementwise/reference.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"

namespace hk::fuzz {
namespace {

// Of rank 0 to 5, and at most some thousand elements.
Shape draw_shape(Random &random) {
    Shape shape;
    double left = one_in(random, 20) ? 50000 : 3000;
    const int64_t rank = uniform(random, 0, 5);
    for (int64_t d = 0; d < rank; d++) {
        const double size = std::exp(std::uniform_real_distribution<>(0, std::log(left))(random));
        shape.push_back(static_cast<int64_t>(size));
        left = std::max(1.0, left / size);
    }
    if (!shape.empty() && one_in(random, 50)) shape.back() = 0;
    std::ranges::shuffle(shape, random);
    return shape;
}

// In -6..6, corners among them.
Values arguments(const ActivationOptions &options) {
    return [=](Random &random) -> double {
        const std::vector<double> corners{0, -0.0, options.alpha, options.beta};
        return one_in(random, 6) ? pick(random, corners) : 6 * any_real()(random);
    };
}

Result forward(Case &c, const ActivationOptions &options) {
    const DataType type = draw_type(c.random);
    const Shape shape = draw_shape(c.random);
    const bool in_place = one_in(c.random, 3);
    const Use use = in_place ? Use::update : Use::read;
    const Operand &input = c.place({"input", use, shape, type, arguments(options)});
    const Operand &output =
        in_place && !c.misplaces() ? input : c.place({"output", Use::write, shape, type});
    c.tell("activate " + std::string(name_of(std::min(options.activation, Activation::gelu))) +
           (in_place ? " in place" : ""));
    const auto call = [&] {
        hk::activate(input.tensor, in_place ? inplace(output.tensor) : Output(output.tensor),
                     options);
    };
    return c.run(call, [&]() -> std::string {
        if (options.activation > Activation::gelu) return "an activation that is none was accepted";
        const std::vector<double> v = reference::read(input.before);
        std::vector<double> values, magnitudes;
        for (const double x : v) {
            values.push_back(reference::activate(x, options));
            magnitudes.push_back(std::abs(x));
        }
        return compare(output.before.type(), reference::read(output.after()), values, magnitudes, 1,
                       options);
    });
}

Result backward(Case &c, const ActivationOptions &options) {
    const DataType type = draw_type(c.random);
    const Shape shape = draw_shape(c.random);
    const bool smooth = options.activation >= Activation::silu;
    const bool odd = options.activation == Activation::leaky_relu && options.alpha < 0;
    const bool of_output = !smooth && !odd && one_in(c.random, 2);
    const int64_t in_place = one_in(c.random, 2) ? uniform(c.random, 1, 2) : 0;
    const Values argument = arguments(options);
    const Values saved_values = [&](Random &random) {
        const double v = reference::rounded(type, argument(random));
        return of_output ? reference::activate(v, reference::stored(type, options)) : v;
    };
    const auto use = [&](int64_t which) { return in_place == which ? Use::update : Use::read; };
    const Operand &gradient = c.place({"output gradient", use(1), shape, type, any_real()});
    const bool needless = options.activation == Activation::none && in_place != 2;
    const Operand &saved = needless && one_in(c.random, 2)
                               ? Case::none()
                               : c.place({"saved", use(2), shape, type, saved_values});
    const Operand &output = in_place == 0 || c.misplaces()
                                ? c.place({"input gradient", Use::write, shape, type})
                            : in_place == 1 ? gradient
                                            : saved;
    c.tell("activate_backward " +
           std::string(name_of(std::min(options.activation, Activation::gelu))) +
           (of_output ? " of its output" : "") + ", in place of input " + std::to_string(in_place));
    const auto call = [&] {
        hk::activate_backward(gradient.tensor, saved.tensor,
                              in_place ? inplace(output.tensor) : Output(output.tensor), options);
    };
    return c.run(call, [&]() -> std::string {
        if (options.activation > Activation::gelu) return "an activation that is none was accepted";
        const std::vector<double> g = reference::read(gradient.before);
        const std::vector<double> v =
            saved.before.defined() ? reference::read(saved.before) : std::vector<double>(g.size());
        std::vector<double> values, magnitudes;
        for (size_t i = 0; i < g.size(); i++) {
            const double slope =
                reference::activation_derivative(v[i], reference::stored(type, options));
            // Where a bound holds, no gradient passes, NaN neither.
            const bool bounded = !smooth && slope == 0;
            values.push_back(bounded ? 0 : g[i] * slope);
            magnitudes.push_back(bounded ? 0 : std::abs(g[i]) * (1 + std::abs(v[i])));
        }
        return compare(output.before.type(), reference::read(output.after()), values, magnitudes, 2,
                       options);
    });
}

}  // namespace

Result activation(Case &c) {
    ActivationOptions options;
    draw_activation(c, Activation::gelu, options.activation, options.alpha, options.beta);
    return one_in(c.random, 2) ? forward(c, options) : backward(c, options);
}

Result sgd(Case &c) {
    const DataType type = draw_type(c.random);
    const Shape shape = draw_shape(c.random);
    SgdOptions options{pick(c.random, std::vector<float>{0, 0.1f, 1.5f}),
                       one_in(c.random, 2) ? 0.9f : 0, one_in(c.random, 2) ? 0.125f : 0, false};
    options.nesterov = options.momentum != 0 && one_in(c.random, 2);
    const bool has_momentum = options.momentum != 0;
    for (float *number : {&options.learning_rate, &options.momentum, &options.weight_decay}) {
        c.spoil(*number);
    }
    const Operand &parameter = c.place({"parameter", Use::update, shape, type, any_real()});
    // One that is there without a momentum is not touched.
    const Operand &velocity =
        has_momentum || one_in(c.random, 2)
            ? c.place({"velocity", options.momentum != 0 ? Use::update : Use::read, shape, type,
                       any_real(), false, false, false})
            : Case::none();
    const Operand &gradient = c.place({"gradient", Use::read, shape, type, any_real()});
    c.tell("sgd_step rate " + std::to_string(options.learning_rate) + ", momentum " +
           std::to_string(options.momentum) + ", decay " + std::to_string(options.weight_decay) +
           (options.nesterov ? ", nesterov" : ""));
    const auto call = [&] {
        hk::sgd_step(parameter.tensor, velocity.tensor, gradient.tensor, options);
    };
    return c.run(call, [&] {
        const std::vector<double> p = reference::read(parameter.before);
        const std::vector<double> g = reference::read(gradient.before);
        const bool moves = options.momentum != 0;
        const std::vector<double> v =
            moves ? reference::read(velocity.before) : std::vector<double>(p.size());
        std::vector<double> parameters, velocities, magnitudes, threes(p.size(), 3);
        for (size_t i = 0; i < p.size(); i++) {
            const auto step = reference::sgd_step(p[i], v[i], g[i], options);
            parameters.push_back(step.parameter);
            velocities.push_back(step.velocity);
            magnitudes.push_back(step.magnitude);
        }
        std::string wrong = compare(parameter.before.type(), reference::read(parameter.after()),
                                    parameters, magnitudes, 6);
        if (moves) {
            wrong += compare(velocity.before.type(), reference::read(velocity.after()), velocities,
                             threes, 6);
        }
        return wrong;
    });
}

}  // namespace hk::fuzz
