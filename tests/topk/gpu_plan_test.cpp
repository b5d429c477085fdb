// Do the steps of a top-k on a GPU fit one another, end in one list, and stay few.

#include <gtest/gtest.h>

#include <algorithm>

#include "topk/gpu_plan.h"

namespace hk::detail {
namespace {

using Kind = TopKStep::Kind;

TopKProblem problem(int64_t rows, int64_t columns, int64_t k, bool values, bool indices) {
    TopKProblem result;
    result.rows = rows;
    result.columns = columns;
    result.k = k;
    result.values = values;
    result.indices = indices;
    return result;
}

std::string text(const TopKProblem &p) {
    return std::to_string(p.rows) + " rows of " + std::to_string(p.columns) + ", k " +
           std::to_string(p.k) + (p.values ? ", values" : "") + (p.indices ? ", indices" : "");
}

// What each step is given is what the one before has made, or the row itself.
void check_step(const TopKStep &step, const TopKStep *last, const TopKProblem &p, int64_t tile) {
    if (step.kind == Kind::merge) {
        EXPECT_EQ(step.indices, last->indices);
        EXPECT_EQ(step.items, last->places * last->lists);
        EXPECT_EQ(step.lists, (last->lists + 1) / 2);
        EXPECT_LE(step.places, 2 * last->places);
        return;
    }
    EXPECT_EQ(step.lists, (step.items + tile - 1) / tile);
    EXPECT_LE(step.places, tile);
    EXPECT_GE(step.stride * step.chunk, p.columns);
    EXPECT_LT(step.stride * (step.chunk - 1), p.columns);
    if (step.kind == Kind::tiles) {
        EXPECT_EQ(last, nullptr);
        EXPECT_EQ(step.items, step.stride);
        return;
    }
    ASSERT_TRUE(last->indices);
    EXPECT_EQ(step.items % step.chunk, 0);
    const int64_t listed = step.items / step.chunk;
    if (step.chunk > 1) {  // the k best columns
        EXPECT_EQ(listed, p.k);
        EXPECT_EQ(last->lists, 1);
        EXPECT_GE(last->places, p.k);
        EXPECT_GE(step.stride, p.k);
    } else {
        EXPECT_EQ(listed, last->places * last->lists);
    }
}

TEST(TopKPlan, StepsFitOneAnother) {
    int plans = 0;
    for (const TopKTileSizes tile :
         {TopKTileSizes{1024, 1024}, TopKTileSizes{256, 1024}, TopKTileSizes{256, 256},
          TopKTileSizes{8, 8}, TopKTileSizes{8, 256}}) {
        for (const int64_t rows : {1, 3, 1000}) {
            for (const int64_t columns : {1, 2, 8, 9, 255, 257, 1024, 1025, 70000, 1 << 21}) {
                for (const int64_t k : {int64_t{1}, int64_t{2}, int64_t{16}, int64_t{64},
                                        int64_t{300}, columns / 2, columns}) {
                    if (k < 1 || k > columns) continue;
                    for (const auto &[values, indices] :
                         {std::pair{true, true}, std::pair{true, false}, std::pair{false, true}}) {
                        const TopKProblem p = problem(rows, columns, k, values, indices);
                        SCOPED_TRACE(text(p) + ", tile " + std::to_string(tile.indices));
                        const std::vector<TopKStep> steps = topk_plan(p, tile);
                        for (size_t i = 0; i < steps.size(); i++)
                            check_step(steps[i], i ? &steps[i - 1] : nullptr, p,
                                       steps[i].indices ? tile.indices : tile.keys);
                        plans++;
                        EXPECT_EQ(steps.back().lists, 1);
                        EXPECT_GE(steps.back().places, k);
                        if (indices) {
                            EXPECT_TRUE(steps.back().indices);
                        }
                        if (HasFailure()) return;
                    }
                }
            }
        }
    }
    EXPECT_GT(plans, 2000);
}

int64_t steps_of(int64_t rows, int64_t columns, int64_t k) {
    return static_cast<int64_t>(
        topk_plan(problem(rows, columns, k, true, true), {1024, 1024}).size());
}

TEST(TopKPlan, IsShort) {
    EXPECT_EQ(steps_of(4096, 1000, 5), 1);
    EXPECT_EQ(steps_of(1000, 10000, 16), 2);
    EXPECT_EQ(steps_of(1, 50257, 50), 3);
    EXPECT_EQ(steps_of(64, 32000, 50), 3);
    EXPECT_EQ(steps_of(1, 131072, 4), 2);
    EXPECT_LE(steps_of(1, 1000000, 100), 5);
    EXPECT_LE(steps_of(1, 16777216, 100), 6);
    EXPECT_LE(steps_of(100, 100000, 256), 6);
}

// Long rows of which little is wanted are read once, and few of their elements are sorted.
TEST(TopKPlan, LooksAtColumnsOfLongRows) {
    const std::vector<TopKStep> steps =
        topk_plan(problem(1, 16777216, 100, true, true), {1024, 1024});
    EXPECT_EQ(steps[0].chunk, 32);
    int64_t sorted = 0;
    for (const TopKStep &step : steps) sorted += step.items;
    EXPECT_LT(sorted, 16777216 / 8);
}

// Without indices, where no list has to be sorted by them.
TEST(TopKPlan, CarriesNoIndicesForValuesAlone) {
    for (const auto &[columns, k] : {std::pair{1000, 5}, {5000, 5000}, {100000, 900}}) {
        for (const TopKStep &step : topk_plan(problem(1, columns, k, true, false), {1024, 1024}))
            EXPECT_FALSE(step.indices) << columns << " columns, k " << k;
    }
    EXPECT_FALSE(topk_plan(problem(1, 16777216, 100, true, false), {1024, 1024}).back().indices);
}

}  // namespace
}  // namespace hk::detail
