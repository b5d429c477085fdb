#include "compiler/uniform_branches.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/lowering.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;

struct Count : IRMutator {
    using IRMutator::visit;
    int &branches, &selects;
    Count(int &branches, int &selects) : branches(branches), selects(selects) {}
    Expr visit(const Call *op) override {
        branches += op->is_intrinsic(Call::if_then_else);
        return IRMutator::visit(op);
    }
    Expr visit(const Select *op) override {
        selects++;
        return IRMutator::visit(op);
    }
};

struct Choices {
    int branches = 0, selects = 0;
};

// Those of device code for an output of an element of the input and a parameter.
Choices choices(const std::function<Expr(Expr value, Expr flag)> &chosen,
                const char *device = "cuda-cuda_capability_80") {
    const Target target(std::string("x86-64-linux-no_runtime-") + device);
    ImageParam in(Float(32), 1, "in");
    Param<int> flag("flag");
    Func out("out");
    Var x("x"), xi("xi");
    out(x) = chosen(in(x), flag);
    out.output_buffer().dim(0).set_bounds(0, 256);
    out.gpu_tile(x, xi, 64);
    Pipeline pipeline(out);
    hk::compiler::add_lowering_passes(pipeline, target);
    Choices found;
    pipeline.add_custom_lowering_pass(new Count(found.branches, found.selects));
    pipeline.compile_to_module({in, flag}, "chosen", target);
    return found;
}

TEST(UniformBranches, AnExponentialOfAParametersChoiceIsABranch) {
    const Choices found =
        choices([](Expr value, Expr flag) { return select(flag == 1, exp(value), value); });
    EXPECT_EQ(found.branches, 1);
    EXPECT_EQ(found.selects, 0);
}

TEST(UniformBranches, WhatEachThreadChoosesStaysAChoice) {
    const Choices found =
        choices([](Expr value, Expr) { return select(value > 0, value, exp(value)); });
    EXPECT_EQ(found.branches, 0);
    EXPECT_EQ(found.selects, 1);
}

TEST(UniformBranches, WhatCostsLessThanABranchStaysAChoice) {
    const Choices found =
        choices([](Expr value, Expr flag) { return select(flag == 1, value * 2, value); });
    EXPECT_EQ(found.branches, 0);
    EXPECT_EQ(found.selects, 1);
}

}  // namespace
