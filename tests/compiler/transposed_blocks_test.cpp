#include "compiler/transposed_blocks.h"

#include <gtest/gtest.h>

#include "compiler/lowering.h"
#include "schedules/transpose.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;
using hk::generators::element, hk::generators::row;

struct CountShuffles : IRMutator {
    using IRMutator::visit;
    int &shuffles, &strided;
    CountShuffles(int &shuffles, int &strided) : shuffles(shuffles), strided(strided) {}
    Expr visit(const Shuffle *op) override {
        shuffles++;
        return IRMutator::visit(op);
    }
    Expr visit(const Load *op) override {
        const Ramp *index = op->index.as<Ramp>();
        strided += index && !is_const_one(index->stride);
        return IRMutator::visit(op);
    }
};

struct Tile {
    int rows, width;
    int shuffles;  // of the network
};
void PrintTo(const Tile &tile, std::ostream *out) { *out << tile.rows << "x" << tile.width; }

class TransposedBlocks : public testing::TestWithParam<Tile> {};

TEST_P(TransposedBlocks, AreColumnsOfRows) {
    const auto [height, width, expected] = GetParam();
    const Target target("host");
    Buffer<float> in(3 * width, height);
    in.for_each_value([value = 0.f](float &one) mutable { one = value++; });
    const Var x("x"), tile("tile"), of("of");
    Func rows("rows"), out("out");
    rows(element, row, tile) = in(tile * width + element, row);
    std::vector<Func> steps = hk::generators::transpose(rows, height, {tile});
    out(x, of) = steps.back()(x, 0, of);
    out.bound(x, 0, height * width).vectorize(x, height).unroll(x);
    hk::schedules::transpose_at(LoopLevel(out, of), steps, {width, height}, {tile});
    Pipeline pipeline(out);
    hk::compiler::add_lowering_passes(pipeline, target);
    int shuffles = 0, strided = 0;
    pipeline.add_custom_lowering_pass(new CountShuffles(shuffles, strided));

    const Buffer<float> result = pipeline.realize({height * width, 3}, target);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < height * width; i++)
            ASSERT_EQ(result(i, t), in(t * width + i / height, i % height)) << t << ", " << i;
    }
    EXPECT_EQ(shuffles, expected);
    EXPECT_EQ(strided, 0);
}

// Fours of rows take two steps, which make 128 bits of a column; 8 and 16 rows of as many columns
// one and two more, where each shuffle has one result of two.
INSTANTIATE_TEST_SUITE_P(Sizes, TransposedBlocks,
                         testing::Values(Tile{4, 4, 8}, Tile{8, 4, 8 + 4}, Tile{16, 4, 8 + 4},
                                         Tile{8, 8, 16 + 8}, Tile{16, 16, 32 + 32},
                                         Tile{4, 16, 4 * 8}, Tile{16, 8, 2 * (8 + 4)}));

TEST(TransposedBlocksOf, OtherTypesStay) {
    Buffer<double> in(8, 4);
    const Var x("x"), tile("tile"), of("of");
    Func rows("rows"), out("out");
    rows(element, row, tile) = in(tile * 4 + element, row);
    std::vector<Func> steps = hk::generators::transpose(rows, 4, {tile});
    out(x, of) = steps.back()(x, 0, of);
    hk::schedules::transpose_at(LoopLevel(out, of), steps, {4, 4}, {tile});
    in.for_each_value([value = 0.](double &one) mutable { one = value++; });
    Pipeline pipeline(out);
    hk::compiler::add_lowering_passes(pipeline, Target("host"));
    const Buffer<double> result = pipeline.realize({16, 2}, Target("host"));
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < 16; i++) EXPECT_EQ(result(i, t), in(t * 4 + i / 4, i % 4));
    }
}

}  // namespace
