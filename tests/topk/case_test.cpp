#include "tests/topk/case.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/reference/elements.h"

namespace hk::test {
namespace {

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
