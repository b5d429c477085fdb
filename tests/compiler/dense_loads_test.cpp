#include "compiler/dense_loads.h"

#include <gtest/gtest.h>

namespace {

using namespace Halide;
using namespace Halide::Internal;

constexpr int kLanes = 8;

// Every `count`-th of `count * kLanes` bytes of `name` from `first` on.
Expr every(int count, const std::string &name, const Expr &first,
           const Expr &predicate = const_true(0)) {
    const int lanes = count * kLanes;
    const Expr all = predicate.type().lanes() == lanes ? predicate : const_true(lanes);
    const Expr load = Load::make(UInt(8, lanes), name, Ramp::make(first, 1, lanes), Buffer<>(),
                                 Parameter(), all, ModulusRemainder());
    return Shuffle::make_slice(load, 0, count, kLanes);
}

Expr dense(const Expr &e) {
    const Stmt stmt = hk::compiler::make_loads_dense(Evaluate::make(e));
    return stmt.as<Evaluate>()->value;
}

// The load that four neighbouring slices become; null where they stay.
const Load *dense_load(const std::vector<Expr> &slices) {
    return dense(Shuffle::make_interleave(slices)).as<Load>();
}

const Expr start = Variable::make(Int(32), "start");

TEST(DenseLoads, NeighbouringSlicesAreOneLoad) {
    const Load *load = dense_load({every(4, "b", start), every(4, "b", start + 1),
                                   every(4, "b", start + 2), every(4, "b", start + 3)});
    ASSERT_NE(load, nullptr);
    EXPECT_EQ(load->name, "b");
    EXPECT_EQ(load->type, UInt(8, 4 * kLanes));
    const Ramp *index = load->index.as<Ramp>();
    ASSERT_NE(index, nullptr);
    EXPECT_TRUE(equal(index->base, start));
    EXPECT_TRUE(is_const_one(index->stride));
}

TEST(DenseLoads, OthersStay) {
    const auto b = [](int offset) { return every(4, "b", start + offset); };
    EXPECT_EQ(dense_load({b(0), b(1), b(2), b(4)}), nullptr) << "one further";
    EXPECT_EQ(dense_load({b(1), b(0), b(2), b(3)}), nullptr) << "in another order";
    EXPECT_EQ(dense_load({b(0), b(1), every(4, "c", start + 2), b(3)}), nullptr) << "two buffers";
    EXPECT_EQ(dense_load({every(3, "b", start), every(3, "b", start + 1), every(3, "b", start + 2),
                          every(3, "b", start + 3)}),
              nullptr)
        << "every third of four";
    const Expr some = Broadcast::make(Variable::make(Bool(), "some"), 4 * kLanes);
    EXPECT_EQ(dense_load({b(0), b(1), every(4, "b", start + 2, some), b(3)}), nullptr)
        << "a load under a condition";
}

// Lanes 0 0 1 1 … of every `step`-th element of a block of 16 floats from place `first`.
Expr spread(const Expr &first, int step, ModulusRemainder at) {
    const Expr index = Ramp::make(first, step, 16 / step);
    const Expr load = Load::make(Float(32, 16 / step), "b", index, Buffer<>(), Parameter(),
                                 const_true(16 / step), at);
    std::vector<int> twice;
    for (int i = 0; i < 32 / step; i++) twice.push_back(i / 2);
    return Shuffle::make({load}, twice);
}

Expr in_a_buffer(const Expr &e) {
    const Stmt stmt = hk::compiler::make_loads_dense(
        Allocate::make("b", Float(32), MemoryType::Heap, {64}, const_true(), Evaluate::make(e)));
    return stmt.as<Allocate>()->body.as<Evaluate>()->value;
}

TEST(DenseLoads, SpreadElementsAreAShuffleOfTheirBlock) {
    const Expr result = in_a_buffer(spread(start + 1, 4, {16, 1}));
    const Shuffle *shuffle = result.as<Shuffle>();
    ASSERT_NE(shuffle, nullptr);
    EXPECT_EQ(shuffle->indices, (std::vector<int>{1, 1, 5, 5, 9, 9, 13, 13}));
    const Load *load = shuffle->vectors[0].as<Load>();
    ASSERT_NE(load, nullptr);
    EXPECT_EQ(load->type, Float(32, 16));
    EXPECT_TRUE(equal(load->index.as<Ramp>()->base, start));
    EXPECT_EQ(load->alignment.remainder, 0);
}

TEST(DenseLoads, OtherSpreadElementsStay) {
    const auto stays = [](const Expr &e) { return equal(in_a_buffer(e), e); };
    EXPECT_TRUE(stays(spread(start + 1, 4, {8, 1}))) << "may cross a block";
    EXPECT_TRUE(stays(spread(start + 5, 4, {16, 5}))) << "ends in the next block";
    const Expr aligned = spread(start + 1, 4, {16, 1});
    EXPECT_TRUE(equal(dense(aligned), aligned)) << "a caller's buffer";
}

// What the pass is for, and that it computes the same.
TEST(DenseLoads, WordsOfBytesAreLoadedAsTheyLie) {
    struct Loads : IRMutator {
        using IRMutator::visit;
        int &dense, &slices;
        Loads(int &dense, int &slices) : dense(dense), slices(slices) {}
        Expr visit(const Load *op) override {
            dense += op->type.lanes() == 64;
            return IRMutator::visit(op);
        }
        Expr visit(const Shuffle *op) override {
            slices += op->is_slice();
            return IRMutator::visit(op);
        }
    };
    struct Pass : IRMutator {
        using IRMutator::mutate;
        Stmt mutate(const Stmt &stmt) override { return hk::compiler::make_loads_dense(stmt); }
    };
    Func bytes("bytes"), words("words");
    Var x("x");
    bytes(x) = cast<uint8_t>(7 * x + x / 5);
    words(x) = concat_bits({bytes(4 * x), bytes(4 * x + 1), bytes(4 * x + 2), bytes(4 * x + 3)});
    bytes.compute_root().vectorize(x, 64);
    words.bound(x, 0, 256).vectorize(x, 16);
    int dense = 0, slices = 0;
    Pipeline pipeline(words);
    pipeline.add_custom_lowering_pass(new Pass);
    pipeline.add_custom_lowering_pass(new Loads(dense, slices));
    const Buffer<uint32_t> result = pipeline.realize({256});
    EXPECT_EQ(dense, 1);
    EXPECT_EQ(slices, 0);
    for (int i = 0; i < 256; i++) {
        uint32_t expected = 0;
        for (int b = 3; b >= 0; b--) {
            const int place = 4 * i + b;
            expected = expected << 8 | static_cast<uint8_t>(7 * place + place / 5);
        }
        ASSERT_EQ(result(i), expected) << i;
    }
}

}  // namespace
