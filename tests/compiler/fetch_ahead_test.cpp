#include "compiler/fetch_ahead.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "compiler/lowering.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;

// What device code does with memory, in its order: G loads from global memory, S stores to and R
// loads from shared memory, a loads from and A stores to what is kept of the next slice, B is a
// barrier; loops in parentheses. What follows itself counts once.
class Trace : public IRMutator {
public:
    std::string &events;
    Type &kept;
    Trace(std::string &events, Type &kept) : events(events), kept(kept) {}

private:
    using IRMutator::visit;
    bool in_threads_ = false;

    void add(char event) {
        if (in_threads_ && (events.empty() || events.back() != event)) events += event;
    }
    static bool is(const std::string &name, const char *part) {
        return name.find(part) != std::string::npos;
    }
    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUThread) in_threads_ = true;
        const bool serial = in_threads_ && op->for_type == ForType::Serial;
        if (serial) events += '(';
        const Stmt body = IRMutator::visit(op);
        if (serial) events += ')';
        if (op->for_type == ForType::GPUThread) in_threads_ = false;
        return body;
    }
    Stmt visit(const Allocate *op) override {
        if (is(op->name, "ahead")) kept = op->type;
        return IRMutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        Stmt same = IRMutator::visit(op);
        if (is(op->name, "ahead")) add('A');
        if (is(op->name, "slice")) add('S');
        return same;
    }
    Expr visit(const Load *op) override {
        if (is(op->name, "ahead")) add('a');
        if (is(op->name, "slice")) add('R');
        if (op->name == "in") add('G');
        return IRMutator::visit(op);
    }
    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Call::gpu_thread_barrier)) add('B');
        return IRMutator::visit(op);
    }
};

// Sums over all rows of an input, slices of `depth` rows in shared memory, a column a thread.
class Sums {
public:
    std::string events;
    Type kept;

    // Of each element or copy the same: one of them.
    std::string once() const {
        return std::regex_replace(std::regex_replace(events, std::regex("(GA)+"), "GA"),
                                  std::regex("(aS)+"), "aS");
    }

    explicit Sums(Type type, int depth, const char *device = "cuda-cuda_capability_80",
                  bool with_filter = false) {
        const Target target(std::string("x86-64-linux-no_runtime-") + device);
        ImageParam in(type, 2, "in");
        Func slice("slice"), slice_of_filter("slice_of_filter"), sum("sum"), out("out");
        Var x("x"), y("y"), xo("xo");
        RDom r(0, depth, 0, in.dim(1).extent() / depth, "r");
        slice(x, y) = cast<float>(in(x, y)) * 2.f;
        slice_of_filter(x, y) = cast<float>(in(x + 64, y));
        sum(x) += with_filter ? slice(x, r.x + depth * r.y) * slice_of_filter(x, r.x + depth * r.y)
                              : slice(x, r.x + depth * r.y);
        out(x) = sum(x);

        out.output_buffer().dim(0).set_bounds(0, 256);
        out.split(x, xo, x, 64).gpu_blocks(xo).gpu_threads(x);
        sum.compute_at(out, xo).store_in(MemoryType::Register).bound_extent(x, 64).gpu_threads(x);
        sum.update().reorder(r.x, x, r.y).gpu_threads(x).unroll(r.x);
        std::vector<Func> staged = {slice};
        if (with_filter) staged.push_back(slice_of_filter);
        for (Func &one : staged)
            one.compute_at(sum, r.y)
                .store_in(MemoryType::GPUShared)
                .bound_extent(x, 64)
                .bound_extent(y, depth)
                .reorder(y, x)
                .gpu_threads(x);

        Pipeline pipeline(out);
        hk::compiler::add_lowering_passes(pipeline, target);
        pipeline.add_custom_lowering_pass(new Trace(events, kept));
        pipeline.compile_to_module({in}, "sums", target);
    }
};

TEST(FetchAhead, LoadsTheNextSliceBeforeThisOneIsSummed) {
    const Sums sums(Float(32), 4);
    EXPECT_EQ(sums.once(), "BGA(aSBGARB)B") << "a slice's loads wait for the sum before it";
    EXPECT_EQ(sums.kept, Float(32));
}

TEST(FetchAhead, KeepsWhatWasLoadedAndConvertsItLater) {
    const Sums sums(UInt(16), 4);
    EXPECT_EQ(sums.once(), "BGA(aSBGARB)B");
    EXPECT_EQ(sums.kept, UInt(16)) << "a conversion waits for its load, before the sum";
}

TEST(FetchAhead, LeavesBytes) {
    const Sums sums(UInt(8), 4);
    EXPECT_EQ(sums.events.find('A'), std::string::npos) << sums.events;
    EXPECT_NE(sums.events.find('R'), std::string::npos) << sums.events;
}

TEST(FetchAhead, TwoCopiesHaveOneBarrier) {
    EXPECT_EQ(Sums(Float(32), 4, "cuda-cuda_capability_80", true).once(), "BGA(aSBGARB)B");
}

TEST(FetchAhead, LeavesSlicesThatAThreadHasNoRegistersFor) {
    const Sums sums(Float(32), 32);
    EXPECT_EQ(sums.events.find('A'), std::string::npos) << sums.events;
    EXPECT_NE(sums.events.find('R'), std::string::npos) << sums.events;
}

TEST(FetchAhead, IsForCuda) {
    const Sums sums(Float(32), 4, "opencl");
    EXPECT_EQ(sums.events.find('A'), std::string::npos) << sums.events;
    EXPECT_NE(sums.events.find('R'), std::string::npos) << sums.events;
}

}  // namespace
