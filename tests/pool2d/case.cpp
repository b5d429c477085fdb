#include "tests/pool2d/case.h"

#include <limits>
#include <sstream>

#include "pool2d/problem.h"
#include "tests/pool2d/reference.h"
#include "tests/reference/elements.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

using Relation = Constraint::Relation;

// One window that is all of an image, and padding around it.
void cover_image(Random &random, Conv2dProblem &p) {
    const auto side = [&] { return one_in(random, 2) ? 0 : uniform(random, 0, 2); };
    Padding &padding = p.options.padding;
    padding = {side(), side(), side(), side()};
    p.kernel_height = p.height + padding.top + padding.bottom;
    p.kernel_width = p.width + padding.left + padding.right;
}

template<typename Case>
std::optional<Case> drawn(uint64_t seed, const Conv2dRequest &request) {
    Random random(seed);
    Case c;
    c.pooling = one_in(random, 2) ? Pooling::max : Pooling::average;
    std::vector<Constraint> where = {{"channels_per_group", Relation::equal, 1},
                                     {"filters_per_group", Relation::equal, 1},
                                     {"dilation_y", Relation::equal, 1},
                                     {"dilation_x", Relation::equal, 1}};
    std::vector<Constraint> of_pooling;  // what convolutions have no field for
    for (const Constraint &constraint : request.where) {
        const std::string_view field = constraint.field;
        if (field == "average") {
            c.pooling = constraint.value == 0 ? Pooling::max : Pooling::average;
        } else {
            const bool of_convolution = !field.ends_with("_in_sum") && field != "whole_plane";
            (of_convolution ? where : of_pooling).push_back(constraint);
        }
    }
    Conv2dRequest windows = request;
    windows.where = where;
    const auto problem = random_problem(random, windows);
    if (!problem) {
        return {};
    }
    c.seed = seed;
    c.problem = *problem;
    c.data = request.data;
    if (range_of(of_pooling, "whole_plane").first > 0) cover_image(random, c.problem);
    Padding &padding = c.problem.options.padding;
    for (int64_t *side : {&padding.top, &padding.bottom}) {
        *side = std::min(*side, c.problem.kernel_height - 1);
    }
    for (int64_t *side : {&padding.left, &padding.right}) {
        *side = std::min(*side, c.problem.kernel_width - 1);
    }
    if (c.problem.output_height() < 1 || c.problem.output_width() < 1) {
        return {};
    }
    if (!meets(of_pooling, detail::pool2d_fields(c.pool()))) return {};
    draw_placements(random, c);
    return c;
}

Shape image_shape(const Pool2dProblem &p) {
    return test::image_shape(p.options.layout, p.batch, p.height, p.width, p.channels);
}

// Whole numbers so few that windows have several maxima, or reals, rounded to the type; where asked
// for, one is not finite.
Tensor numbers(Random &random, const Pool2dCase &c, const Shape &shape, bool spoil) {
    std::vector<double> values =
        c.data == Data::reals ? reals(random, shape) : whole_numbers(random, shape, -3, 3);
    if (spoil && !values.empty()) {
        double &one = values[static_cast<size_t>(uniform(random, 0, std::ssize(values) - 1))];
        if (c.data == Data::one_nan) one = std::numeric_limits<double>::quiet_NaN();
        if (c.data == Data::one_infinity) {
            one = std::numeric_limits<double>::infinity() * (one_in(random, 2) ? 1 : -1);
        }
    }
    return host_tensor(shape, c.problem.type, values);
}

std::vector<double> in_order(const Pool2dCase &c, const Tensor &image) {
    return reference::read(reference::channels_last(image, c.problem.options.layout));
}

