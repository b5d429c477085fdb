#pragma once
// Random problems of the family topk, steered by the conditions of a row of the table, and their
// comparison with the reference, bit for bit.

#include "hk/topk.h"
#include "tests/convolution/random_problem.h"
#include "tests/support/checked_call.h"

namespace hk::test {

enum class Pattern : uint8_t {
    numbers,  // floats in -1..1, any integers
    bits,     // any bits: NaNs with payloads, subnormal numbers
    few,      // three distinct values
    equal,    // one value, which may be a NaN or the type's extreme
    sorted,
    reversed,
    specials,  // +-infinity and NaN among a few others
    extremes,  // the ends of the type's range
    low_bits,  // the same leading bits
    zeros,     // -0 and +0, and a few others
};
constexpr int patterns = 10;

const char *name_of(Pattern pattern);

struct TopKCase {
    uint64_t seed = 0;
    Shape shape;
    int axis = 0;  // may be negative
    DataType type = DataType::f32, index_type = DataType::s64;
    int64_t k = 1;
    Order order = Order::largest;
    bool sorted = true, values = true, indices = true;
    Pattern pattern = Pattern::numbers;
    Placement input = Placement::packed, values_at = Placement::packed,
              indices_at = Placement::packed;

    size_t axis_from_front() const {
        return static_cast<size_t>(axis < 0 ? axis + std::ssize(shape) : axis);
    }
    int64_t columns() const { return shape[axis_from_front()]; }
    Shape output_shape() const;
    TopKOptions options() const { return {axis, order, sorted}; }
};

std::string to_string(const TopKCase &c);

// Without rows; a single row without places.
void make_empty(TopKCase &c);

struct TopKRequest {
    std::vector<DataType> types;
    std::span<const Constraint> where = {};
    double elements = 1e4;  // at most, unless `where` asks for more
};

// The types that a row of the table serves, which has one of u8 to u64.
std::vector<DataType> topk_types(DataType row_type);

template<typename Case>
std::optional<Case> random_case(uint64_t seed, const TopKRequest &request);
template<>
std::optional<TopKCase> random_case(uint64_t seed, const TopKRequest &request);

// The elements of the case's input: a packed tensor on the host.
Tensor topk_input(const TopKCase &c);

// `row` null: what selection takes.
Outcome check(const TopKCase &c, Device device, const KernelInfo *row = nullptr);

// The places where two packed host tensors of one shape and type differ, in words; empty where they
// don't.
std::string differing(const Tensor &got, const Tensor &wanted);

}  // namespace hk::test
