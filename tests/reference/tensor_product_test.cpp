// Is the reference the sum that hk/tensor_product.h states: cases made by hand.

#include "tests/reference/tensor_product.h"

#include <gtest/gtest.h>

#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

using Numbers = std::vector<double>;

Tensor indices(const Shape &shape, const Numbers &values, DataType type = DataType::s32) {
    return host_tensor(shape, type, values);
}

// Rows (1, 2), (3, 4), (5, 6); two offsets: the matrix that swaps channels, and 10 times as it is.
const Tensor input = host_tensor({3, 2}, DataType::f32, {1, 2, 3, 4, 5, 6});
const Tensor weight = host_tensor({2, 2, 2}, DataType::f32, {0, 1, 1, 0, 10, 0, 0, 10});
const Tensor output = host_tensor({2, 2}, DataType::f32, {100, 200, 300, 400});

TEST(TensorProductReference, GathersMultipliesAndScatters) {
    const auto result = reference::tensor_product(input, weight, indices({2, 1}, {0, 2}),
                                                  indices({2, 1}, {1, 1}), output);
    EXPECT_EQ(result.values, (Numbers{0, 0, 2 + 50, 1 + 60}));
    EXPECT_EQ(result.magnitudes, (Numbers{0, 0, 52, 61}));
    EXPECT_EQ(result.terms, (std::vector<int64_t>{0, 4}));
}

TEST(TensorProductReference, AddsDuplicatesAndToWhatWasThere) {
    const auto result = reference::tensor_product(
        input, weight, indices({2, 2}, {0, 1, -1, 1}, DataType::s64),
        indices({2, 2}, {0, 0, 1, -1}, DataType::s64), output, {.accumulate = true});
    EXPECT_EQ(result.values, (Numbers{100 + 2 + 4, 200 + 1 + 3, 300, 400}));
    EXPECT_EQ(result.terms, (std::vector<int64_t>{5, 1}));
}

TEST(TensorProductReference, TakesRaggedMaps) {
    TensorProductOptions options;
    options.starts = indices({3}, {0, 1, 3}, DataType::s64);
    const auto result = reference::tensor_product(input, weight, indices({3}, {2, 0, 1}),
                                                  indices({3}, {0, 0, 1}), output, options);
    EXPECT_EQ(result.values, (Numbers{6 + 10, 5 + 20, 30, 40}));
}

// Two groups of one channel.
TEST(TensorProductReference, GroupsSeeTheirOwnChannels) {
    const Tensor of_groups = host_tensor({1, 1, 4}, DataType::f32, {1, 10, 100, 1000});
    const Tensor wide = host_tensor({1, 4}, DataType::f32, {0, 0, 0, 0});
    const auto result = reference::tensor_product(input, of_groups, indices({1, 1}, {1}),
                                                  indices({1, 1}, {0}), wide, {.groups = 2});
    EXPECT_EQ(result.values, (Numbers{3, 30, 400, 4000}));
}

TEST(TensorProductReference, SignedTermsHaveMagnitudes) {
    const Tensor row = host_tensor({1, 2}, DataType::f64, {3, -3});
    const Tensor ones = host_tensor({1, 2, 1}, DataType::f64, {1, 1});
    const Tensor one = host_tensor({1, 1}, DataType::f64, {0});
    const auto result =
        reference::tensor_product(row, ones, indices({1, 1}, {0}), indices({1, 1}, {0}), one);
    EXPECT_EQ(result.values, Numbers{0});
    EXPECT_EQ(result.magnitudes, Numbers{6});
}

}  // namespace
}  // namespace hk::test
