#include "compiler/tile_registers.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/lowering.h"
#include "compiler/setup.h"
#include "runtime/src/tile_registers.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;

struct CountTileCalls : IRMutator {
    using IRMutator::visit;
    std::map<std::string, int> &calls;
    explicit CountTileCalls(std::map<std::string, int> &calls) : calls(calls) {}
    Expr visit(const Call *op) override {
        calls[op->name]++;
        return IRMutator::visit(op);
    }
};

constexpr int kTileTerms = 64, kTileColumns = 64, kTileRows = 64;

// In blocks of 32 columns by 32 rows, four tiles.
struct BlockOfTiles {
    int columns = 1;       // of a tile's rows, which are in lines of so many
    int gap = 0;           // columns between the lines, in memory
    int terms = 0;         // of the innermost loop
    float start = 0;       // of a sum
    bool squared = false;  // what is summed are no products of both
    Type type = BFloat(16);

    Buffer<> rows() const {
        Buffer<> all(type, {kTileTerms, columns + gap, kTileRows / columns});
        return all;
    }
    int parts() const { return 4 / type.bytes(); }
    Type of_filters() const { return type.bits() == 8 ? Int(8) : type; }
    Buffer<> filters() const {
        return Buffer<>(of_filters(), {parts() * 16, kTileTerms / parts(), kTileColumns / 16});
    }

    Pipeline pipeline(const Func &rows, const Func &filters, const Target &target) const {
        const Var k("k"), x("x"), y("y"), ko("ko"), yo("yo"), kt("kt"), yt("yt"), row("tile_row");
        const int step = 64 / type.bytes(), inner = terms ? terms : parts();
        const RDom r(0, inner, 0, step / inner, 0, kTileTerms / step, "r");
        Func sum("sum"), out("out");
        const Type sums = type.is_float() ? Float(32) : Int(32);
        const Expr term = step * r.z + inner * r.y + r.x;
        const Expr a = cast(sums, rows(term, x, y)),
                   b = cast(sums,
                            filters(parts() * (k % 16) + term % parts(), term / parts(), k / 16));
        sum(k, x, y) = cast(sums, start);
        sum(k, x, y) += squared ? a * a : a * b;
        out(k, x, y) = sum(k, x, y);
        const int lines = 16 / columns;
        out.bound(x, 0, columns)
            .bound(k, 0, kTileColumns)
            .split(y, yo, y, 2 * lines)
            .split(k, ko, k, 32)
            .reorder(k, x, y, ko, yo)
            .vectorize(k);
        sum.compute_at(out, ko)
            .store_in(MemoryType::Stack)
            .bound_extent(k, 32)
            .bound_extent(x, columns)
            .bound_extent(y, 2 * lines);
        sum.split(y, yt, row, lines)
            .split(k, kt, k, 16)
            .reorder(k, x, row, kt, yt)
            .vectorize(k)
            .unroll(kt)
            .unroll(yt);
        sum.update()
            .split(y, yt, row, lines)
            .split(k, kt, k, 16)
            .reorder(r.x, r.y, k, x, row, kt, yt, r.z)
            .unroll(kt)
            .unroll(yt);
        Pipeline pipeline(out);
        hk::compiler::add_lowering_passes(pipeline, target);
        return pipeline;
    }

    std::map<std::string, int> calls() const {
        const Target target(
            "x86-64-linux-avx-avx2-f16c-fma-sse41-avx512-avx512_skylake-avx512_cannonlake-"
            "avx512_sapphirerapids");
        Buffer<> all_rows = rows(), all_filters = filters();
        Pipeline lowered = pipeline(Func(all_rows), Func(all_filters), target);
        std::map<std::string, int> calls;
        lowered.add_custom_lowering_pass(new CountTileCalls(calls));
        lowered.compile_to_module({}, "product", target);
        return calls;
    }

    std::string refusal() const {
        hk::compiler::set_up_halide();
        try {
            calls();
        } catch (const CompileError &error) {
            return error.what();
        }
        return "nothing";
    }
};

void expect_said(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), text.npos) << text;
}

TEST(TileRegisters, ABlockHasFourProductsAStep) {
    for (const int columns : {1, 8}) {
        auto calls = BlockOfTiles{.columns = columns}.calls();
        EXPECT_EQ(calls["tile_zero"], 4);
        EXPECT_EQ(calls["tile_matmul"], 4);
        EXPECT_EQ(calls["tile_load"], 8);  // of which half are the same
        EXPECT_EQ(calls["tile_store"], 4);
    }
}

TEST(TileRegisters, WhatTheInstructionDoesNotDoIsRefused) {
    expect_said(BlockOfTiles{.columns = 8, .gap = 1}.refusal(),
                "rows are not the same distance apart");
    expect_said(BlockOfTiles{.terms = 4}.refusal(), "factors are not as the instruction has them");
    expect_said(BlockOfTiles{.start = 1}.refusal(), "its sums do not start from rows of zeros");
    expect_said(BlockOfTiles{.squared = true}.refusal(), "no sum of products of bf16");
    expect_said(BlockOfTiles{.type = Float(16)}.refusal(), "no sum of products of bf16");
}

TEST(TileRegisters, OtherTargetsHaveTheLoops) {
    const Target target("x86-64-linux-avx-avx2-f16c-fma-sse41");
    const BlockOfTiles product;
    Buffer<> rows = product.rows(), filters = product.filters();
    Pipeline lowered = product.pipeline(Func(rows), Func(filters), target);
    std::map<std::string, int> calls;
    lowered.add_custom_lowering_pass(new CountTileCalls(calls));
    lowered.compile_to_module({}, "product", target);
    EXPECT_EQ(calls["tile_matmul"], 0);
}

template<typename Row, typename Column, typename Sum>
void expect_right(int columns) {
    const BlockOfTiles product{.columns = columns, .type = type_of<Row>()};
    Buffer<> rows = product.rows(), filters = product.filters();
    int seed = 0;
    rows.as<Row>().for_each_value([&](Row &one) { one = Row(float(seed++ * 7 % 11)); });
    filters.as<Column>().for_each_value(
        [&](Column &one) { one = Column(float(seed++ * 7 % 11 - 5)); });
    Pipeline lowered = product.pipeline(Func(rows), Func(filters), get_host_target());
    const Buffer<Sum> result =
        lowered.realize({kTileColumns, columns, kTileRows / columns}, get_host_target());
    const Buffer<Row> a = rows;
    const Buffer<Column> b = filters;
    const int parts = product.parts();
    result.for_each_element([&](int k, int x, int y) {
        Sum sum = 0;
        for (int term = 0; term < kTileTerms; term++)
            sum +=
                Sum(a(term, x, y)) * Sum(b(parts * (k % 16) + term % parts, term / parts, k / 16));
        ASSERT_EQ(result(k, x, y), sum) << k << ", " << x << ", " << y;
    });
}

TEST(TileRegisters, ProductsAreRight) {
    if (!hk::compiler::has_tile_registers(get_host_target()) || !hk::detail::has_tile_registers())
        GTEST_SKIP() << "this machine has no tile registers";
    for (const int columns : {1, 8}) expect_right<bfloat16_t, bfloat16_t, float>(columns);
    expect_right<uint8_t, int8_t, int32_t>(1);
    expect_right<int8_t, int8_t, int32_t>(8);
}

}  // namespace
