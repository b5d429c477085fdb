// Rows against the more general ones after them.

#include "against_general.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hk/conv2d.h"

namespace hk::bench {

namespace {

RowCase timed(const std::string &name, double ns, double general_ns) {
    return {"3x3_w7", name, ns, "3x3", general_ns, ""};
}

TEST(AgainstGeneral, VerdictSaysWhichRowIsWrong) {
    EXPECT_EQ(verdict({timed("a", 100, 105), timed("b", 100, 95)}), "1.00 on the mean: should go");
    EXPECT_EQ(verdict({timed("a", 100, 144), timed("b", 100, 100)}),
              "1.20 on the mean: 3x3 should be mended, 1.44 times as long at a");
    RowCase failed = timed("b", 0, 0);
    failed.failure = "output[0] is 1, must be 2";
    EXPECT_EQ(verdict({failed}), "not timed");
    EXPECT_EQ(verdict({failed, timed("a", 100, 100)}), "1.00 on the mean: should go");
}

// Each row that a case of the lists selects, with the fastest of those after it that take the case.
TEST(AgainstGeneral, LaterRowsTakeTheSameCases) {
    const Family family = family_named("conv2d");
    MeasureOptions how;
    how.budget_seconds = 0.01;
    size_t told = 0;
    const auto cases =
        against_general(family, {"smoke"}, "", {}, how, [&](const RowCase &) { ++told; });
    EXPECT_GE(cases.size(), 3u);
    EXPECT_EQ(told, cases.size());
    const auto rows = family.rows({});
    const auto place = [&](const std::string &row) {
        return std::ranges::find(rows, row, &KernelInfo::row) - rows.begin();
    };
    for (const RowCase &one : cases) {
        SCOPED_TRACE(one.name);
        EXPECT_EQ(one.failure, "");
        EXPECT_GT(one.ns, 0);
        EXPECT_GT(one.general_ns, 0);
        EXPECT_LT(place(one.row), place(one.general));
        EXPECT_LT(place(one.general), std::ssize(rows));
        for (const CaseInfo &info : family.cases("smoke", {})) {
            if (info.name == one.name) {
                EXPECT_EQ(one.row, info.select()->row);
            }
        }
    }
}

}  // namespace

}  // namespace hk::bench
