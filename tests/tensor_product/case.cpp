#include "tests/tensor_product/case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "tensor_product/operands.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

using Numbers = std::vector<double>;

TensorProductProblem problem_of(const TensorProductCase &c) {
    TensorProductProblem problem;
    problem.type = c.type;
    problem.offsets = c.offsets;
    problem.input_channels = c.input_channels;
    problem.output_channels = c.output_channels;
    problem.groups = c.groups;
    const auto apart = [](Placement placement, int64_t channels) {
        const bool any = placement == Placement::reversed || placement == Placement::permuted;
        return any && channels > 1;
    };
    problem.adjacent = !apart(c.input, c.groups * c.input_channels) &&
                       !apart(c.output, c.groups * c.output_channels);
    problem.transposed = c.transposed;
    problem.aligned =
        std::ranges::all_of(std::array{c.input, c.weight, c.output}, [](Placement placement) {
            return placement == Placement::aligned || placement == Placement::vectors;
        });
    return c.product == Product::input_gradient ? detail::turned_round(problem) : problem;
}

struct Pair {
    int64_t from, to;
};

// Of one offset.
std::vector<Pair> pairs_of(Random &random, const TensorProductCase &c, int64_t target) {
    std::vector<Pair> pairs;
    if (c.pairs == Pairs::empty || c.input_rows == 0 || c.output_rows == 0) return pairs;
    const auto any_source = [&] { return uniform(random, 0, c.input_rows - 1); };
    if (c.pairs == Pairs::sorted) {
        for (int64_t row = 0; row < c.output_rows && std::ssize(pairs) < c.length; row++) {
            if (one_in(random, 2)) pairs.push_back({any_source(), row});
        }
        return pairs;
    }
    const bool none = c.pairs == Pairs::random && one_in(random, 4);
    const int64_t count = none ? 0 : uniform(random, 0, c.length);
    for (int64_t p = 0; p < count; p++) {
        const int64_t to =
            c.pairs == Pairs::one_output ? target : uniform(random, 0, c.output_rows - 1);
        pairs.push_back({any_source(), to});
    }
    return pairs;
}

// Among the pairs, up to `length`: -1 in both maps or in one, where the other has a pair's row.
void add_padding(Random &random, std::vector<Pair> &pairs, int64_t length) {
    while (std::ssize(pairs) < length) {
        const int64_t at = uniform(random, 0, std::ssize(pairs));
        const Pair before = at > 0 ? pairs[static_cast<size_t>(at - 1)] : Pair{-1, -1};
        const Pair kinds[] = {{-1, -1}, {before.from, -1}, {-1, before.to}};
        pairs.insert(pairs.begin() + at, kinds[uniform(random, 0, 2)]);
    }
}

// `axis`: of the channels that may be infinite.
Numbers values(Random &random, const TensorProductCase &c, const Shape &shape, size_t axis) {
    if (c.data == Data::reals) return reals(random, shape);
    Numbers all = whole_numbers(random, shape, c.data == Data::integers ? -3 : 1, 3);
    const auto channels = static_cast<size_t>(shape[axis]);
    const size_t step = axis == 1 && shape.size() == 3 ? static_cast<size_t>(shape[2]) : 1;
    for (size_t i = 0; c.data == Data::one_infinity && i < all.size(); i++)
        if (i / step % channels == channels - 1) all[i] = std::numeric_limits<double>::infinity();
    return all;
}

// As a problem has it, and as memory has it where that is transposed.
Tensor turned(const TensorProductCase &c, const Tensor &weight) {
    return c.transposed ? weight.permute({0, 2, 1}) : weight;
}

// In f64 the reference is rounded as the kernel is.
double off_at_most(DataType type, int64_t terms, double value, double magnitude) {
    if (type != DataType::f64) return reference::tolerance(type, terms, value, magnitude);
    return 2 * static_cast<double>(terms + 2) * std::ldexp(1, -53) * magnitude;
}

// The tensors in the order that the functions take them: two that are read, then the result.
struct Roles {
    const char *first_name, *second_name, *result_name;
    Tensor TensorProductData::*first, TensorProductData::*second, TensorProductData::*result;
    Placement TensorProductCase::*first_placement, TensorProductCase::*second_placement,
        TensorProductCase::*result_placement;
    decltype(&reference::tensor_product) reference;
    void (*run)(const Tensor &, const Tensor &, const TensorProductMaps &, const Tensor &,
                const TensorProductOptions &, const Stream &);
    decltype(&tensor_product_with) run_row;
};

