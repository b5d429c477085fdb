// A sample of rows has the first, the last and as many others as take the time that it may.

#include "tests/reference/rows.h"

#include <gtest/gtest.h>

namespace hk::reference {
namespace {

TEST(Rows, AllWhereTheyTakeLittle) {
    for (const Rows &rows : {Rows(), Rows::sampled(1000, 1e6), Rows::sampled(0, 0)}) {
        EXPECT_EQ(rows.among(1000), 1000);
        EXPECT_EQ(rows.place(7), 7);
        EXPECT_EQ(rows.at(7), 7);
    }
}

TEST(Rows, SampleIsSpreadAndHasBothEnds) {
    constexpr int64_t kAll = 100000;
    const Rows rows = Rows::sampled(kAll, 5e9);
    const int64_t count = rows.among(kAll);
    EXPECT_GT(count, kAll / 100 * 8 / 10);
    EXPECT_LT(count, kAll / 100 * 12 / 10);
    EXPECT_EQ(rows.at(0), 0);
    EXPECT_EQ(rows.at(count - 1), kAll - 1);
    int64_t found = 0, odd = 0;
    for (int64_t row = 0; row < kAll; row++) {
        if (rows.place(row) < 0) continue;
        EXPECT_EQ(rows.at(rows.place(row)), row);
        found++;
        odd += row % 2;
    }
    EXPECT_EQ(found, count);
    EXPECT_NEAR(static_cast<double>(odd), static_cast<double>(count) / 2, count / 10);
}

TEST(Rows, TwoOfVeryLongSums) { EXPECT_EQ(Rows::sampled(500, 1e15).among(500), 2); }

}  // namespace
}  // namespace hk::reference
