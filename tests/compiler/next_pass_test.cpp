#include "compiler/next_pass.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;

constexpr int kBlock = 16, kBlocks = 3, kRows = 24, kTaps = 3;

std::vector<int> prefetched;  // offsets, in the order of the calls

int tell(int offset) {
    prefetched.push_back(offset);
    return 0;
}

class Mutator : public IRMutator {
public:
    explicit Mutator(std::function<Stmt(const Stmt &)> apply) : apply_(std::move(apply)) {}
    using IRMutator::mutate;
    Stmt mutate(const Stmt &stmt) override { return apply_(stmt); }

private:
    const std::function<Stmt(const Stmt &)> apply_;
};

class TellOfPrefetches : public IRMutator {
    using IRMutator::visit;
    Stmt visit(const Evaluate *op) override {
        const Call *call = op->value.as<Call>();
        if (!call || !call->is_intrinsic(Call::prefetch)) return IRMutator::visit(op);
        return Evaluate::make(Call::make(Int(32), "tell", {call->args[1]}, Call::Extern));
    }
};

struct Sum {
    int tiles = 4;
    bool prefetches = true, in_passes = true;
    int unroll = 1;      // rows of a step
    int lanes = kBlock;  // of a vector that is copied
};

// Sums of products with a filter of rows, taps and columns, whose blocks of columns are copied one
// by one. Returns how often each offset is prefetched but by the copies themselves.
std::map<int, int> fetched(const Sum &sum) {
    Buffer<float> filter(kBlock * kBlocks, kTaps, kRows), image(kRows, sum.tiles + kTaps - 1);
    filter.for_each_value([value = 0](float &one) mutable { one = static_cast<float>(value++ % 7); });
    image.for_each_value([value = 0](float &one) mutable { one = static_cast<float>(value++ % 5); });
    std::map<int, int> times;
    for (const bool by_pass : {true, false}) {
        ImageParam given(Float(32), 3, "given");
        const Var c("c"), x("x"), ci("ci"), s("s"), k("k"), block("block"), inner("inner");
        const RDom r(0, given.dim(2).extent(), 0, given.dim(1).extent());
        Func packed("packed"), total("total"), out("out");
        packed(ci, s, k, block) = given(block * kBlock + ci, s, k);
        total(c, x) += image(r.x, x + r.y) * packed(c % kBlock, r.y, r.x, c / kBlock);
        out(c, x) = total(c, x);
        out.bound(c, 0, kBlock * kBlocks).split(c, block, inner, kBlock).reorder(inner, x, block);
        out.vectorize(inner);
        total.compute_at(out, x).vectorize(c).bound_extent(c, kBlock);
        const RVar step("step"), of_step("of_step");
        Stage update = total.update();
        if (sum.unroll > 1)
            update.split(r.x, step, of_step, sum.unroll, TailStrategy::GuardWithIf)
                .reorder(c, of_step, step, r.y)
                .unroll(of_step)
                .partition(step, Partition::Always);
        else
            update.reorder(c, r.x, r.y);
        update.vectorize(c);
        packed.bound_extent(ci, kBlock).vectorize(ci, sum.lanes);
        if (sum.in_passes)
            packed.compute_at(out, block);
        else
            packed.compute_root();
        if (sum.prefetches) packed.prefetch(given, k, k, 2, PrefetchBoundStrategy::NonFaulting);
        Pipeline pipeline(out);
        if (by_pass)
            pipeline.add_custom_lowering_pass(new Mutator(hk::compiler::prefetch_next_pass));
        pipeline.add_custom_lowering_pass(new TellOfPrefetches);
        pipeline.set_jit_externs({{"tell", JITExtern(tell)}});
        given.set(filter);
        prefetched.clear();
        const Buffer<float> result = pipeline.realize({kBlock * kBlocks, sum.tiles}, Target("host"));
        for (const int offset : prefetched) times[offset] += by_pass ? 1 : -1;
        for (int column = 0; column < kBlock * kBlocks; column++) {
            for (int tile = 0; tile < sum.tiles; tile++) {
                float expected = 0;
                for (int row = 0; row < kRows; row++)
                    for (int tap = 0; tap < kTaps; tap++)
                        expected += image(row, tile + tap) * filter(column, tap, row);
                EXPECT_EQ(result(column, tile), expected) << column << ", " << tile;
            }
        }
    }
    std::erase_if(times, [](const auto &one) { return one.second == 0; });
    return times;
}

int offset_of(int block, int tap, int row) {
    return block * kBlock + (row * kTaps + tap) * kBlock * kBlocks;
}

// Each row and tap of the next block, by turns of four tiles: a prefetch for each cache line.
TEST(NextPass, IsOnItsWay) {
    for (const Sum &sum : {Sum{.tiles = 4}, Sum{.tiles = 8}, Sum{.tiles = 4, .unroll = 4},
                           Sum{.tiles = 8, .unroll = 2}, Sum{.lanes = kBlock / 2},
                           Sum{.unroll = 8, .lanes = kBlock / 4}}) {
        const int tiles = sum.tiles;
        const std::map<int, int> times = fetched(sum);
        for (int block = 1; block < kBlocks; block++) {
            for (int row = 0; row < kRows; row++) {
                for (int tap = 0; tap < kTaps; tap++) {
                    const auto found = times.find(offset_of(block, tap, row));
                    ASSERT_NE(found, times.end()) << block << ", " << row << ", " << tap;
                    EXPECT_EQ(found->second, tiles / 4);
                }
            }
        }
        EXPECT_FALSE(times.contains(offset_of(0, 0, 0)));  // nobody's next
        EXPECT_EQ(times.size(), static_cast<size_t>(kBlocks * kRows * kTaps));  // one past the end
    }
}

TEST(NextPass, IsOfWhatASchedulePrefetches) {
    EXPECT_TRUE(fetched({.prefetches = false}).empty());
}

TEST(NextPass, NeedsPasses) { EXPECT_TRUE(fetched({.in_passes = false}).empty()); }

}  // namespace
