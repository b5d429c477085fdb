#include "compiler/approximations.h"

#include <gtest/gtest.h>

#include "tests/compiler/product.h"

namespace {

using namespace Halide;
using hk::test::count;
using hk::test::Product;

Expr grown(const Expr &value) { return exp(value); }
Expr inverse(const Expr &value) { return fast_inverse(value); }

TEST(Approximations, ExpOfProductsIsAnInstruction) {
    const std::string ptx = Product{.finished = grown}.ptx();
    EXPECT_EQ(count(ptx, "ex2.approx.f32"), 1) << ptx;
}

TEST(Approximations, OtherKernelsHaveExpItself) {
    const Product product{.loop = "terms", .finished = grown};
    EXPECT_EQ(count(product.ptx(), "ex2.approx.f32"), 0);
}

TEST(Approximations, FastInversesAreAnInstruction) {
    for (const char *loop : {"product", "terms"})
        EXPECT_EQ(count(Product{.loop = loop, .finished = inverse}.ptx(), "rcp.approx.ftz.f32"), 1)
            << loop;
}

}  // namespace
