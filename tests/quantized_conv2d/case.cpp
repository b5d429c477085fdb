#include "tests/quantized_conv2d/case.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/support/conditions.h"

namespace hk::test {
namespace {

using Types = std::vector<DataType>;

float log_uniform(Random &random, double first, double last) {
    return static_cast<float>(
        std::exp(std::uniform_real_distribution<>(std::log(first), std::log(last))(random)));
}

// Once in three times an end of the type's range.
int32_t draw_zero_point(Random &random, DataType type) {
    const int64_t least = type == DataType::u8 ? 0 : -128;
    const int64_t ends[] = {least, least + 255};
    return static_cast<int32_t>(one_in(random, 3) ? ends[uniform(random, 0, 1)]
                                                  : uniform(random, least, least + 255));
}

Types output_types(const Conv2dRequest &request) {
    const bool integer = request.type != DataType::f32;
    // Bytes can't hold what is not finite.
    bool one = request.data == Data::integers || request.data == Data::reals, four = true;
    for (const Constraint &constraint : request.where) {
        if (std::string_view(constraint.field) == "output_bytes") {
            one = one && constraint.value == 1;
            four = constraint.value == 4;
        }
    }
    Types types;
    if (one) types.insert(types.end(), {DataType::u8, DataType::s8});
    if (four) types.push_back(DataType::f32);
    if (four && integer) types.push_back(DataType::s32);
    return types;
}

// The square root of the mean square of stored - zero point, uniform over a byte's range; its mean.
struct Spread {
    double rms, mean;
};
Spread spread(DataType type, int32_t zero_point) {
    const double mean = (type == DataType::u8 ? 127.5 : -0.5) - zero_point;
    return {std::sqrt(256. * 256 / 12 + mean * mean), mean};
}

// How far sums are from zero.
double typical_sum(const QuantizedConv2dCase &c) {
    const Conv2dProblem &p = c.problem;
    // Of no channels as of one: scales are above zero.
    const int64_t channels = std::max<int64_t>(p.channels / p.options.groups, 1);
    const auto terms = static_cast<double>(channels * p.kernel_height * p.kernel_width);
    if (c.stored == Stored::centred) {
        return std::sqrt(terms) * (c.integer() ? 2 : 3.7);  // of -2..2, and -4..4
    }
    const Spread input = c.integer() ? spread(p.type, c.input_zero_point)
                                     : Spread{c.data == Data::reals ? 0.6 : 2.6, 0};
    const Spread weight = spread(DataType::s8, c.weight_zero_point);
    return std::hypot(std::sqrt(terms) * input.rms * weight.rms, terms * input.mean * weight.mean);
}

float power_of_two(float value) { return std::exp2(std::round(std::log2(value))); }

void draw_scales(Random &random, QuantizedConv2dCase &c) {
    c.scale_per_filter = one_in(random, 2);
    c.bias_scale_per_filter = one_in(random, 2);
    if (c.integer()) {
        c.input_scale = log_uniform(random, 0.002, 0.5);
    }
    c.weight_scale = log_uniform(random, 0.0005, 0.05);
    // Of 256 steps an output takes some tens, or so many that most saturate.
    const double steps = one_in(random, 4) ? 300 : log_uniform(random, 20, 120);
    c.unit = static_cast<float>(c.input_scale * c.weight_scale * typical_sum(c) / steps);
    if (c.stored == Stored::centred) {
        c.input_scale = power_of_two(c.input_scale);
        c.weight_scale = power_of_two(c.weight_scale);
        c.unit = 2 * c.input_scale * c.weight_scale;
    }
    c.output_scale = c.requantized() ? c.unit : 1;
}

void draw_zero_points(Random &random, QuantizedConv2dCase &c) {
    if (c.integer()) {
        c.input_zero_point = draw_zero_point(random, c.problem.type);
    }
    c.weight_zero_point = one_in(random, 2) ? 0 : draw_zero_point(random, DataType::s8);
    if (c.requantized()) {
        c.output_zero_point = draw_zero_point(random, c.output_type);
    }
}

void draw_bias(Random &random, QuantizedConv2dCase &c) {
    using enum QuantizedBias;
    std::vector<QuantizedBias> kinds{none, real_f32, quantized_s8, quantized_s32, sum_s32, sum_s32};
    if (!c.integer()) kinds = {none, real_f32, quantized_s8, quantized_s32};
    if (c.output_type == DataType::s32) kinds = {none, sum_s32};
    // Nothing that moves sums away from halfway.
    if (c.stored == Stored::centred) kinds = {none, c.integer() ? sum_s32 : none};
    c.bias = pick(random, kinds);
    if (c.bias == quantized_s8) {
        c.bias_scale = c.unit * log_uniform(random, 0.05, 0.5);
        c.bias_zero_point = one_in(random, 2) ? 0 : draw_zero_point(random, DataType::s8);
    } else if (c.bias == quantized_s32) {
        c.bias_scale = c.unit * log_uniform(random, 1e-4, 1e-3);
        c.bias_zero_point =
            one_in(random, 2) ? 0 : static_cast<int32_t>(uniform(random, -5000, 5000));
    }
}

void draw_activation(Random &random, QuantizedConv2dCase &c) {
    Conv2dOptions &options = c.problem.options;
    if (c.output_type == DataType::s32) {
        return;
    }
    options.activation =
        static_cast<Activation>(uniform(random, 0, static_cast<int64_t>(Activation::leaky_relu)));
    if (options.activation == Activation::clamp) {
        options.alpha = -c.unit * log_uniform(random, 1, 40);
        options.beta = c.unit * log_uniform(random, 1, 40);
    } else if (options.activation == Activation::leaky_relu) {
        options.alpha = one_in(random, 4) ? -0.5f : one_in(random, 2) ? 0.25f : 0.1f;
    }
}

const char *name_of(QuantizedBias bias) {
    const char *names[] = {"none", "f32", "s8 quantized", "s32 quantized", "s32 of the products"};
    return names[static_cast<size_t>(bias)];
}

}  // namespace

template<>
std::optional<QuantizedConv2dCase> random_case(uint64_t seed, const Conv2dRequest &request) {
    Random random(seed);
    const Types types = output_types(request);
    if (types.empty()) {
        return {};
    }
    std::vector<Constraint> where(request.where.begin(), request.where.end());
    // What random_problem() knows nothing of.
    bool may_be_signed = true;
    std::erase_if(where, [&](const Constraint &constraint) {
        const std::string_view field = constraint.field;
        if (field == "signed_input") may_be_signed = constraint.value == 1;
        return field == "output_bytes" || field == "signed_input";
    });
    Conv2dRequest sizes = request;
    sizes.where = where;
    const auto problem = random_problem(random, sizes);
    if (!problem) {
        return {};
    }
    QuantizedConv2dCase c{{.seed = seed, .problem = *problem, .data = request.data}};
    c.problem.prepared_filter = range_of(request.where, "prepared").moved(one_in(random, 2));
    if (request.type != DataType::f32 && one_in(random, 3) && may_be_signed) {
        c.problem.type = DataType::s8;
    }
    c.output_type = pick(random, types);
    c.stored = one_in(random, 5) ? Stored::ends : one_in(random, 4) ? Stored::centred : Stored::any;
    draw_zero_points(random, c);
    draw_scales(random, c);
    draw_bias(random, c);
    draw_activation(random, c);
    draw_placements(random, c, request.where);
    return c;
}

std::vector<int64_t> QuantizedConv2dCase::traits() const {
    const auto number = [](auto kind) { return static_cast<int64_t>(kind); };
    std::vector<int64_t> traits = ConvolutionCase::traits();
    // Of each of which there may be another kernel, for problems of all kinds.
    const int64_t kernel = 2 * number(problem.type) + (weight_zero_point != 0);
    const bool pixels = problem.output_height() * problem.output_width() > 1;
    const bool padded = problem.options.padding.top + problem.options.padding.left > 0;
    const bool scaled = scale_per_filter && output_type != DataType::s32;
    const bool moved = bias != QuantizedBias::none && bias != QuantizedBias::sum_s32;
    for (const bool trait : {problem.filters > 64, pixels, padded, scaled, moved})
        traits.push_back(2 * kernel + trait);
    traits.insert(traits.end(),
                  {number(problem.type), number(output_type), number(bias), number(stored),
                   number(problem.options.activation), scale_per_filter, bias_scale_per_filter,
                   input_zero_point != 0, weight_zero_point != 0});
    return traits;
}

std::string to_string(const QuantizedConv2dCase &c) {
    std::ostringstream text;
    text << to_string(c.problem) << "; input scale " << c.input_scale << " zero point "
         << c.input_zero_point << ", weight scale " << c.weight_scale
         << (c.scale_per_filter ? " and others" : "") << " zero point " << c.weight_zero_point
         << ", bias " << name_of(c.bias);
    if (c.bias == QuantizedBias::quantized_s8 || c.bias == QuantizedBias::quantized_s32) {
        text << " scale " << c.bias_scale << (c.bias_scale_per_filter ? " and others" : "")
             << " zero point " << c.bias_zero_point;
    }
    text << ", output " << hk::name_of(c.output_type);
    if (c.requantized()) {
        text << " scale " << c.output_scale << " zero point " << c.output_zero_point;
    }
    const char *stored[] = {"", ", bytes at the ends of the range", ", bytes next to zero points"};
    text << describe_data(c) << stored[static_cast<size_t>(c.stored)];
    return text.str();
}

}  // namespace hk::test
