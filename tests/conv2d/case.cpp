#include "tests/conv2d/case.h"

#include "tests/support/conditions.h"

namespace hk::test {
namespace {

void draw_activation(Random &random, Data data, Conv2dOptions &options) {
    const bool exact = data != Data::reals;
    const int64_t last = static_cast<int64_t>(exact ? Activation::leaky_relu : Activation::gelu);
    options.activation = static_cast<Activation>(uniform(random, 0, last));
    if (options.activation == Activation::clamp) {
        options.alpha = exact ? -6 : -0.75f;
        options.beta = exact ? 6 : 0.5f;
    } else if (options.activation == Activation::leaky_relu) {
        // Of either sign: a slope below zero turns the branch into an absolute value.
        options.alpha = one_in(random, 4) ? -0.5f : 0.25f;
    }
}

}  // namespace

template<>
std::optional<Conv2dCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    Random random(seed);
    const auto problem = random_problem(random, request);
    if (!problem) {
        return {};
    }
    Conv2dCase c{{.seed = seed, .problem = *problem, .data = request.data}};
    c.problem.prepared_filter = range_of(request.where, "prepared").moved(one_in(random, 2));
    draw_activation(random, request.data, c.problem.options);
    c.bias = !one_in(random, 3);
    c.residual = one_in(random, 2);
    draw_placements(random, c);
    return c;
}

std::string to_string(const Conv2dCase &c) {
    return to_string(c.problem) + (c.bias ? " bias" : "") + (c.residual ? " residual" : "") +
           describe_data(c);
}

}  // namespace hk::test
