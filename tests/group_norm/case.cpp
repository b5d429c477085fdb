#include "tests/group_norm/case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/conv2d/reference.h"
#include "tests/group_norm/reference.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

using InPlace = GroupNormCase::InPlace;

constexpr const char *kElements[] = {"ordinary", "far from zero", "with outliers",
                                     "equal",    "with a NaN",    "with an infinity"};

// What the header promises of sums.
const double kBound = std::ldexp(1, -14);

int64_t bounded(std::span<const Constraint> where, std::string_view field, int64_t value) {
    for (const Constraint &constraint : where) {
        if (constraint.field != field) continue;
        using enum Constraint::Relation;
        if (constraint.relation == at_least) value = std::max(value, constraint.value);
        if (constraint.relation == at_most) value = std::min(value, constraint.value);
        if (constraint.relation == equal) value = constraint.value;
        if (constraint.relation == multiple_of)
            value = (value + constraint.value - 1) / constraint.value * constraint.value;
    }
    return value;
}

reference::GroupNormSizes sizes_of(const GroupNormCase &c) {
    const GroupNormProblem &p = c.problem;
    return {static_cast<size_t>(p.batch), static_cast<size_t>(p.height * p.width),
            static_cast<size_t>(p.channels), static_cast<size_t>(p.options.groups)};
}

std::vector<double> in_order(const GroupNormCase &c, const Tensor &image) {
    return reference::read(reference::channels_last(image, c.problem.options.layout));
}

std::vector<double> vector_or(const GroupNormCase &c, const Tensor &vector, double value) {
    if (vector.defined()) return reference::read(vector);
    return std::vector<double>(static_cast<size_t>(c.problem.channels), value);
}

// `bounds`: of the value before it is rounded to the type.
std::string compare(const char *name, const Tensor &got, const std::vector<double> &values,
                    const std::vector<double> &wanted, const std::vector<double> &bounds) {
    const auto place = [&](size_t i) { return std::string(name) + " " + std::to_string(i); };
    return differences(place, values,
                       [&](size_t i) -> std::string {
                           const double bound =
                               bounds[i] + reference::tolerance(got.type(), 4, wanted[i],
                                                                std::abs(wanted[i]), {});
                           if (reference::close(got.type(), values[i], wanted[i], bound)) return "";
                           std::ostringstream text;
                           text << wanted[i] << " within " << bound;
                           return text.str();
                       }) +
           unwritten(got);
}

std::vector<double> times(std::vector<double> values, double factor) {
    for (double &value : values) value = std::abs(value) * factor;
    return values;
}

}  // namespace

Shape GroupNormCase::shape() const {
    const GroupNormProblem &p = problem;
    return p.options.layout == Layout::nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                                            : Shape{p.batch, p.channels, p.height, p.width};
}