// `height`, `width`: of the result.
std::string compare(const Pool2dCase &c, const reference::Conv2dResult &wanted,
                    const Tensor &result, int64_t height, int64_t width) {
    const DataType type = c.problem.type;
    const std::vector<double> got = in_order(c, result);
    const bool exact = c.pooling == Pooling::max && c.data != Data::reals;
    // Two more roundings are for a division.
    const auto fault = [&](size_t i) {
        return fault_of_sum(type, got[i], wanted.value[i], wanted.magnitude[i], wanted.terms + 2,
                            exact);
    };
    const auto place = [&](size_t i) {
        return name_of_place(height, width, c.problem.channels, i);
    };
    return differences(place, got, fault) + unwritten(result);
}

// Elements in the order n, y, x, c as a tensor of the layout.
Tensor image_of(const Pool2dProblem &p, const std::vector<double> &values) {
    const Tensor last =
        host_tensor({p.batch, p.output_height(), p.output_width(), p.channels}, p.type, values);
    Tensor image(p.output_shape(), p.type);
    reference::channels_last(image, p.options.layout).copy_from(last);
    return image;
}

}  // namespace

Pool2dProblem Pool2dCase::pool() const {
    Pool2dProblem p{problem.type,   problem.batch, problem.channels,
                    problem.height, problem.width, {}};
    p.options = {problem.options.layout,
                 pooling,
                 {problem.kernel_height, problem.kernel_width},
                 problem.options.stride,
                 problem.options.padding};
    return p;
}

template<>
std::optional<Pool2dCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    return drawn<Pool2dCase>(seed, request);
}

template<>
std::optional<Pool2dBackwardCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    return drawn<Pool2dBackwardCase>(seed, request);
}

std::string to_string(const Pool2dCase &c) {
    return std::string(hk::name_of(c.pooling)) + " pooling of " + to_string(c.problem) +
           describe_data(c);
}

Outcome check(const Pool2dCase &c, Device device, const KernelInfo *row) {
    const Pool2dProblem p = c.pool();
    Random random(c.seed + 1);
    const Tensor values = numbers(random, c, image_shape(p), true);
    const Placed input(values, device, c.input, random);
    const Placed output(p.output_shape(), p.type, device, c.output, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"input", &input}};
    checked.call = [&] {
        row ? pool2d_with(*row, input.tensor(), output.tensor(), p.options)
            : pool2d(input.tensor(), output.tensor(), p.options);
    };
    checked.outputs = {{"output", &output, [&](const Tensor &result) {
                            return compare(c, reference::pool2d(p, in_order(c, values)), result,
                                           p.output_height(), p.output_width());
                        }}};
    return checked.run();
}

Outcome check(const Pool2dBackwardCase &c, Device device, const KernelInfo *row) {
    const Pool2dProblem p = c.pool();
    const bool max = c.pooling == Pooling::max;
    Random random(c.seed + 1);
    const Tensor gradients = numbers(random, c, p.output_shape(), !max);
    const Tensor values = numbers(random, c, image_shape(p), max);
    const Placed output_gradient(gradients, device, c.input, random);
    const Placed input_gradient(image_shape(p), p.type, device, c.output, random);
    std::optional<Placed> input, output;
    if (max) {
        input.emplace(values, device, c.weight, random);
        output.emplace(image_of(p, reference::pool2d(p, in_order(c, values)).value), device,
                       c.weight, random);
    }
    CheckedCall checked("gradient of " + to_string(c), c.seed, device, row);
    checked.inputs = {{"output gradient", &output_gradient},
                      {"input", address_of(input)},
                      {"output", address_of(output)}};
    checked.call = [&] {
        const Tensor before = tensor_of(input), after = tensor_of(output);
        row ? pool2d_backward_with(*row, output_gradient.tensor(), before, after,
                                   input_gradient.tensor(), p.options)
            : pool2d_backward(output_gradient.tensor(), before, after, input_gradient.tensor(),
                              p.options);
    };
    checked.outputs = {{"input gradient", &input_gradient, [&](const Tensor &result) {
                            return compare(c,
                                           reference::pool2d_backward(p, in_order(c, gradients),
                                                                      in_order(c, values)),
                                           result, p.height, p.width);
                        }}};
    return checked.run();
}

}  // namespace hk::test
