// Is the reference the order that hk/topk.h states: cases made by hand. And do the random problems
// reach what they are meant to reach.

#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <set>

#include "tests/reference/elements.h"
#include "tests/support/values.h"
#include "tests/topk/case.h"
#include "tests/topk/reference.h"

namespace hk::test {
namespace {

using Numbers = std::vector<double>;
using Bits = std::vector<uint64_t>;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

Tensor of_bits(const Shape &shape, DataType type, const Bits &bits) {
    Tensor tensor(shape, type);
    reference::write_bits(tensor, bits);
    return tensor;
}

reference::TopKResult of(const Numbers &row, int64_t k, Order order) {
    const Tensor input = host_tensor({static_cast<int64_t>(row.size())}, DataType::f32, row);
    return reference::topk(input, k, 0, order, DataType::s64);
}

Bits indices(const Numbers &row, int64_t k, Order order) {
    return reference::bits(of(row, k, order).indices);
}

TEST(TopKReference, TiesGoByTheLowestIndexInBothOrders) {
    const Numbers row{1, 3, 2, 3, 1, 3};
    EXPECT_EQ(indices(row, 6, Order::largest), (Bits{1, 3, 5, 2, 0, 4}));
    EXPECT_EQ(indices(row, 6, Order::smallest), (Bits{0, 4, 2, 1, 3, 5}));
    EXPECT_EQ(indices(row, 2, Order::largest), (Bits{1, 3}));
    EXPECT_EQ(reference::read(of(row, 4, Order::largest).values), (Numbers{3, 3, 3, 2}));
    EXPECT_EQ(indices(row, 0, Order::largest), Bits{});
}

TEST(TopKReference, NanIsTheLargest) {
    const Numbers row{inf, nan, -inf, 0, nan, 5};
    EXPECT_EQ(indices(row, 6, Order::largest), (Bits{1, 4, 0, 5, 3, 2}));
    EXPECT_EQ(indices(row, 6, Order::smallest), (Bits{2, 3, 5, 0, 1, 4}));
}

TEST(TopKReference, ZerosAreEqualAndPlus) {
    const Numbers row{-0.0, 0.0, -1, 0.0, -0.0};
    EXPECT_EQ(indices(row, 5, Order::largest), (Bits{0, 1, 3, 4, 2}));
    EXPECT_EQ(indices(row, 5, Order::smallest), (Bits{2, 0, 1, 3, 4}));
    EXPECT_EQ(reference::bits(of(row, 2, Order::largest).values), (Bits{0, 0}));
}

// Negative, signalling and with a payload, between two infinities.
TEST(TopKReference, EveryNanIsToldAsOne) {
    const struct {
        DataType type;
        Bits row, wanted;
    } cases[] = {
        {DataType::f16, {0x7c00, 0xfe01, 0x7c01, 0xfc00}, {0x7e00, 0x7e00, 0x7c00, 0xfc00}},
        {DataType::bf16, {0x7f80, 0xffc1, 0x7f81, 0xff80}, {0x7fc0, 0x7fc0, 0x7f80, 0xff80}},
        {DataType::f32,
         {0x7f800000, 0xffc00001, 0x7f800001, 0xff800000},
         {0x7fc00000, 0x7fc00000, 0x7f800000, 0xff800000}},
        {DataType::f64,
         {0x7ff0000000000000, 0xfff8000000000001, 0x7ff0000000000001, 0xfff0000000000000},
         {0x7ff8000000000000, 0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000}},
    };
    for (const auto &[type, row, wanted] : cases) {
        const auto result =
            reference::topk(of_bits({4}, type, row), 4, 0, Order::largest, DataType::s32);
        EXPECT_EQ(reference::bits(result.values), wanted) << hk::name_of(type);
        EXPECT_EQ(reference::bits(result.indices), (Bits{1, 2, 0, 3})) << hk::name_of(type);
        EXPECT_EQ(result.indices.type(), DataType::s32);
    }
}

// 2^62 and its neighbours are one number as doubles.
TEST(TopKReference, IntegersOf64BitsAreExact) {
    const uint64_t large = uint64_t{1} << 62;
    const Bits row{large + 1, large, large + 2, ~uint64_t{0}};
    const auto places = [&](DataType type) {
        return reference::bits(
            reference::topk(of_bits({4}, type, row), 4, 0, Order::largest, DataType::s64).indices);
    };
    EXPECT_EQ(places(DataType::u64), (Bits{3, 2, 0, 1}));
    EXPECT_EQ(places(DataType::s64), (Bits{2, 0, 1, 3}));
}

TEST(TopKReference, EveryAxisOfAnyView) {
    const Tensor input = host_tensor({2, 3}, DataType::s32, {5, 1, 4, 2, 6, 3});
    const auto values = [&](const Tensor &tensor, int axis) {
        const auto result = reference::topk(tensor, 1, axis, Order::largest, DataType::s64);
        return std::pair{reference::read(result.values), result.values.shape()};
    };
    EXPECT_EQ(values(input, 0), (std::pair{Numbers{5, 6, 4}, Shape{1, 3}}));
    EXPECT_EQ(values(input, 1), (std::pair{Numbers{5, 6}, Shape{2, 1}}));
    EXPECT_EQ(values(input, -2), values(input, 0));
    EXPECT_EQ(values(input.permute({1, 0}), 0), (std::pair{Numbers{5, 6}, Shape{1, 2}}));
    const auto reversed =
        reference::topk(input.slice(1, 2, 3, -1), 2, 1, Order::largest, DataType::s64);
    EXPECT_EQ(reference::bits(reversed.indices), (Bits{2, 0, 1, 0}));
}

TEST(TopKCase, DrawsEveryKindOfProblem) {
    std::set<size_t> ranks;
    std::set<int64_t> ks;
    std::set<Pattern> drawn;
    std::set<Placement> placements;
    std::set<std::pair<bool, bool>> outputs;
    bool whole = false, last = false, not_last = false;
    for (const uint64_t seed : seeds(600)) {
        const auto c = random_case<TopKCase>(seed, TopKRequest{{DataType::s8}, {}, 1e4});
        ASSERT_TRUE(c);
        ASSERT_LE(c->k, c->columns());
        ranks.insert(c->shape.size());
        ks.insert(c->k);
        drawn.insert(c->pattern);
        placements.insert(c->input);
        outputs.insert({c->values, c->indices});
        whole |= c->k == c->columns() && c->k > 100;
        last |= c->axis_from_front() + 1 == c->shape.size();
        not_last |= c->axis_from_front() + 1 != c->shape.size();
    }
    EXPECT_EQ(ranks.size(), 5u);
    EXPECT_EQ(drawn.size(), static_cast<size_t>(patterns));
    EXPECT_EQ(placements.size(), 5u);
    EXPECT_EQ(outputs.size(), 3u);
    EXPECT_TRUE(whole && last && not_last);
    for (const int64_t k : {0, 1, 2, 5, 50}) EXPECT_TRUE(ks.contains(k)) << k;
}

TEST(TopKCase, PatternsAreWhatTheySay) {
    TopKCase c{.seed = 4, .shape = {3, 200}, .axis = 1};
    const auto row = [&](Pattern pattern) {
        c.pattern = pattern;
        return reference::read(topk_input(c).slice(0, 1, 1));
    };
    const auto distinct = [&](Pattern pattern) {
        const auto values = row(pattern);
        return std::set<double>(values.begin(), values.end()).size();
    };
    EXPECT_GT(distinct(Pattern::numbers), 150u);
    EXPECT_EQ(distinct(Pattern::few), 3u);
    const auto sorted = row(Pattern::sorted), reversed = row(Pattern::reversed);
    EXPECT_TRUE(std::ranges::is_sorted(sorted));
    EXPECT_TRUE(std::ranges::is_sorted(reversed, std::greater<>()));
    EXPECT_EQ(distinct(Pattern::low_bits), 8u);
    c.pattern = Pattern::zeros;
    const auto bits = reference::bits(topk_input(c));
    EXPECT_TRUE(std::ranges::count(bits, 0x80000000) > 0 && std::ranges::count(bits, 0) > 0);
    c.pattern = Pattern::equal;
    const auto all = reference::bits(topk_input(c).slice(0, 0, 1));
    EXPECT_EQ(std::set<uint64_t>(all.begin(), all.end()).size(), 1u);
}

}  // namespace
}  // namespace hk::test