template<>
std::optional<GroupNormCase> random_case(uint64_t seed, const GroupNormRequest &request) {
    Random random(seed);
    GroupNormCase c;
    c.seed = seed;
    GroupNormProblem &p = c.problem;
    p.type = request.type;
    p.options.layout = request.layout;
    p.backward = bounded(request.where, "backward", uniform(random, 0, 1)) == 1;
    int64_t of_group = pick(random, std::vector<int64_t>{1, 1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 300});
    of_group = bounded(request.where, "channels_per_group", of_group);
    // Vectors of 4: a group's channels, or of nchw the columns.
    const bool vectors = bounded(request.where, "aligned", 0) == 1;
    const int64_t least = bounded(request.where, "group_elements", 1);
    const bool of_columns =
        vectors && request.layout == Layout::nchw && (least > 1 || one_in(random, 2));
    if (vectors && !of_columns) of_group = (of_group + 3) / 4 * 4;
    // A row alone, in vectors, has any number of them.
    if (vectors && bounded(request.where, "pixels", 0) == 1)
        of_group = 4 * uniform(random, 1, bounded(request.where, "group_elements", 1 << 15) / 4);
    p.options.groups = pick(random, std::vector<int64_t>{1, 1, 2, 3, 4, 6, 8, 32});
    if (least > 1) p.options.groups = std::min<int64_t>(p.options.groups, 3);
    p.channels = of_group * p.options.groups;
    int64_t pixels = pick(random, std::vector<int64_t>{1, 1, 2, 7, 12, 16, 35, 49, 64, 100, 131,
                                                       256, 300, 1000, 5000});
    pixels = bounded(request.where, "pixels", pixels);
    const double most = request.elements / static_cast<double>(p.channels);
    pixels = std::max<int64_t>(std::min(pixels, static_cast<int64_t>(most)), 1);
    pixels = std::max(pixels, (least + of_group - 1) / of_group);
    p.width = one_in(random, 4) ? pixels : std::max<int64_t>(uniform(random, 1, 12), 1);
    p.width = std::min(p.width, pixels);
    if (of_columns) p.width = (p.width + 3) / 4 * 4;
    p.height = (pixels + (least > 1 ? p.width - 1 : 0)) / p.width;
    p.height = std::max<int64_t>(p.height, 1);
    p.batch = std::clamp<int64_t>(static_cast<int64_t>(most) / pixels, 1, 9);
    p.batch = bounded(request.where, "batch", uniform(random, 1, p.batch));
    p.options.epsilon = pick(random, std::vector<float>{1e-5f, 1e-3f, 1e-12f});
    c.elements = static_cast<Elements>(uniform(random, 0, 5));
    // Of types of 16 bits nothing lies close to 10000 but itself.
    if (request.type != DataType::f32 && c.elements == Elements::far)
        c.elements = Elements::ordinary;
    if (c.elements == Elements::equal || pixels * of_group < 3) p.options.epsilon = 1e-3f;
    c.weight = !one_in(random, 4);
    c.bias = !one_in(random, 4);
    c.mean = !one_in(random, 4);
    c.rstd = !one_in(random, 4);
    c.input_gradient = !one_in(random, 4);
    c.weight_gradient = !one_in(random, 4);
    c.bias_gradient = !c.input_gradient && !c.weight_gradient ? true : !one_in(random, 4);
    c.in_place = static_cast<InPlace>(uniform(random, 0, 2));
    if (!p.backward && c.in_place == InPlace::of_second) c.in_place = InPlace::no;
    if (p.backward && !c.input_gradient) c.in_place = InPlace::no;
    c.images_at = pick(
        random, std::vector<Placement>{Placement::packed, Placement::margins, Placement::steps});
    if (vectors) c.images_at = Placement::aligned;
    c.vectors_at = pick(random, std::vector<Placement>{Placement::packed, Placement::margins,
                                                       Placement::reversed, Placement::permuted});
    if (vectors && !p.backward && c.vectors_at == Placement::margins)
        c.vectors_at = Placement::aligned;
    return c;
}

void make_empty(GroupNormCase &c) { c.problem.batch = 0; }

std::string to_string(const GroupNormCase &c) {
    const GroupNormProblem &p = c.problem;
    std::ostringstream text;
    text << "group_norm " << (p.backward ? "gradients " : "") << name_of(p.options.layout) << ' '
         << hk::name_of(p.type) << ' ' << hk::to_string(c.shape()) << ", groups "
         << p.options.groups << ", epsilon " << p.options.epsilon << ", elements "
         << kElements[static_cast<int>(c.elements)] << (c.weight ? ", weight" : "");
    if (p.backward) {
        text << (c.input_gradient ? ", of input" : "") << (c.weight_gradient ? ", of weight" : "")
             << (c.bias_gradient ? ", of bias" : "");
    } else {
        text << (c.bias ? ", bias" : "") << (c.mean ? ", mean" : "") << (c.rstd ? ", rstd" : "");
    }
    if (c.in_place != InPlace::no)
        text << ", in place of the " << (c.in_place == InPlace::of_first ? "first" : "second");
    text << "; images " << name_of(c.images_at) << ", vectors " << name_of(c.vectors_at);
    return text.str();
}