Roles roles_of(Product product) {
    using D = TensorProductData;
    using C = TensorProductCase;
    switch (product) {
        case Product::input_gradient:
            return {"output_gradient",
                    "weight",
                    "input_gradient",
                    &D::output,
                    &D::weight,
                    &D::input,
                    &C::output,
                    &C::weight,
                    &C::input,
                    reference::tensor_product_backward_data,
                    tensor_product_backward_data,
                    tensor_product_backward_data_with};
        case Product::weight_gradient:
            return {"input",
                    "output_gradient",
                    "weight_gradient",
                    &D::input,
                    &D::output,
                    &D::weight,
                    &C::input,
                    &C::output,
                    &C::weight,
                    reference::tensor_product_backward_weight,
                    tensor_product_backward_weight,
                    tensor_product_backward_weight_with};
        default:
            return {"input",        "weight",
                    "output",       &D::input,
                    &D::weight,     &D::output,
                    &C::input,      &C::weight,
                    &C::output,     reference::tensor_product,
                    tensor_product, tensor_product_with};
    }
}

}  // namespace

const char *name_of(Pairs pairs) {
    const char *names[] = {"random", "sorted", "to one output", "none"};
    return names[static_cast<size_t>(pairs)];
}

const char *name_of(Product product) {
    const char *names[] = {"tensor_product", "tensor_product_backward_data",
                           "tensor_product_backward_weight"};
    return names[static_cast<size_t>(product)];
}

std::string to_string(const TensorProductCase &c) {
    std::ostringstream text;
    text << name_of(c.product) << " " << hk::name_of(c.type) << ", " << c.offsets
         << " offsets of at most " << c.length << " pairs (" << name_of(c.pairs) << ", "
         << (c.ragged ? "ragged " : "padded ") << hk::name_of(c.index_type) << "), " << c.input_rows
         << " to " << c.output_rows << " rows, " << c.groups << " groups of " << c.input_channels
         << " to " << c.output_channels << " channels, " << hk::name_of(c.summation)
         << (c.accumulate ? ", accumulated" : "") << (c.transposed ? ", weight transposed" : "")
         << (c.check_maps ? "" : ", unchecked") << "; data " << name_of(c.data) << ", input "
         << name_of(c.input) << ", weight " << name_of(c.weight) << ", maps " << name_of(c.maps)
         << ", output " << name_of(c.output);
    return text.str();
}

void make_empty(TensorProductCase &c) {
    if (c.product == Product::output) c.output_rows = 0;
    if (c.product == Product::input_gradient) c.input_rows = 0;
    if (c.product == Product::weight_gradient) c.offsets = 0;
}

template<>
std::optional<TensorProductCase> random_case(uint64_t seed, const TensorProductRequest &request) {
    Random random(seed);
    TensorProductCase c{.seed = seed, .type = request.type};
    c.product = request.product;
    const std::vector<int64_t> channels{1, 3, 16, 32, 33, 64, 128, 200};
    const std::vector<int64_t> rows{1, 7, 100, 600, 1500};
    c.input_channels = one_in(random, 2) ? pick(random, channels) : uniform(random, 1, 70);
    c.output_channels = one_in(random, 2) ? pick(random, channels) : uniform(random, 1, 150);
    if (one_in(random, 3)) c.output_channels = 8 * uniform(random, 1, one_in(random, 2) ? 4 : 16);
    // A row that takes only wide or narrow ones would wait long for them.
    for (const auto &[field, count] :
         {std::pair{"c", &c.input_channels}, {"m", &c.output_channels}}) {
        const Range range = range_of(request.where, field);
        if (range.moved(*count) == *count) continue;
        std::vector<int64_t> taken = channels;
        std::erase_if(taken, [&](int64_t other) { return range.moved(other) != other; });
        *count = pick(random, taken);
        if (range.step > 1 && one_in(random, 2))
            *count = range.step * uniform(random, 1, 136 / range.step);
    }
    c.groups = one_in(random, 4) ? uniform(random, 2, 4) : 1;
    c.input_rows = pick(random, rows);
    c.output_rows = pick(random, rows);
    c.offsets = pick(random, std::vector<int64_t>{1, 3, 8, 27});
    const double per_pair =
        static_cast<double>(c.input_channels * c.output_channels * c.groups * c.offsets);
    c.length = uniform(random, 0, std::clamp<int64_t>(request.operations / per_pair, 1, 2000));
    c.index_type = one_in(random, 2) ? DataType::s32 : DataType::s64;
    c.pairs = one_in(random, 10) ? Pairs::empty : static_cast<Pairs>(uniform(random, 0, 2));
    c.ragged = one_in(random, 2);
    c.accumulate = one_in(random, 3);
    c.check_maps = !one_in(random, 3);
    c.summation = one_in(random, 2) ? Summation::deterministic : Summation::atomic;
    c.data = one_in(random, 3) ? Data::reals : Data::integers;
    if (request.infinities) c.data = Data::one_infinity;
    const auto place = [&] {
        return static_cast<Placement>(
            one_in(random, 2) ? 0 : uniform(random, 0, static_cast<int64_t>(Placement::permuted)));
    };
    c.input = place();
    c.weight = place();
    c.maps = place();
    c.output = place();
    if (range_of(request.where, "aligned").first > 0) {
        for (Placement *placement : {&c.input, &c.weight, &c.output})
            *placement = *placement == Placement::packed ? Placement::aligned : Placement::vectors;
    }
    // Of the product, which a gradient turns round.
    const Range transposed = range_of(request.where, "transposed");
    if (transposed.one())
        c.transposed = (transposed.first == 1) != (c.product == Product::input_gradient);
    if (!meets(request.where, detail::tensor_product_fields(problem_of(c)))) return {};
    return c;
}

