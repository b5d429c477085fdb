#include "compiler/loop_ends.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;

const char *const kLoop = "sum.s1.r$y.stages_4";

Expr number(const char *name) { return Variable::make(Int(32), name); }
Expr step() { return number(kLoop); }

// From memory that the loop does not write.
Expr loaded(int index) {
    return Load::make(Int(32), "ends", index, Buffer<>(), Parameter(), const_true(), {});
}

Stmt store(const char *memory, const Expr &value) {
    return Store::make(memory, value, 0, Parameter(), const_true(), {});
}

Stmt barrier() {
    return Evaluate::make(Call::make(Int(32), Call::gpu_thread_barrier, {0}, Call::Intrinsic));
}

Stmt loop_of(const std::vector<Stmt> &body, const std::string &name = kLoop, int min = 0) {
    return For::make(name, min, number("n"), ForType::Serial, Partition::Auto, DeviceAPI::CUDA,
                     Block::make(body));
}

std::string text(const Stmt &stmt) {
    std::ostringstream stream;
    stream << stmt;
    return stream.str();
}

// The loop's length, for n steps and the ends 7 and 40.
int64_t steps_of(const Stmt &stmt, int n) {
    const LetStmt *let = stmt.as<LetStmt>();
    EXPECT_TRUE(let && let->body.as<For>()) << stmt;
    if (!let) return -1;
    class Loaded : public IRMutator {
        using IRMutator::visit;
        Expr visit(const Load *op) override { return is_const_zero(op->index) ? 7 : 40; }
    } loaded;
    const auto value = as_const_int(simplify(substitute("n", n, loaded.mutate(let->value))));
    EXPECT_TRUE(value) << let->value;
    return value.value_or(-1);
}

TEST(LoopEnds, LoopsGoToWhereTheConditionOfAllStatementsEnds) {
    const Expr some = loaded(0) + step() * 8 < loaded(1);
    const Stmt ended =
        hk::compiler::end_loops_early(loop_of({IfThenElse::make(some, store("a", 1)), barrier(),
                                               IfThenElse::make(some, store("b", 2)), barrier()}));
    EXPECT_EQ(steps_of(ended, 100), 5);  // 7, 15, 23, 31, 39 are less than 40
    EXPECT_EQ(steps_of(ended, 3), 3);
    EXPECT_EQ(text(ended).find("if"), std::string::npos) << ended;
    for (const char *kept : {"a[0] = 1", "b[0] = 2", "gpu_thread_barrier"})
        EXPECT_NE(text(ended).find(kept), std::string::npos) << ended;
}

TEST(LoopEnds, ANameOfTheConditionIsTheCondition) {
    const Expr some = loaded(0) + step() * 8 < loaded(1);
    const Stmt ended = hk::compiler::end_loops_early(loop_of(
        {LetStmt::make("used", some,
                       Block::make(IfThenElse::make(Variable::make(Bool(), "used"), store("a", 1)),
                                   IfThenElse::make(some, store("b", 2))))}));
    EXPECT_EQ(steps_of(ended, 100), 5);
    EXPECT_EQ(text(ended).find("used"), std::string::npos) << ended;
}

TEST(LoopEnds, NoStepIsNegative) {
    const Stmt ended = hk::compiler::end_loops_early(
        loop_of({IfThenElse::make(loaded(1) + step() < loaded(0), store("a", 1))}));
    EXPECT_EQ(steps_of(ended, 100), 0);
}

TEST(LoopEnds, WhatRunsInAllStepsStays) {
    const Expr some = loaded(0) + step() * 8 < loaded(1);
    const Stmt one = IfThenElse::make(some, store("a", 1));
    for (const Stmt &loop : {
             loop_of({one, store("b", 2)}),
             loop_of({one, IfThenElse::make(step() < loaded(0), store("b", 2))}),
             loop_of({IfThenElse::make(some, store("a", 1), store("b", 2))}),
             loop_of({IfThenElse::make(loaded(0) - step() < loaded(1), store("a", 1))}),
             loop_of({IfThenElse::make(step() * step() < loaded(1), store("a", 1))}),
             loop_of({IfThenElse::make(loaded(0) < step(), store("a", 1))}),
             loop_of({one}, "sum.s1.r$y"),
         }) {
        EXPECT_TRUE(equal(hk::compiler::end_loops_early(loop), loop)) << loop;
    }
}

// Its condition may be another one in each step.
TEST(LoopEnds, WhatReadsMemoryThatTheLoopWritesStays) {
    const Stmt loop =
        loop_of({IfThenElse::make(loaded(0) + step() * 8 < loaded(1), store("ends", 1))});
    EXPECT_TRUE(equal(hk::compiler::end_loops_early(loop), loop)) << loop;
}

}  // namespace
