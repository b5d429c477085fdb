#include <algorithm>
#include <limits>

#include "tests/convolution/random_problem.h"
#include "tests/support/conditions.h"

namespace hk::test {
namespace {

Placement draw_placement(Random &random) {
    return pick(random,
                std::vector<Placement>{Placement::packed, Placement::packed, Placement::margins,
                                       Placement::steps, Placement::flipped});
}

}  // namespace

const char *name_of(Data data) {
    const char *names[] = {"integers", "reals", "integers and a NaN", "integers and an infinity"};
    return names[static_cast<size_t>(data)];
}

std::vector<int64_t> ConvolutionCase::traits() const {
    const auto many = [](int64_t n) { return (n > 1) + (n > 8) + (n > 32); };
    const auto few = [](int64_t n) { return std::min<int64_t>(n, 3); };
    const auto number = [](Placement placement) { return static_cast<int64_t>(placement); };
    const Conv2dOptions &o = problem.options;
    const int64_t channels = problem.channels / o.groups, filters = problem.filters / o.groups;
    const bool padded = o.padding.top > 0 && o.padding.left > 0;
    const bool ends =
        ends_memory(problem.batch * problem.height * problem.width * problem.channels);
    return {problem.batch > 1,
            input == Placement::packed ? 1 + ends + 2 * padded : 0,
            many(o.groups),
            many(channels),
            many(filters),
            channels % 8 == 0,
            filters % 8 == 0,
            many(problem.output_height()),
            many(problem.output_width()),
            few(problem.kernel_height),
            few(problem.kernel_width),
            few(o.stride[0]),
            few(o.stride[1]),
            few(o.dilation[0]),
            few(o.dilation[1]),
            o.padding.top > 0,
            o.padding.bottom > 0,
            o.padding.left > 0,
            o.padding.right > 0,
            problem.prepared_filter,
            number(input),
            number(weight),
            number(output)};
}

void make_empty(ConvolutionCase &c) { c.problem.batch = 0; }

void draw_placements(Random &random, ConvolutionCase &c, std::span<const Constraint> where,
                     Placement ConvolutionCase::*written) {
    const auto has = [&](const char *field) { return range_of(where, field).first > 0; };
    const Placement apart = has("line") ? Placement::spaced : Placement::vectors;
    for (Placement *placement : {&c.input, &c.weight, &c.output}) {
        *placement = draw_placement(random);
        if (has("aligned") || has("image_alignment") ||
            (has("output_alignment") && placement == &c.output))
            *placement = *placement == Placement::packed ? Placement::aligned : apart;
    }
    const bool planes =
        (has("line") || has("output_alignment")) && c.problem.options.layout == Layout::nchw;
    if (planes && c.*written != Placement::packed && c.*written != Placement::aligned)
        c.*written = Placement::planes;
}

std::string describe_data(const ConvolutionCase &c) {
    return std::string("; data ") + name_of(c.data) + "; input " + name_of(c.input) + ", weight " +
           name_of(c.weight) + ", output " + name_of(c.output);
}

void spoil(Random &random, std::vector<double> &values, const Shape &shape, Layout layout,
           int64_t groups, Data data) {
    if (values.empty()) return;
    const bool nhwc = layout == Layout::nhwc;
    const int64_t step = nhwc ? 1 : shape[2] * shape[3];
    const int64_t of_group = shape[nhwc ? 3 : 1] / groups;
    int64_t place = uniform(random, 0, std::ssize(values) - 1);
    if (data == Data::one_infinity) place += (of_group - 1 - place / step % of_group) * step;
    values[static_cast<size_t>(place)] = data == Data::one_nan
                                             ? std::numeric_limits<double>::quiet_NaN()
                                             : std::numeric_limits<double>::infinity();
}

}  // namespace hk::test