Tensor input_of(const GroupNormCase &c) {
    const GroupNormProblem &p = c.problem;
    Random random(c.seed + 1);
    const Tensor image(c.shape(), p.type);
    const Tensor last = reference::channels_last(image, p.options.layout);
    std::vector<double> values = reals(random, last.shape());
    const auto of_group = static_cast<size_t>(p.channels / p.options.groups);
    sizes_of(c).each([&](size_t i, size_t, size_t channel) {
        double &value = values[i];
        if (c.elements == Elements::far) value = 10000 + 0.02 * value;
        if (c.elements == Elements::equal) value = static_cast<double>(channel % 5) - 2;
        const bool first = i % (static_cast<size_t>(p.channels * p.height * p.width)) == channel;
        if (c.elements == Elements::outlier && first && channel % of_group == 0) value = 3000;
    });
    if (c.elements == Elements::one_nan && !values.empty())
        values[values.size() / 2] = std::numeric_limits<double>::quiet_NaN();
    if (c.elements == Elements::one_infinity && !values.empty())
        values[values.size() / 2] = std::numeric_limits<double>::infinity();
    reference::write(last, values);
    return image;
}

Tensor output_gradient_of(const GroupNormCase &c) {
    Random random(c.seed + 2);
    return host_tensor(c.shape(), c.problem.type, reals(random, c.shape()));
}

Tensor vector_of(const GroupNormCase &c, uint64_t which) {
    Random random(c.seed + which);
    return host_tensor({c.problem.channels}, c.problem.type, reals(random, {c.problem.channels}));
}

GroupNormStatistics statistics_of(const GroupNormCase &c, const Tensor &input) {
    const auto ones = vector_or(c, {}, 1);
    const auto made = reference::group_norm(sizes_of(c), in_order(c, input), ones, ones,
                                            static_cast<double>(c.problem.options.epsilon));
    const Shape shape{c.problem.batch, c.problem.options.groups};
    return {host_tensor(shape, DataType::f32, made.mean),
            host_tensor(shape, DataType::f32, made.rstd)};
}

