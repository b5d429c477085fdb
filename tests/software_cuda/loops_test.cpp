// The loops of programs, and what is counted of them.
#include <gtest/gtest.h>

#include "software_cuda/ptx/loops.h"
#include "tests/software_cuda/machine_case.h"

namespace software_cuda {

namespace {

struct Executed {
    uint64_t own, inner;

    bool operator==(const Executed &) const = default;
    friend void PrintTo(const Executed &e, std::ostream *out) {
        *out << e.own << " and " << e.inner;
    }
};
using All = std::vector<Executed>;

// Instructions of threads of each loop of a kernel that ran.
All executed(const std::string &instructions) {
    MachineCase one;
    const Module module = parse_module(kernel_of(instructions), 80);
    const Program &program = *module.entries.at(0).program;
    const Outcome outcome = one.run(instructions);
    const auto sum_of = [&](const std::vector<uint32_t> &blocks) {
        Counts counts;
        for (const uint32_t block : blocks)
            add_block(program, block, outcome.basic_blocks[block], counts);
        return counts.all_thread_instructions();
    };
    All result;
    for (const Loop &loop : loops_of(program))
        result.push_back({sum_of(loop.own), sum_of(loop.inner)});
    return result;
}

TEST(Loops, ThereAreNoneInStraightCode) {
    EXPECT_EQ(executed("add.s32 %r3, %r0, 1;"), All{});
    EXPECT_EQ(executed("setp.lt.u32 %p0, %r0, 4; @%p0 bra skip; add.s32 %r3, %r0, 1; skip:"),
              All{});
}

TEST(Loops, OfOneBlockAreCountedAsOftenAsItRuns) {
    // 32 threads, 5 rounds, 3 instructions.
    EXPECT_EQ(executed("mov.u32 %r3, 0; loop: add.s32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 5;"
                       "@%p0 bra loop;"),
              (All{{32 * 5 * 3, 0}}));
}

TEST(Loops, WithBarriersAreWhole) {
    EXPECT_EQ(executed("mov.u32 %r3, 0; loop: bar.sync 0; add.s32 %r3, %r3, 1; bar.sync 0;"
                       "setp.lt.u32 %p0, %r3, 2; @%p0 bra loop;"),
              (All{{32 * 2 * 5, 0}}));
}

TEST(Loops, InsideOfOthersAreNotTheirOwn) {
    EXPECT_EQ(executed("mov.u32 %r3, 0; outer: mov.u32 %r4, 0;"
                       "first: add.s32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 3; @%p0 bra first;"
                       "second: sub.s32 %r4, %r4, 1; setp.gt.s32 %p0, %r4, 0; @%p0 bra second;"
                       "add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 2; @%p1 bra outer;"),
              (All{{32 * 2 * 4, 32 * 2 * 18}, {32 * 2 * 9, 0}, {32 * 2 * 9, 0}}));
}

TEST(Loops, WithAConditionInsideAreOne) {
    // Half of the threads skip an instruction; one more jump goes back to the header.
    EXPECT_EQ(executed("mov.u32 %r3, 0; setp.lt.u32 %p1, %r0, 16;"
                       "loop: add.s32 %r3, %r3, 1; setp.ge.u32 %p0, %r3, 4; @%p0 bra end;"
                       "@%p1 bra loop; add.s32 %r4, %r3, 1; bra loop; end:"),
              (All{{32 * 4 * 3 + 32 * 3 + 16 * 3 * 2, 0}}));
}

TEST(Loops, AJumpIntoTheMiddleMakesNone) {
    EXPECT_EQ(executed("mov.u32 %r3, 0; setp.lt.u32 %p1, %r0, 16; @%p1 bra second;"
                       "first: add.s32 %r3, %r3, 1; second: add.s32 %r3, %r3, 1;"
                       "setp.lt.u32 %p0, %r3, 9; @%p0 bra first;"),
              All{});
}

}  // namespace

}  // namespace software_cuda