TensorProductData tensor_product_data(const TensorProductCase &c) {
    Random random(c.seed + 1);
    TensorProductData data;
    const auto tensor = [&](const Shape &shape, size_t axis) {
        return host_tensor(shape, c.type, values(random, c, shape, axis));
    };
    data.input = tensor(c.input_shape(), 1);
    data.weight = tensor(c.weight_shape(), c.product == Product::output ? 1 : 2);
    data.output = tensor(c.output_shape(), 1);
    const int64_t target = uniform(random, 0, std::max<int64_t>(c.output_rows - 1, 0));
    Numbers imap, omap, starts{0};
    for (int64_t n = 0; n < c.offsets; n++) {
        std::vector<Pair> pairs = pairs_of(random, c, target);
        if (!c.ragged || one_in(random, 4)) add_padding(random, pairs, c.length);
        for (const Pair &pair : pairs) {
            imap.push_back(static_cast<double>(pair.from));
            omap.push_back(static_cast<double>(pair.to));
        }
        starts.push_back(static_cast<double>(imap.size()));
    }
    const Shape shape = c.ragged ? Shape{std::ssize(imap)} : Shape{c.offsets, c.length};
    data.imap = host_tensor(shape, c.index_type, imap);
    data.omap = host_tensor(shape, c.index_type, omap);
    if (c.ragged) data.starts = host_tensor({c.offsets + 1}, c.index_type, starts);
    return data;
}

std::string compare(bool exact, const reference::TensorProductResult &wanted,
                    const Tensor &result) {
    const std::vector<double> got = reference::read(result);
    const DataType type = result.type();
    const Shape &shape = result.shape();
    const auto place = [&](size_t i) {
        const auto at = static_cast<int64_t>(i), width = shape[shape.size() - 1];
        const std::string channel = " channel " + std::to_string(at % width);
        if (shape.size() == 2) return "row " + std::to_string(at / width) + channel;
        return "offset " + std::to_string(at / width / shape[1]) + " input channel " +
               std::to_string(at / width % shape[1]) + channel;
    };
    return differences(place, got, [&](size_t i) {
        const double value = wanted.values[i];
        if (exact) return fault(type, got[i], reference::rounded(type, value), 0);
        return fault(type, got[i], value,
                     off_at_most(type, wanted.terms[i], value, wanted.magnitudes[i]));
    });
}

Outcome check(const TensorProductCase &c, Device device, const KernelInfo *row) {
    const TensorProductData data = tensor_product_data(c);
    const Roles roles = roles_of(c.product);
    const TensorProductOptions options{
        .summation = c.summation, .accumulate = c.accumulate, .groups = c.groups};
    const Tensor &previous = data.*roles.result;
    const auto wanted = roles.reference(data.*roles.first, data.*roles.second,
                                        {data.imap, data.omap, data.starts}, previous, options, {});
    Random random(c.seed + 2);
    const Placed first(data.*roles.first, device, c.*roles.first_placement, random);
    const bool has_weight = c.product != Product::weight_gradient;
    const Placed second(has_weight ? turned(c, data.weight) : data.output, device,
                        c.*roles.second_placement, random);
    const Tensor factor = has_weight ? turned(c, second.tensor()) : second.tensor();
    const Device maps_on = one_in(random, 2) ? device : Device::cpu();
    const Placed imap(data.imap, maps_on, c.maps, random), omap(data.omap, maps_on, c.maps, random);
    std::optional<Placed> starts;
    if (c.ragged) starts.emplace(data.starts, maps_on, c.maps, random);
    const Placement placement = c.*roles.result_placement;
    const Placed result = c.accumulate
                              ? Placed(previous, device, placement, random)
                              : Placed(previous.shape(), c.type, device, placement, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{roles.first_name, &first},
                      {roles.second_name, &second},
                      {"imap", &imap},
                      {"omap", &omap},
                      {"starts", address_of(starts)}};
    checked.outputs = {{roles.result_name, &result, [&](const Tensor &got) {
                            return compare(c.data != Data::reals, wanted, got);
                        }}};
    checked.call = [&] {
        const TensorProductMaps maps(imap.tensor(), omap.tensor(), c.input_rows, c.output_rows,
                                     tensor_of(starts), c.check_maps);
        if (row) {
            roles.run_row(*row, first.tensor(), factor, maps, result.tensor(), options, {});
        } else {
            roles.run(first.tensor(), factor, maps, result.tensor(), options, {});
        }
    };
    return checked.run();
}

}  // namespace hk::test