namespace {

reference::GroupNormResult wanted_of(const GroupNormCase &c, const Tensor &input,
                                     const Tensor &weight, const Tensor &bias) {
    return reference::group_norm(sizes_of(c), in_order(c, input), vector_or(c, weight, 1),
                                 vector_or(c, bias, 0),
                                 static_cast<double>(c.problem.options.epsilon));
}

std::string compare_forward(const GroupNormCase &c, const reference::GroupNormResult &wanted,
                            const Tensor &weight, const Tensor &bias, const Tensor &output,
                            const GroupNormStatistics &statistics) {
    const std::vector<double> factors = vector_or(c, weight, 1), summands = vector_or(c, bias, 0);
    std::string wrong;
    if (output.defined()) {
        std::vector<double> bounds = wanted.output;
        sizes_of(c).each([&](size_t i, size_t, size_t channel) {
            bounds[i] = std::abs(factors[channel]) * kBound * (1 + std::abs(wanted.normalised[i])) +
                        std::abs(summands[channel]) * std::ldexp(1, -22);
        });
        wrong += compare("output", output, in_order(c, output), wanted.output, bounds);
    }
    if (statistics.mean.defined()) {
        // Of deviations.
        std::vector<double> bounds;
        for (const double rstd : wanted.rstd) bounds.push_back(kBound / rstd);
        wrong +=
            compare("mean", statistics.mean, reference::read(statistics.mean), wanted.mean, bounds);
    }
    if (statistics.rstd.defined()) {
        wrong += compare("rstd", statistics.rstd, reference::read(statistics.rstd), wanted.rstd,
                         times(wanted.rstd, kBound));
    }
    return wrong;
}

reference::GroupNormGradients wanted_of(const GroupNormCase &c, const Tensor &output_gradient,
                                        const Tensor &input, const Tensor &weight,
                                        const GroupNormStatistics &statistics) {
    return reference::group_norm_backward(
        sizes_of(c), in_order(c, output_gradient), in_order(c, input), vector_or(c, weight, 1),
        reference::read(statistics.mean), reference::read(statistics.rstd));
}

std::string compare_gradients(const GroupNormCase &c, const reference::GroupNormGradients &wanted,
                              const Tensor &of_input, const Tensor &of_weight,
                              const Tensor &of_bias) {
    std::string wrong;
    if (of_input.defined()) {
        wrong += compare("input gradient", of_input, in_order(c, of_input), wanted.input,
                         times(wanted.input_magnitude, kBound));
    }
    if (of_weight.defined()) {
        wrong += compare("weight gradient", of_weight, reference::read(of_weight), wanted.weight,
                         times(wanted.weight_magnitude, kBound));
    }
    if (of_bias.defined()) {
        wrong += compare("bias gradient", of_bias, reference::read(of_bias), wanted.bias,
                         times(wanted.bias_magnitude, kBound));
    }
    return wrong;
}

// What a call should give is computed when its first result is compared.
Outcome check_forward(const GroupNormCase &c, Device device, const KernelInfo *row) {
    const GroupNormProblem &p = c.problem;
    const Tensor values = input_of(c), factors = c.weight ? vector_of(c, 3) : Tensor(),
                 summands = c.bias ? vector_of(c, 4) : Tensor();
    Random random(c.seed + 5);
    const Placed input(values, device, c.images_at, random);
    std::optional<Placed> weight, bias, output, mean, rstd;
    if (c.weight) weight.emplace(factors, device, c.vectors_at, random);
    if (c.bias) bias.emplace(summands, device, c.vectors_at, random);
    const bool in_place = c.in_place != InPlace::no;
    if (!in_place) output.emplace(c.shape(), p.type, device, c.images_at, random);
    const Shape groups{p.batch, p.options.groups};
    if (c.mean) mean.emplace(groups, DataType::f32, device, c.vectors_at, random);
    if (c.rstd) rstd.emplace(groups, DataType::f32, device, c.vectors_at, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"weight", address_of(weight)}, {"bias", address_of(bias)}};
    if (!in_place) checked.inputs.push_back({"input", &input});
    std::optional<reference::GroupNormResult> wanted;
    const auto compared = [&](const Tensor &result, const GroupNormStatistics &statistics) {
        if (!wanted) wanted = wanted_of(c, values, factors, summands);
        return compare_forward(c, *wanted, factors, summands, result, statistics);
    };
    checked.outputs.push_back({"output", in_place ? &input : &*output,
                               [&](const Tensor &result) { return compared(result, {}); }});
    if (c.mean) {
        checked.outputs.push_back({"mean", &*mean, [&](const Tensor &result) {
                                       return compared({}, {result, {}});
                                   }});
    }
    if (c.rstd) {
        checked.outputs.push_back({"rstd", &*rstd, [&](const Tensor &result) {
                                       return compared({}, {{}, result});
                                   }});
    }
    checked.call = [&] {
        const Tensor apart = tensor_of(output);
        const Output place = in_place ? inplace(input.tensor()) : Output(apart);
        const GroupNormStatistics statistics{tensor_of(mean), tensor_of(rstd)};
        const Tensor w = tensor_of(weight), b = tensor_of(bias);
        row ? group_norm_with(*row, input.tensor(), w, b, place, statistics, p.options)
            : group_norm(input.tensor(), w, b, place, statistics, p.options);
    };
    return checked.run();
}

