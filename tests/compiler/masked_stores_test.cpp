#include "compiler/masked_stores.h"

#include <gtest/gtest.h>

#include "compiler/lowering.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;

const Expr first = Variable::make(Int(32), "first"), width = Variable::make(Int(32), "width");
const Expr columns = Ramp::make(first, 1, 4);

Expr broadcast(const Expr &e) { return Broadcast::make(e, 4); }

// 4 elements from `first` on, under a mask.
Stmt store(const Expr &mask, const Expr &index) {
    return Store::make("b", broadcast(1.f), index, Parameter(), mask, ModulusRemainder());
}

Expr place_of(const Stmt &stmt) {
    Stmt inner = hk::compiler::unclamp_masked_stores(stmt);
    while (const LetStmt *let = inner.as<LetStmt>()) inner = let->body;
    return inner.as<Store>()->index;
}

TEST(MaskedStores, LoseTheClampThatTheirMaskImplies) {
    const Expr mask = columns < broadcast(width);
    EXPECT_TRUE(equal(place_of(store(mask, min(columns, broadcast(width - 1)))), columns));
    EXPECT_TRUE(equal(place_of(store(mask, min(columns, broadcast(width)))), columns));
    EXPECT_TRUE(equal(place_of(store(broadcast(first > 3) && mask,
                                     min(columns, broadcast(width - 1)))),
                      columns))
        << "one of two conditions";
    const Expr name = Variable::make(Int(32, 4), "name"), end = Variable::make(Int(32, 4), "end");
    EXPECT_TRUE(equal(place_of(LetStmt::make(
                          "end", broadcast(width - 1),
                          LetStmt::make("name", min(columns, end), store(mask, name)))),
                      columns))
        << "by names";
}

TEST(MaskedStores, KeepOtherClamps) {
    const auto stays = [](const Expr &mask, const Expr &index) {
        return equal(place_of(store(mask, index)), index);
    };
    const Expr mask = columns < broadcast(width), clamped = min(columns, broadcast(width - 1));
    EXPECT_TRUE(stays(const_true(4), clamped)) << "no mask";
    EXPECT_TRUE(stays(mask, min(columns, broadcast(width - 2)))) << "a closer end";
    EXPECT_TRUE(stays(mask, min(columns + 1, broadcast(width - 1)))) << "other places";
    EXPECT_TRUE(stays(mask || broadcast(first > 3), clamped)) << "a weaker mask";
    EXPECT_TRUE(stays(columns <= broadcast(width), clamped)) << "one more";
}

// Tiles of a line, of which the last may reach past its end: as the output of Winograd's
// convolution is stored.
TEST(MaskedStores, AreVectors) {
    struct Stores : IRMutator {
        using IRMutator::visit;
        int &dense, &others;
        Stores(int &dense, int &others) : dense(dense), others(others) {}
        Stmt visit(const Store *op) override {
            if (op->name == "line") (op->index.as<Ramp>() ? dense : others)++;
            return IRMutator::visit(op);
        }
    };
    ImageParam in(Float(32), 2, "in");
    Param<int> width("width"), tiles("tiles");
    Var x("x");
    Func line("line");
    const RDom d(0, 4, 0, tiles);
    RDom inside = d;
    const Expr column = inside.y % ((width + 3) / 4) * 4 + inside.x;
    inside.where(column < width);
    line(x) = undef<float>();
    line(clamp(column, 0, width - 1)) = in(inside.x, inside.y);
    line.update().allow_race_conditions().vectorize(inside.x);
    int dense = 0, others = 0;
    Pipeline pipeline(line);
    const Target target("host-no_runtime");
    hk::compiler::add_lowering_passes(pipeline, target);
    pipeline.add_custom_lowering_pass(new Stores(dense, others));
    pipeline.compile_to_module({in, width, tiles}, "line", target);
    EXPECT_GT(dense, 0);
    EXPECT_EQ(others, 0);
}

}  // namespace
