// Strategies of a sweep: legal candidates, none twice, the same again for the same seed.

#include "search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hk/error.h"

namespace hk::explorer {

namespace {

std::vector<Base> two_bases() {
    const schedules::Knob x{"tile_x", 4, {1, 2, 4, 8}}, k{"tile_k", 16, {16, 32, 48}},
        fixed{"lanes", 5, {}}, stage{"stage", 1, {0, 1}};
    return {{"packed/broadcast", {x, fixed, k}, {"tile_x:8", "tile_x:2,tile_k:48"}},
            {"dot/dot", {stage}, {}}};
}

// Tiles of 8 x 48 don't fit.
bool fits(const Point &point) {
    return point.base == 1 || point.values[0] * point.values[2] < 8 * 48;
}

// As if knobs near tile_x 2 and tile_k 32 were fast, and the other base slow.
double time_of(const Point &point) {
    if (point.base == 1) return 500;
    return 100 + 10 * std::abs(std::log2(point.values[0]) - 1) + std::abs(point.values[2] - 32);
}

std::vector<Point> all_of(Search &search, size_t most = 1000) {
    std::vector<Point> points;
    while (points.size() < most) {
        const auto point = search.next();
        if (!point) break;
        points.push_back(*point);
        search.tell(*point, time_of(*point));
    }
    return points;
}

class Strategies : public testing::TestWithParam<std::string> {};

TEST_P(Strategies, FindAllThatIsLegalOnce) {
    const auto search = Search::of(GetParam(), two_bases(), fits, 7);
    std::vector<Point> points = all_of(*search);
    for (const Point &point : points) EXPECT_TRUE(fits(point)) << knobs_of(two_bases()[0], point);
    std::sort(points.begin(), points.end());
    EXPECT_EQ(std::adjacent_find(points.begin(), points.end()), points.end());
    EXPECT_EQ(points.size(), 4u * 3 - 1 + 2);
    EXPECT_EQ(search->dropped(), 1);
}

TEST_P(Strategies, BeginWithTheRows) {
    const auto search = Search::of(GetParam(), two_bases(), fits, 7);
    const std::vector<Point> points = all_of(*search, 4);
    EXPECT_EQ(knobs_of(search->bases()[0], points[0]), "tile_x:8,tile_k:16");
    EXPECT_EQ(knobs_of(search->bases()[0], points[1]), "tile_x:2,tile_k:48");
    EXPECT_EQ(knobs_of(search->bases()[0], points[2]), "tile_x:4,tile_k:16");
    EXPECT_EQ(knobs_of(search->bases()[1], points[3]), "stage:1");
}

TEST_P(Strategies, AreTheSameAgain) {
    const auto first = Search::of(GetParam(), two_bases(), fits, 7);
    const auto second = Search::of(GetParam(), two_bases(), fits, 7);
    EXPECT_EQ(all_of(*first), all_of(*second));
}

TEST_P(Strategies, DontTryWhatTheyWereTold) {
    const auto before = Search::of(GetParam(), two_bases(), fits, 7);
    const std::vector<Point> points = all_of(*before, 5);
    const auto search = Search::of(GetParam(), two_bases(), fits, 7);
    for (const Point &point : points) search->tell(point, time_of(point));
    for (const Point &point : all_of(*search))
        EXPECT_EQ(std::find(points.begin(), points.end(), point), points.end());
}

TEST_P(Strategies, LeaveABase) {
    const auto search = Search::of(GetParam(), two_bases(), fits, 7);
    search->leave(0);
    const std::vector<Point> points = all_of(*search);
    EXPECT_EQ(points.size(), 2u);
    for (const Point &point : points) EXPECT_EQ(point.base, 1u);
}

INSTANTIATE_TEST_SUITE_P(All, Strategies, testing::ValuesIn(Search::strategies()),
                         [](const auto &info) { return info.param; });

TEST(Search, GridGoesOutwards) {
    const auto search = Search::of("grid", two_bases(), fits, 1);
    const std::vector<Point> points = all_of(*search);
    const auto distance = [](const Point &point) {
        if (point.base == 1) return 1 - point.values[0];
        return static_cast<int>(std::abs(std::log2(point.values[0]) - 2)) +
               (point.values[2] - 16) / 16;
    };
    for (size_t i = 5; i < points.size(); i++)
        EXPECT_LE(distance(points[i - 1]), distance(points[i]));
}

// Of a space of a million, with a valley: evolution is near its bottom after 200.
TEST(Search, EvolutionGoesDownhill) {
    std::vector<Base> bases(1);
    bases[0].name = "deep";
    for (const char *name : {"a", "b", "c", "d", "e", "f"})
        bases[0].knobs.push_back({name, 1, schedules::steps(1, 10)});
    const auto best_of = [&](const std::string &strategy) {
        const auto search = Search::of(
            strategy, bases, [](const Point &) { return true; }, 3);
        double best = 1e9;
        for (int i = 0; i < 200; i++) {
            const Point point = *search->next();
            double ns = 10;
            for (const int value : point.values) ns += (value - 7) * (value - 7);
            search->tell(point, ns);
            best = std::min(best, ns);
        }
        return best;
    };
    EXPECT_LE(best_of("evolve"), 13);
    EXPECT_GT(best_of("random"), best_of("evolve"));
}

TEST(Search, KnobsAreTextAndBack) {
    const std::vector<Base> bases = two_bases();
    const auto point = point_of(bases, 0, "tile_k:32");
    ASSERT_TRUE(point);
    EXPECT_EQ(point->values, (std::vector<int>{4, 5, 32}));
    EXPECT_EQ(knobs_of(bases[0], *point), "tile_x:4,tile_k:32");
    EXPECT_FALSE(point_of(bases, 0, "tile_k:33"));
    EXPECT_FALSE(point_of(bases, 0, "tile_z:1"));
}

TEST(Search, AnUnknownStrategyNamesThoseThatThereAre) {
    try {
        Search::of("anneal", two_bases(), fits, 1);
        FAIL();
    } catch (const InvalidArgument &error) {
        EXPECT_STREQ(error.what(), "no strategy \"anneal\"; there are: grid, random, evolve");
    }
}

}  // namespace

}  // namespace hk::explorer
