#include "tests/topk/case.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/reference/elements.h"

namespace hk::test {
namespace {

TEST(TopKCase, MeetsTheConditions) {
    using enum Constraint::Relation;
    const Constraint where[] = {{"values", equal, 1},       {"indices", equal, 0},
                                {"columns", at_least, 700}, {"k", at_most, 64},
                                {"k", at_least, 3},         {"vectors_per_k", at_least, 2},
                                {"adjacent", equal, 1}};
    int drawn = 0;
    for (const uint64_t seed : seeds(200)) {
        const auto c = random_case<TopKCase>(seed, TopKRequest{{DataType::f32}, where, 5e3});
        if (!c) continue;
        drawn++;
        SCOPED_TRACE(to_string(*c));
        EXPECT_TRUE(c->values);
        EXPECT_FALSE(c->indices);
        EXPECT_GE(c->columns(), 700);
        EXPECT_LE(c->k, 64);
        EXPECT_GE(c->k, 3);
        EXPECT_GE(c->columns() / c->k, 32);
        Random random(seed);
        const Placed input(topk_input(*c), Device::cpu(), c->input, random);
        EXPECT_EQ(input.tensor().strides()[c->axis_from_front()], 1);
    }
    EXPECT_GT(drawn, 100);
}

TEST(TopKCase, ManyRowsAreDrawn) {
    using enum Constraint::Relation;
    const Constraint where[] = {
        {"rows", at_least, 8}, {"vectors", at_least, 16}, {"candidates", at_most, 512}};
    for (const uint64_t seed : seeds(30)) {
        const auto c = random_case<TopKCase>(seed, TopKRequest{{DataType::f32}, where, 3e3});
        ASSERT_TRUE(c);
        const Tensor input = topk_input(*c);
        EXPECT_GE(input.elements() / c->columns(), 8);
        EXPECT_GE(c->columns(), 256);
        EXPECT_LE(c->columns() / 64 * c->k, 512);
    }
}

TEST(TopKCase, WholeRowsAreDrawn) {
    const Constraint where[] = {{"rest", Constraint::Relation::at_most, 0}};
    for (const uint64_t seed : seeds(30)) {
        const auto c = random_case<TopKCase>(seed, TopKRequest{{DataType::u8}, where, 1e3});
        ASSERT_TRUE(c);
        EXPECT_EQ(c->k, c->columns());
    }
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
