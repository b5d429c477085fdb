#include "compiler/async_copies.h"

#include <gtest/gtest.h>

#include "compiler/unclamped.h"
#include "tests/compiler/product.h"

namespace {

using namespace Halide;
using hk::test::count;
using hk::test::expect_part;
using hk::test::Product;

TEST(AsyncCopies, StepsWaitForTheirSliceAndBeginALaterOne) {
    for (const int stages : {2, 3, 4}) {
        const std::string ptx = Product{.stages = stages}.ptx();
        // 32 columns and 16 rows of 64 bytes, by 32 threads: 6 vectors of a thread, before the loop
        // as often as there are slices that begin there, and once in it.
        EXPECT_EQ(count(ptx, "cp.async.cg.shared.global"), 6 * stages) << stages;
        EXPECT_EQ(count(ptx, "cp.async.commit_group"), stages) << stages;
        EXPECT_EQ(count(ptx, "cp.async.wait_group"), 1) << stages;
        expect_part(ptx, "cp.async.wait_group \t" + std::to_string(stages - 2) + ";");
        EXPECT_EQ(count(ptx, "ld.global.nc.v4"), 0) << "words pass a register";
        EXPECT_EQ(count(ptx, "st.shared.v4"), 0);
        EXPECT_EQ(count(ptx, "bar.sync"), count(Product{}.ptx(), "bar.sync") - 1);
    }
}

// What all taps of a slice read is on its way while the slice before is summed over.
TEST(AsyncCopies, TheOutermostLoopsCopiesAreASliceAhead) {
    const std::string ptx = Product{.stages = 2, .taps = 3}.ptx();
    // 32 columns for each step, 32 rows for each slice: 4 vectors of a thread both.
    EXPECT_EQ(count(ptx, "cp.async.cg.shared.global"), (4 + 4) * 2);
    EXPECT_EQ(count(ptx, "cp.async.commit_group"), 2);
    EXPECT_EQ(count(ptx, "cp.async.wait_group"), 1);
    EXPECT_EQ(count(ptx, "mma.sync"), 8);
    EXPECT_EQ(count(ptx, "ld.global.nc.v4"), 0) << "words pass a register";
    EXPECT_EQ(count(ptx, "hk_"), 0) << "calls are left";
}

TEST(AsyncCopies, TheOutermostLoopHasTwoStages) {
    try {
        Product{.stages = 3, .taps = 3}.ptx();
        FAIL() << "it was taken";
    } catch (const CompileError &error) {
        expect_part(error.what(), "what the outermost loop copies has other than two");
    }
}

// The unit fills with zeros alone.
TEST(AsyncCopies, WhatIsNoZeroOutsideIsStored) {
    const std::string ptx =
        Product{.type = Int(8), .stages = 3, .of_rows = UInt(8), .filled = true}.ptx();
    EXPECT_EQ(count(ptx, "cp.async.cg.shared.global"), 6 * 3);
    EXPECT_EQ(count(ptx, "st.shared.v4"), 2 * 3) << "of rows alone";
    EXPECT_EQ(count(ptx, "ld.global.nc.v4"), 0) << "words pass a register";
}

// Vectors that end before their last element are copied in part.
TEST(AsyncCopies, FillsAVectorsLastElementsWithZeros) {
    for (const Type type : {Float(16), BFloat(16), Float(32), Int(8)}) {
        const std::string ptx = Product{.type = type, .stages = 3, .cut = true}.ptx();
        EXPECT_EQ(count(ptx, "cp.async.cg.shared.global"), 6 * 3);
        EXPECT_EQ(count(ptx, ", 16, %r"), 2 * 3) << "of rows alone";
        EXPECT_EQ(count(ptx, "st.shared"), 0) << type;
        EXPECT_EQ(count(ptx, "ld.global"), 0) << "words pass a register";
    }
    const std::string at_once = Product{.cut = true}.ptx();
    EXPECT_EQ(count(at_once, "cp.async"), 0);
    EXPECT_EQ(count(at_once, "hk_"), 0);
}

// No product of matrices, whose loop has another name: sums read the stage themselves, four words
// at once.
TEST(AsyncCopies, SumsOfF32ReadTheirStage) {
    const std::string ptx = Product{.type = Float(32), .loop = "terms", .stages = 3}.ptx();
    EXPECT_EQ(count(ptx, "mma.sync"), 0);
    EXPECT_EQ(count(ptx, "cp.async.cg.shared.global"), 6 * 3);
    EXPECT_GT(count(ptx, "ld.shared"), 0);
    EXPECT_EQ(count(ptx, "st.shared"), 0) << "words pass a register";
    EXPECT_LT(count(ptx, "bar.sync"),
              count(Product{.type = Float(32), .loop = "terms"}.ptx(), "bar.sync"));
}

// Of three stages copies of so many bytes, less than a vector's 16, and none by registers.
void expect_copies(Product product, int bytes) {
    const int of_vector = 16 / bytes;
    const std::string ptx = product.ptx(), size = "], " + std::to_string(bytes);
    EXPECT_EQ(count(ptx, "cp.async.ca.shared.global"), 6 * of_vector * 3);
    EXPECT_EQ(count(ptx, size + ";"), 6 * of_vector * 3);
    EXPECT_EQ(count(ptx, "cp.async.cg"), 0);
    EXPECT_EQ(count(ptx, "ld.global"), 0) << "words pass a register";
    product.cut = true;
    EXPECT_EQ(count(product.ptx(), size + ", %r"), 2 * of_vector * 3) << "of rows alone";
}

// Words that are no neighbours are copied one by one; of a condition one comparison is of the word
// itself, what all of a thread's words have in common is its end.
TEST(AsyncCopies, CopiesWordsOneByOne) {
    expect_copies({.type = Float(32), .loop = "terms", .vector = 1, .stages = 3}, 4);
}

// Vectors of 8 bytes, to the halves of those that matrices are read by.
TEST(AsyncCopies, CopiesHalfVectors) {
    for (const Type type : {Float(16), BFloat(16)})
        expect_copies({.type = type, .vector = 4, .stages = 3}, 8);
}

TEST(AsyncCopies, WordsOutsideAreZeros) {
    try {
        Product{.type = Float(32), .loop = "terms", .vector = 1, .stages = 3, .filled = true}.ptx();
        FAIL() << "it was taken";
    } catch (const CompileError &error) {
        expect_part(error.what(), "words that are not copied are other than zeros");
    }
}

// A bound that is as far from the condition's as the value is says the same; one further is none.
TEST(AsyncCopies, ClampsAConstantApartAreIdle) {
    const Var x("x"), n("n");
    const auto as_read = [&](const Expr &index) {
        return hk::compiler::unclamped(index, x < n, {});
    };
    const auto is_clamped = [](const Expr &index) { return index.as<Internal::Min>() != nullptr; };
    for (const int apart : {-3, 0, 5}) {
        EXPECT_FALSE(is_clamped(as_read(min(x + apart, n + (apart - 1))))) << apart;
        EXPECT_TRUE(is_clamped(as_read(min(x + apart, n + (apart - 2))))) << apart;
    }
}

TEST(AsyncCopies, OneStageIsNone) { EXPECT_EQ(count(Product{}.ptx(), "cp.async"), 0); }

TEST(AsyncCopies, RefusesWhatIsNoLoopOfProducts) {
    try {
        Product{.loop = "terms", .stages = 3}.ptx();
        FAIL() << "it was taken";
    } catch (const CompileError &error) {
        expect_part(error.what(), "it is no loop of copies and products of matrices or f32");
    }
}

}  // namespace
