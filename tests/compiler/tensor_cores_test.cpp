#include "compiler/tensor_cores.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/compiler/product.h"

namespace {

using namespace Halide;
using hk::test::count;
using hk::test::expect_part;
using hk::test::Product;

std::string refusal(const Product &product) {
    try {
        product.ptx();
    } catch (const CompileError &error) {
        return error.what();
    }
    return "nothing";
}

TEST(TensorCores, AWarpHasTheProductsAndLoadsOfItsTile) {
    for (const Type type : {Float(16), BFloat(16)}) {
        const std::string ptx = Product{.type = type}.ptx();
        // 16 rows by 8 columns by 16 terms each; of rows two matrices of 16, of columns four of 8.
        EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k16.row.col.f32"), 8);
        EXPECT_EQ(count(ptx, type == Float(16) ? ".f32.f16.f16.f32" : ".f32.bf16.bf16.f32"), 8);
        EXPECT_EQ(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 6);
        EXPECT_EQ(count(ptx, "hk_"), 0) << "calls are left";
        EXPECT_EQ(count(ptx, "fma.rn"), 0);
    }
}

TEST(TensorCores, FloatsAreCutOffToTF32) {
    for (const int stages : {1, 3}) {
        const std::string ptx = Product{.type = Float(32), .stages = stages}.ptx();
        EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"), 8);
        EXPECT_EQ(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 6);
        EXPECT_EQ(count(ptx, "cp.async.cg.shared.global"), stages == 1 ? 0 : 6 * stages);
        EXPECT_EQ(count(ptx, "fma.rn"), 0);
    }
}

TEST(TensorCores, BytesAreSummedInIntegers) {
    for (const auto &[rows, of_lane] : {std::pair(UInt(8), 8), {Int(8), 8}, {UInt(8), 4}}) {
        const std::string ptx = Product{.type = Int(8), .of_lane = of_lane, .of_rows = rows}.ptx();
        // Of 32 terms each.
        EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k32.row.col.s32"), 8);
        EXPECT_EQ(count(ptx, rows == UInt(8) ? ".s32.u8.s8.s32" : ".s32.s8.s8.s32"), 8);
        EXPECT_EQ(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 6);
        EXPECT_EQ(count(ptx, "dp4a"), 0);
        EXPECT_EQ(count(ptx, "hk_"), 0) << "calls are left";
    }
}

TEST(TensorCores, ResultsAreRoundedByAnInstruction) {
    for (const Type type : {BFloat(16), Float(16)}) {
        const std::string ptx = Product{.type = type, .result = type}.ptx();
        EXPECT_EQ(count(ptx, "cvt.rn.bf16x2.f32"), type == BFloat(16) ? 1 : 0);
        EXPECT_EQ(count(ptx, "cvt.rn.f16x2.f32"), type == Float(16) ? 1 : 0);
        EXPECT_EQ(count(ptx, "hk_"), 0) << "calls are left";
    }
}

TEST(TensorCores, MatricesAcrossMemoryAreTransposed) {
    const std::string along = Product{}.ptx(), across = Product{.across = true}.ptx();
    EXPECT_EQ(count(across, "mma.sync.aligned.m16n8k16.row.col.f32"), 8);
    EXPECT_EQ(count(across, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 6);
    EXPECT_EQ(count(across, "ldmatrix"), 6);
    EXPECT_EQ(count(along, ".trans"), 0);
    EXPECT_EQ(count(across, "hk_"), 0) << "calls are left";
}

// Of 32 bits: ldmatrix transposes 16.
TEST(TensorCores, WordsAcrossMemoryAreLoaded) {
    for (const int stages : {1, 3}) {
        const std::string ptx = Product{.type = Float(32), .across = true, .stages = stages}.ptx();
        EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"), 8);
        // Of 16 terms, 4 a load: of each 8 columns a word, of 16 rows two.
        EXPECT_EQ(count(ptx, "ld.shared.b32"), 16);
        EXPECT_EQ(count(ptx, "ld.shared.v2.b32"), 4);
        EXPECT_EQ(count(ptx, "ldmatrix"), 0);
        EXPECT_EQ(count(ptx, "hk_"), 0) << "calls are left";
        EXPECT_EQ(count(ptx, "fma.rn"), 0);
    }
}

// Each pair of rows is at places of its own.
TEST(TensorCores, RowsAreGathered) {
    const std::string ptx = Product{.taps = 3}.ptx();
    EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k16.row.col.f32"), 8);
    EXPECT_EQ(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 6);
    EXPECT_EQ(count(ptx, "hk_"), 0) << "calls are left";
    expect_part(refusal({.across = true, .taps = 3}), "rows");
}

TEST(TensorCores, SeveralStepsOfTermsAcrossMemoryAreOneLoop) {
    for (const Type type : {BFloat(16), Float(32)}) {
        const Product one{.type = type, .across = true};
        const std::string ptx = Product{.type = type, .terms = 2 * one.terms, .across = true}.ptx();
        EXPECT_EQ(count(ptx, "mma.sync"), 2 * count(one.ptx(), "mma.sync"));
        EXPECT_EQ(count(ptx, "ldmatrix"), 2 * count(one.ptx(), "ldmatrix"));
        EXPECT_EQ(count(ptx, "ld.shared."), 2 * count(one.ptx(), "ld.shared."));
    }
}

TEST(TensorCores, CopiesAreOfSixteenBytes) {
    const std::string ptx = Product{}.ptx();
    EXPECT_GT(count(ptx, "st.shared.v4"), 0);
    EXPECT_EQ(count(ptx, "st.shared.b16"), 0);
    EXPECT_GT(count(ptx, "ld.global.nc.v4"), 0);
    EXPECT_EQ(count(ptx, "ld.global.nc.b16"), 0);
}

TEST(TensorCores, OtherLoopsStayWhatTheyAre) {
    const std::string ptx = Product{.loop = "terms"}.ptx();
    EXPECT_EQ(count(ptx, "mma.sync"), 0);
    EXPECT_GT(count(ptx, "fma.rn"), 0);
}

TEST(TensorCores, RefusesWhatIsNoProductOfMatrices) {
    expect_part(refusal({.type = UInt(16)}), "no sum in a register of products");
    expect_part(refusal({.type = UInt(8)}), "no sum in a register of products");
    expect_part(refusal({.type = UInt(8), .of_rows = Int(8)}), "columns are u8");
    expect_part(refusal({.type = Int(8), .across = true}), "but are bytes");
    expect_part(refusal({.terms = 16}), "it has other than 32 terms");
    expect_part(refusal({.lanes_x = 8, .lanes_y = 4, .of_lane = 4}),
                "threads are other than 4 in x");
    expect_part(refusal({.vector = 4}), "by other than vectors of 16 bytes");
    expect_part(refusal({.apart = 64}), "columns are not next to another");
    expect_part(refusal({.unrolled = true}), "is unrolled");
    expect_part(refusal({.type = Float(32), .across = true, .of_row = 1}),
                "rows of neighbours do not follow");
    expect_part(refusal({.type = Float(32), .across = true, .of_lane = 4}),
                "columns of neighbours do not follow");
    expect_part(refusal({.type = Float(32), .across = true, .apart = 48}),
                "columns of a term are not 32");
    expect_part(refusal({.type = Float(32), .across = true, .vector = 2}), "no copy of vectors");
    expect_part(refusal({.across = true, .of_row = 2}), "rows of neighbours do not follow");
    expect_part(refusal({.across = true, .apart = 48}), "columns of a term are not 32");
    expect_part(refusal({.across = true, .of_lane = 4}), "columns of neighbours do not follow");
    expect_part(refusal({.squared = true}), "no sum in a register of products");
}

}  // namespace
