// hk::sgd_step.

#include "hk/sgd.h"

#include "tests/fuzz/compare.h"
#include "tests/elementwise/fuzz.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/elementwise/reference.h"

namespace hk::fuzz {

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