Outcome check_gradients(const GroupNormCase &c, Device device, const KernelInfo *row) {
    const GroupNormProblem &p = c.problem;
    const Tensor values = input_of(c), gradients = output_gradient_of(c),
                 factors = c.weight ? vector_of(c, 3) : Tensor();
    const GroupNormStatistics saved = statistics_of(c, values);
    Random random(c.seed + 5);
    const Placed input(values, device, c.images_at, random);
    const Placed gradient(gradients, device, c.images_at, random);
    const Placed mean(saved.mean, device, c.vectors_at, random);
    const Placed rstd(saved.rstd, device, c.vectors_at, random);
    std::optional<Placed> weight, of_input, of_weight, of_bias;
    if (c.weight) weight.emplace(factors, device, c.vectors_at, random);
    if (c.input_gradient && c.in_place == InPlace::no)
        of_input.emplace(c.shape(), p.type, device, c.images_at, random);
    if (c.weight_gradient)
        of_weight.emplace(Shape{p.channels}, p.type, device, c.vectors_at, random);
    if (c.bias_gradient) of_bias.emplace(Shape{p.channels}, p.type, device, c.vectors_at, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"weight", address_of(weight)}, {"mean", &mean}, {"rstd", &rstd}};
    if (c.in_place != InPlace::of_first) checked.inputs.push_back({"output gradient", &gradient});
    if (c.in_place != InPlace::of_second) checked.inputs.push_back({"input", &input});
    std::optional<reference::GroupNormGradients> wanted;
    const auto compared = [&](const Tensor &a, const Tensor &b, const Tensor &d) {
        if (!wanted) wanted = wanted_of(c, gradients, values, factors, saved);
        return compare_gradients(c, *wanted, a, b, d);
    };
    const Placed *place = c.in_place == InPlace::of_first    ? &gradient
                          : c.in_place == InPlace::of_second ? &input
                                                             : address_of(of_input);
    if (c.input_gradient) {
        checked.outputs.push_back({"input gradient", place,
                                   [&](const Tensor &result) { return compared(result, {}, {}); }});
    }
    if (c.weight_gradient) {
        checked.outputs.push_back({"weight gradient", &*of_weight,
                                   [&](const Tensor &result) { return compared({}, result, {}); }});
    }
    if (c.bias_gradient) {
        checked.outputs.push_back({"bias gradient", &*of_bias,
                                   [&](const Tensor &result) { return compared({}, {}, result); }});
    }
    checked.call = [&] {
        const Tensor apart = c.input_gradient ? place->tensor() : Tensor(), w = tensor_of(weight);
        const Output output = c.in_place == InPlace::no ? Output(apart) : inplace(apart);
        const GroupNormGradients results{output, tensor_of(of_weight), tensor_of(of_bias)};
        const GroupNormStatistics statistics{mean.tensor(), rstd.tensor()};
        row ? group_norm_backward_with(*row, gradient.tensor(), input.tensor(), w, statistics,
                                       results, p.options)
            : group_norm_backward(gradient.tensor(), input.tensor(), w, statistics, results,
                                  p.options);
    };
    return checked.run();
}

}  // namespace

std::string compare_forward(const GroupNormCase &c, const Tensor &input, const Tensor &weight,
                            const Tensor &bias, const Tensor &output,
                            const GroupNormStatistics &statistics) {
    return compare_forward(c, wanted_of(c, input, weight, bias), weight, bias, output, statistics);
}

std::string compare_gradients(const GroupNormCase &c, const Tensor &output_gradient,
                              const Tensor &input, const Tensor &weight,
                              const GroupNormStatistics &statistics, const Tensor &of_input,
                              const Tensor &of_weight, const Tensor &of_bias) {
    return compare_gradients(c, wanted_of(c, output_gradient, input, weight, statistics), of_input,
                             of_weight, of_bias);
}

Outcome check(const GroupNormCase &c, Device device, const KernelInfo *row) {
    return c.problem.backward ? check_gradients(c, device, row) : check_forward(c, device, row);
}

}  // namespace hk::test
