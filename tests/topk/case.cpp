#include "tests/topk/case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "tests/reference/elements.h"
#include "tests/support/conditions.h"
#include "tests/topk/reference.h"
#include "topk/operands.h"

namespace hk::test {
namespace {

using Bits = std::vector<uint64_t>;

// Small numbers more often than large ones.
int64_t draw(Random &random, const Range &range) {
    const double low = static_cast<double>(std::max<int64_t>(range.first, 1));
    const double high = static_cast<double>(std::max<int64_t>(range.last, 1));
    const double exponent = std::uniform_real_distribution<>(std::log(low), std::log(high))(random);
    return range.moved(static_cast<int64_t>(std::llround(std::exp(exponent))));
}

// Draws sizes until they meet the conditions; from longer and longer rows where they don't.
bool draw_row(Random &random, const TopKRequest &request, TopKProblem &problem) {
    Range columns = range_of(request.where, "columns");
    columns.first = std::max<int64_t>(columns.first, 1);
    double limit = std::max(request.elements, static_cast<double>(columns.first));
    for (int i = 0; i<200; i++, limit *= i> 100 ? 1.1 : 1) {
        columns.last =
            std::min(range_of(request.where, "columns").last, static_cast<int64_t>(limit));
        problem.columns = draw(random, columns);
        Range rows = range_of(request.where, "rows");
        rows.first = std::max<int64_t>(rows.first, 1);
        rows.last =
            std::clamp(static_cast<int64_t>(limit) / problem.columns, rows.first, rows.last);
        problem.rows = draw(random, rows);
        Range k = range_of(request.where, "k");
        k.last = std::min(k.last, problem.columns);
        if (k.first > k.last) continue;
        const int64_t usual[] = {0, 1, 2, 5, 50, problem.columns - 1, problem.columns};
        problem.k = one_in(random, 2) ? k.moved(usual[uniform(random, 0, 6)]) : draw(random, k);
        if (problem.k <= problem.columns && meets(request.where, detail::topk_fields(problem)))
            return true;
    }
    return false;
}

// The axis among other extents, whose product is the rows, or at most where fewer will do.
void draw_shape(Random &random, const TopKProblem &problem, bool exactly, TopKCase &c) {
    int64_t rows = problem.rows;
    const int64_t rank = uniform(random, exactly ? 2 : 1, 5);
    const int64_t axis = problem.adjacent ? rank - 1 : uniform(random, 0, rank - 1);
    for (int64_t d = 0; d < rank; d++) {
        int64_t extent = problem.columns;
        if (d != axis) {
            extent = exactly ? rows : draw(random, {1, rows});
            rows /= extent;
        }
        c.shape.push_back(extent);
    }
    c.axis = static_cast<int>(one_in(random, 2) ? axis : axis - rank);
}

Placement draw_placement(Random &random) {
    return static_cast<Placement>(uniform(random, 0, static_cast<int64_t>(Placement::permuted)));
}

bool is_float(DataType type) {
    return type == DataType::f32 || type == DataType::f64 || type == DataType::f16 ||
           type == DataType::bf16;
}

uint64_t mask_of(DataType type) { return ~uint64_t{0} >> (64 - 8 * size_of(type)); }

uint64_t bits_of(DataType type, double value) {
    switch (type) {
        case DataType::f64:
            return std::bit_cast<uint64_t>(value);
        case DataType::f32:
            return std::bit_cast<uint32_t>(static_cast<float>(value));
        case DataType::f16:
            return f16_from_f32(static_cast<float>(value));
        case DataType::bf16:
            return bf16_from_f32(static_cast<float>(value));
        default:
            return static_cast<uint64_t>(static_cast<int64_t>(value)) & mask_of(type);
    }
}

uint64_t any_number(Random &random, DataType type) {
    return is_float(type) ? bits_of(type, std::uniform_real_distribution<>(-1, 1)(random))
                          : random() & mask_of(type);
}

// The ends of the range, and what lies next to them.
Bits extremes(DataType type) {
    const uint64_t mask = mask_of(type), sign = mask ^ (mask >> 1);
    Bits all{0, 1, sign, sign + 1, sign - 1, mask, mask - 1};
    if (!is_float(type)) return all;
    const uint64_t infinity = bits_of(type, std::numeric_limits<double>::infinity());
    // Zeros, the least subnormal numbers, the largest numbers, the infinities.
    return {0, 1, sign, sign + 1, infinity - 1, sign + infinity - 1, infinity, sign + infinity};
}

Bits specials(DataType type) {
    if (!is_float(type)) return extremes(type);
    const uint64_t mask = mask_of(type), sign = mask ^ (mask >> 1);
    const uint64_t infinity = bits_of(type, std::numeric_limits<double>::infinity());
    // NaNs: signalling, negative, with all bits.
    return {infinity, sign + infinity, infinity + 1, sign + infinity + 1, mask, mask >> 1,
            0,        bits_of(type, 1)};
}

Bits of(Random &random, DataType type, int64_t count) {
    Bits values(static_cast<size_t>(count));
    std::ranges::generate(values, [&] { return any_number(random, type); });
    return values;
}

Bits chosen(Random &random, const Bits &among, int64_t count) {
    Bits values(static_cast<size_t>(count));
    std::ranges::generate(values, [&] { return pick(random, among); });
    return values;
}

Bits low_bits(Random &random, DataType type, int64_t count) {
    const uint64_t base = any_number(random, type) & ~uint64_t{7};
    Bits values(static_cast<size_t>(count));
    std::ranges::generate(values, [&] { return base | random() % 8; });
    return values;
}

Bits in_order(const Bits &values, DataType type, Order order) {
    Tensor tensor({std::ssize(values)}, type);
    reference::write_bits(tensor, values);
    return reference::bits(
        reference::topk(tensor, std::ssize(values), 0, order, DataType::s64).values);
}

Bits row_of(Random &random, const TopKCase &c) {
    const DataType type = c.type;
    const int64_t count = c.columns();
    switch (c.pattern) {
        case Pattern::numbers:
            return of(random, type, count);
        case Pattern::bits: {
            Bits values(static_cast<size_t>(count));
            std::ranges::generate(values, [&] { return random() & mask_of(type); });
            return values;
        }
        case Pattern::few:
            return chosen(random, of(random, type, 3), count);
        case Pattern::equal:
            return chosen(
                random, {pick(random, one_in(random, 2) ? specials(type) : extremes(type))}, count);
        case Pattern::sorted:
            return in_order(of(random, type, count), type, Order::smallest);
        case Pattern::reversed:
            return in_order(of(random, type, count), type, Order::largest);
        case Pattern::specials:
            return chosen(random, specials(type), count);
        case Pattern::extremes:
            return chosen(random, extremes(type), count);
        case Pattern::low_bits:
            return low_bits(random, type, count);
        case Pattern::zeros: {
            const uint64_t minus = is_float(type) ? bits_of(type, -0.0) : 0;
            return chosen(random, {0, minus, 0, minus, any_number(random, type)}, count);
        }
    }
    return {};
}

}  // namespace

const char *name_of(Pattern pattern) {
    const char *names[] = {"numbers",  "bits",     "few",      "equal",    "sorted",
                           "reversed", "specials", "extremes", "low bits", "zeros"};
    return names[static_cast<size_t>(pattern)];
}

Shape TopKCase::output_shape() const {
    Shape result = shape;
    result[axis_from_front()] = k;
    return result;
}

std::string to_string(const TopKCase &c) {
    std::ostringstream text;
    text << "topk " << hk::name_of(c.type) << " " << hk::to_string(c.shape) << ", axis " << c.axis
         << ", " << c.k << " " << hk::name_of(c.order) << (c.sorted ? "" : " in any order") << ": ";
    if (c.values) text << "values " << name_of(c.values_at);
    if (c.indices) {
        text << (c.values ? ", " : "") << hk::name_of(c.index_type) << " indices "
             << name_of(c.indices_at);
    }
    text << "; data " << name_of(c.pattern) << ", input " << name_of(c.input);
    return text.str();
}

void make_empty(TopKCase &c) {
    if (c.shape.size() == 1) {
        c.k = 0;
        return;
    }
    c.shape[c.axis_from_front() == 0 ? 1 : 0] = 0;
}

std::vector<DataType> topk_types(DataType row_type) {
    switch (size_of(row_type)) {
        case 1:
            return {DataType::u8, DataType::s8};
        case 2:
            return {DataType::f16, DataType::bf16, DataType::u16, DataType::s16};
        case 4:
            return {DataType::f32, DataType::u32, DataType::s32};
        default:
            return {DataType::f64, DataType::u64, DataType::s64};
    }
}

template<>
std::optional<TopKCase> random_case(uint64_t seed, const TopKRequest &request) {
    Random random(seed);
    TopKCase c;
    c.seed = seed;
    c.type = pick(random, request.types);
    c.index_type = one_in(random, 2) ? DataType::s32 : DataType::s64;
    c.order = one_in(random, 2) ? Order::largest : Order::smallest;
    c.sorted = !one_in(random, 4);
    c.pattern = static_cast<Pattern>(uniform(random, 0, patterns - 1));
    const int64_t outputs = uniform(random, 1, 3);
    c.values = range_of(request.where, "values").moved(outputs & 1);
    c.indices = range_of(request.where, "indices").moved(outputs >> 1);
    const Range adjacent = range_of(request.where, "adjacent");
    TopKProblem problem;
    problem.type = c.type;
    problem.values = c.values;
    problem.indices = c.indices;
    problem.adjacent = adjacent.last > 0;
    if (!(c.values || c.indices) || !draw_row(random, request, problem)) {
        return {};
    }
    c.k = problem.k;
    problem.adjacent = adjacent.first == 1;
    draw_shape(random, problem, range_of(request.where, "rows").first > 1, c);
    c.input = draw_placement(random);
    c.values_at = draw_placement(random);
    c.indices_at = draw_placement(random);
    const bool apart =
        c.input > Placement::steps || (c.input == Placement::steps && c.shape.size() == 1);
    if (adjacent.first == 1 && apart) {
        c.input = Placement::margins;
    }
    if (adjacent.last == 0) {
        c.input = Placement::reversed;
    }
    return c;
}

Tensor topk_input(const TopKCase &c) {
    Random random(c.seed + 1);
    const Tensor input(c.shape, c.type);
    const size_t axis = c.axis_from_front();
    int64_t inner = 1;
    for (size_t d = axis + 1; d < c.shape.size(); d++) {
        inner *= c.shape[d];
    }
    const int64_t columns = c.columns();
    const int64_t rows = columns > 0 ? input.elements() / columns : 0;
    Bits all(static_cast<size_t>(input.elements()));
    for (int64_t y = 0; y < rows; y++) {
        const Bits row = row_of(random, c);
        const int64_t first = y / inner * columns * inner + y % inner;
        for (int64_t i = 0; i < columns; i++) {
            all[static_cast<size_t>(first + i * inner)] = row[static_cast<size_t>(i)];
        }
    }
    reference::write_bits(input, all);
    return input;
}

std::string differing(const Tensor &got, const Tensor &wanted) {
    const std::vector<uint64_t> have = reference::bits(got), want = reference::bits(wanted);
    std::ostringstream text;
    size_t wrong = 0;
    for (size_t i = 0; i < want.size(); i++) {
        if (have[i] != want[i] && wrong++ < 4) {
            text << "\n        " << i << ": 0x" << std::hex << have[i] << ", should be 0x"
                 << want[i] << std::dec;
        }
    }
    return wrong ? std::to_string(wrong) + " of " + std::to_string(want.size()) + " elements" +
                       text.str()
                 : "";
}

Outcome check(const TopKCase &c, Device device, const KernelInfo *row) {
    const Tensor elements = topk_input(c);
    const auto wanted = reference::topk(elements, c.k, c.axis, c.order, c.index_type);
    Random random(c.seed + 2);
    const Placed input(elements, device, c.input, random);
    std::optional<Placed> values, indices;
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"input", &input}};
    if (c.values) {
        values.emplace(c.output_shape(), c.type, device, c.values_at, random);
        checked.outputs.push_back({"values", &*values, [&](const Tensor &result) {
                                       return differing(result, wanted.values);
                                   }});
    }
    if (c.indices) {
        indices.emplace(c.output_shape(), c.index_type, device, c.indices_at, random);
        checked.outputs.push_back({"indices", &*indices, [&](const Tensor &result) {
                                       return differing(result, wanted.indices);
                                   }});
    }
    checked.call = [&] {
        if (row) {
            topk_with(*row, input.tensor(), c.k, tensor_of(values), tensor_of(indices),
                      c.options());
        } else {
            topk(input.tensor(), c.k, tensor_of(values), tensor_of(indices), c.options());
        }
    };
    return checked.run();
}

}  // namespace hk::test
