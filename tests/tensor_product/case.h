#pragma once
// Random problems of the tensor product and its gradients, steered by the conditions of a row of
// the table, and their comparison with the reference: integers exactly, reals within the tolerance
// of their sums.

#include "hk/tensor_product_backward.h"
#include "tests/convolution/random_problem.h"
#include "tests/support/checked_call.h"
#include "tests/tensor_product/reference.h"

namespace hk::test {

// How pairs lie.
enum class Pairs : uint8_t {
    random,      // any rows, repeated too, in any order; some offsets have none
    sorted,      // each offset reaches a row at most once, rows upwards: a kernel map
    one_output,  // all pairs reach one row
    empty,       // none
};

const char *name_of(Pairs pairs);

// What is computed.
enum class Product : uint8_t { output, input_gradient, weight_gradient };

const char *name_of(Product product);

struct TensorProductCase {
    uint64_t seed = 0;
    DataType type = DataType::f32, index_type = DataType::s32;
    int64_t input_rows = 1, output_rows = 1, offsets = 1;
    int64_t length = 1;                                           // of an offset's list, at most
    int64_t input_channels = 1, output_channels = 1, groups = 1;  // channels of a group
    Product product = Product::output;
    Pairs pairs = Pairs::random;
    bool ragged = false, accumulate = false, check_maps = true;
    bool transposed = false;  // the weight is a view of [N, M, C]
    Summation summation = Summation::deterministic;
    // integers, reals, or one_infinity: numbers above zero, and infinities in the last channel of
    // both factors, which with another channel after it would make NaNs
    Data data = Data::integers;
    Placement input = Placement::packed, weight = Placement::packed, maps = Placement::packed,
              output = Placement::packed;

    Shape input_shape() const { return {input_rows, groups * input_channels}; }
    Shape weight_shape() const { return {offsets, input_channels, groups * output_channels}; }
    Shape output_shape() const { return {output_rows, groups * output_channels}; }
};

std::string to_string(const TensorProductCase &c);

// Without rows of the output, or of a weight's gradient without offsets.
void make_empty(TensorProductCase &c);

struct TensorProductRequest {
    DataType type = DataType::f32;
    std::span<const Constraint> where = {};
    double operations = 3e6;  // at most
    Product product = Product::output;
    bool infinities = false;
};

template<typename Case>
std::optional<Case> random_case(uint64_t seed, const TensorProductRequest &request);
template<>
std::optional<TensorProductCase> random_case(uint64_t seed, const TensorProductRequest &request);

// Its operands, packed on the host: the two that are read, and what a result accumulates to, or a
// third that nobody asks for. `starts` is undefined where maps are padded.
struct TensorProductData {
    Tensor input, weight, imap, omap, starts, output;
};
TensorProductData tensor_product_data(const TensorProductCase &c);

// `row` null: what selection takes.
Outcome check(const TensorProductCase &c, Device device, const KernelInfo *row = nullptr);

// What is wrong of a packed result on the host. `exact`: sums are whole numbers.
std::string compare(bool exact, const reference::TensorProductResult &wanted, const Tensor &result);

}  // namespace hk::test
