// Is the reference the sum that hk/tensor_product.h states: cases made by hand.

#include "tests/tensor_product/reference.h"

#include <gtest/gtest.h>

#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

using reference::TensorProductPairs;
using Numbers = std::vector<double>;

Tensor indices(const Shape &shape, const Numbers &values, DataType type = DataType::s32) {
    return host_tensor(shape, type, values);
}

// Rows (1, 2), (3, 4), (5, 6); two offsets: the matrix that swaps channels, and 10 times as it is.
const Tensor input = host_tensor({3, 2}, DataType::f32, {1, 2, 3, 4, 5, 6});
const Tensor weight = host_tensor({2, 2, 2}, DataType::f32, {0, 1, 1, 0, 10, 0, 0, 10});
const Tensor output = host_tensor({2, 2}, DataType::f32, {100, 200, 300, 400});

TEST(TensorProductReference, GathersMultipliesAndScatters) {
    const auto result = reference::tensor_product(
        input, weight, {indices({2, 1}, {0, 2}), indices({2, 1}, {1, 1}), {}}, output);
    EXPECT_EQ(result.values, (Numbers{0, 0, 2 + 50, 1 + 60}));
    EXPECT_EQ(result.magnitudes, (Numbers{0, 0, 52, 61}));
    EXPECT_EQ(result.terms, (std::vector<int64_t>{0, 0, 4, 4}));
}

TEST(TensorProductReference, AddsDuplicatesAndToWhatWasThere) {
    const auto result = reference::tensor_product(input, weight,
                                                  {indices({2, 2}, {0, 1, -1, 1}, DataType::s64),
                                                   indices({2, 2}, {0, 0, 1, -1}, DataType::s64),
                                                   {}},
                                                  output, {.accumulate = true});
    EXPECT_EQ(result.values, (Numbers{100 + 2 + 4, 200 + 1 + 3, 300, 400}));
    EXPECT_EQ(result.terms, (std::vector<int64_t>{5, 5, 1, 1}));
}

TEST(TensorProductReference, TakesRaggedMaps) {
    const auto result = reference::tensor_product(
        input, weight,
        {indices({3}, {2, 0, 1}), indices({3}, {0, 0, 1}), indices({3}, {0, 1, 3}, DataType::s64)},
        output);
    EXPECT_EQ(result.values, (Numbers{6 + 10, 5 + 20, 30, 40}));
}

// Two groups of one channel.
TEST(TensorProductReference, GroupsSeeTheirOwnChannels) {
    const Tensor of_groups = host_tensor({1, 1, 4}, DataType::f32, {1, 10, 100, 1000});
    const Tensor wide = host_tensor({1, 4}, DataType::f32, {0, 0, 0, 0});
    const TensorProductPairs pair{indices({1, 1}, {1}), indices({1, 1}, {0}), {}};
    const auto result = reference::tensor_product(input, of_groups, pair, wide, {.groups = 2});
    EXPECT_EQ(result.values, (Numbers{3, 30, 400, 4000}));
}

TEST(TensorProductReference, SignedTermsHaveMagnitudes) {
    const Tensor row = host_tensor({1, 2}, DataType::f64, {3, -3});
    const Tensor ones = host_tensor({1, 2, 1}, DataType::f64, {1, 1});
    const Tensor one = host_tensor({1, 1}, DataType::f64, {0});
    const auto result =
        reference::tensor_product(row, ones, {indices({1, 1}, {0}), indices({1, 1}, {0}), {}}, one);
    EXPECT_EQ(result.values, Numbers{0});
    EXPECT_EQ(result.magnitudes, Numbers{6});
}

// By hand: two pairs of offset 0, one of offset 1.
TEST(TensorProductReference, Gradients) {
    const TensorProductPairs pairs{indices({3}, {0, 2, 1}), indices({3}, {1, 0, 1}),
                                   indices({3}, {0, 2, 3})};
    const auto data = reference::tensor_product_backward_data(output, weight, pairs, input);
    EXPECT_EQ(data.values, (Numbers{400, 300, 3000, 4000, 200, 100}));
    const auto factors = reference::tensor_product_backward_weight(input, output, pairs, weight);
    EXPECT_EQ(factors.values, (Numbers{1 * 300 + 5 * 100, 1 * 400 + 5 * 200, 2 * 300 + 6 * 100,
                                       2 * 400 + 6 * 200, 3 * 300, 3 * 400, 4 * 300, 4 * 400}));
    const auto added =
        reference::tensor_product_backward_data(output, weight, pairs, input, {.accumulate = true});
    EXPECT_EQ(added.values, (Numbers{401, 302, 3003, 4004, 205, 106}));
}

// <g, J d> over the directions of each argument: a product is linear in both.
TEST(TensorProductReference, GradientsAreThoseOfTheProduct) {
    const TensorProductPairs pairs{
        indices({2, 2}, {0, 2, 1, -1}), indices({2, 2}, {1, 0, 1, 0}), {}};
    const auto dot = [](const Numbers &a, const Numbers &b) {
        double sum = 0;
        for (size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
        return sum;
    };
    const Numbers product = reference::tensor_product(input, weight, pairs, output).values;
    const double wanted = dot(product, reference::read(output));
    EXPECT_EQ(wanted,
              dot(reference::tensor_product_backward_data(output, weight, pairs, input).values,
                  reference::read(input)));
    EXPECT_EQ(wanted,
              dot(reference::tensor_product_backward_weight(input, output, pairs, weight).values,
                  reference::read(weight)));
}

}  // namespace
}  // namespace hk::test
