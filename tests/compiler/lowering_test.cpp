#include "compiler/lowering.h"

#include <gtest/gtest.h>

namespace {

using namespace Halide;
using namespace Halide::Internal;

struct Atomics : IRMutator {
    using IRMutator::visit;
    int &found;
    explicit Atomics(int &found) : found(found) {}
    Stmt visit(const Atomic *op) override {
        found++;
        return IRMutator::visit(op);
    }
};

int atomics_in(Pipeline pipeline, const std::vector<Argument> &arguments, bool ours) {
    const Target target("host-opencl-no_runtime");
    int found = 0;
    if (ours) hk::compiler::add_lowering_passes(pipeline, target);
    pipeline.add_custom_lowering_pass(new Atomics(found));
    pipeline.compile_to_module(arguments, "sums", target);
    return found;
}

// Each thread adds vectors of four up in its own register.
int atomics_of_registers(bool ours) {
    Func out("out"), sum("sum");
    ImageParam in(Int(32), 1, "in");
    Var x("x"), xi("xi");
    RDom r(0, 16);
    RVar ro, ri;
    sum(x) += in(16 * x + r);
    out(x) = sum(x);
    out.gpu_tile(x, xi, 64, TailStrategy::RoundUp);
    sum.compute_at(out, x).store_in(MemoryType::Register).bound_extent(x, 64).gpu_threads(x);
    sum.update().split(r, ro, ri, 4).reorder(ri, ro, x).gpu_threads(x).atomic().vectorize(ri);
    return atomics_in(Pipeline(out), {in}, ours);
}

// Threads add to what all of them see.
int atomics_of_all_threads(bool ours) {
    Func counts("counts");
    ImageParam in(Int(32), 1, "in");
    Var x("x"), xi("xi");
    RDom r(0, 1024);
    RVar ro, ri;
    counts(x) = 0;
    counts(in(r) % 16) += 1;
    counts.gpu_tile(x, xi, 16, TailStrategy::GuardWithIf);
    counts.update().atomic().split(r, ro, ri, 64).gpu_blocks(ro).gpu_threads(ri);
    return atomics_in(Pipeline(counts), {in}, ours);
}

TEST(Lowering, DropsAtomicsOfAThreadsRegisters) {
    EXPECT_EQ(atomics_of_registers(true), 0);
    EXPECT_GT(atomics_of_registers(false), 0) << "Halide drops them itself: the pass may go";
}

TEST(Lowering, KeepsAtomicsOfMemoryThatThreadsShare) {
    EXPECT_GT(atomics_of_all_threads(true), 0);
    EXPECT_EQ(atomics_of_all_threads(true), atomics_of_all_threads(false));
}

}  // namespace
