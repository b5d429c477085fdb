#include "compiler/linear.h"

#include <gtest/gtest.h>

namespace {

using namespace Halide;
using hk::compiler::Linear;

TEST(Linear, TermsThatCancelOutAreNotThere) {
    const Var x("x"), y("y");
    const Linear index(((x - y) * 4 + (y * 4 + 3)) * 2);
    EXPECT_EQ(index.constant, 6);
    ASSERT_EQ(index.terms.size(), 1);
    EXPECT_EQ(index.terms.begin()->second, 8);
    EXPECT_TRUE(Internal::can_prove(index.sum() == x * 8 + 6));
    EXPECT_FALSE(Internal::expr_uses_var(index.sum(), y.name()));
}

TEST(Linear, WhatIsNoMultipleIsATerm) {
    const Var x("x"), y("y");
    const Linear index((x * y + 1) * 3 + x / 2);
    EXPECT_EQ(index.constant, 3);
    EXPECT_EQ(index.terms.size(), 2);
    EXPECT_TRUE(Internal::can_prove(index.sum() == x * y * 3 + x / 2 + 3));
}

}  // namespace
