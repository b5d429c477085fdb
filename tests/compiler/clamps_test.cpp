#include "compiler/clamps.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/compiler/product.h"

namespace {

using namespace Halide;
using hk::test::count;
using hk::test::Product;

Expr bounded(const Expr &value) {
    const Expr raised = select(value < -1.5f, -1.5f, value);
    return strict_float(select(raised > 2.5f, 2.5f, raised));
}

TEST(Clamps, BoundsOfProductsAreAnInstruction) {
    const std::string ptx = Product{.finished = bounded}.ptx();
    // In a loop over the sums of a thread.
    EXPECT_EQ(count(ptx, "max.NaN.f32"), 1) << ptx;
    EXPECT_EQ(count(ptx, "min.NaN.f32"), 1) << ptx;
}

TEST(Clamps, WhatIsNotStrictOrNoBoundStays) {
    const std::vector<std::function<Expr(Expr)>> others = {
        [](const Expr &v) { return select(v < 1.f, 1.f, v); },
        [](const Expr &v) { return strict_float(select(v < 1.f, 2.f, v)); },
        [](const Expr &v) { return strict_float(select(v < 1.f, v, 1.f)); },  // 1 of NaN
        [](const Expr &v) { return strict_float(select(v < v * v, v * v, v)); }};
    for (const auto &other : others)
        EXPECT_EQ(count(Product{.finished = other}.ptx(), ".NaN.f32"), 0);
}

TEST(Clamps, OtherKernelsCompareAndChoose) {
    const Product product{.loop = "terms", .finished = bounded};
    EXPECT_EQ(count(product.ptx(), ".NaN.f32"), 0);
}

}  // namespace
