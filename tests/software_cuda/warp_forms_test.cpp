// Operations of the threads of a warp, special registers and what orders threads, on every
// instruction set of the host that this CPU runs and any number of lanes at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "software_cuda/ptx/program.h"
#include "tests/software_cuda/form_runner.h"
#include "tests/software_cuda/machine_case.h"

namespace software_cuda::tests {

namespace {

// Loads, stores, atomic operations, shuffles, votes, reductions, barriers, masks and fences are
// tested here and in the tests of memory, matrices and asynchronous copies in theirs; branches and
// ends by those of checks and divergence. A new kind of instruction needs its own.
static_assert(static_cast<int>(Op::kCount) - static_cast<int>(Op::load) == 17);

// What each thread of a block of two warps gives in %r4, with its number in %r0 and its lane in
// %r3.
std::vector<uint32_t> run(const std::string &instructions, const Settings &settings) {
    MachineCase c;
    c.settings = settings;
    c.settings.check = Check::kAll;
    c.settings.threads = 1;
    c.block.x = 64;
    c.p0 = c.memory.allocate(4 * 64);
    std::vector<uint32_t> results(64);
    EXPECT_TRUE(c.memory.write(c.p0, results.data(), 256));
    const Outcome outcome = c.run("mov.u32 %r3, %laneid;\n" + instructions +
                                  "\nadd.s64 %rd3, %rd0, %rd2; st.global.u32 [%rd3], %r4;");
    EXPECT_EQ(outcome.status, Outcome::kDone) << instructions;
    for (const Finding &finding : outcome.findings) ADD_FAILURE() << finding.message;
    EXPECT_TRUE(c.memory.read(results.data(), c.p0, 256));
    return results;
}

void check(const std::string &instructions,
           const std::function<uint32_t(uint32_t thread)> &wanted) {
    for (const InstructionSet set : instruction_sets()) {
        for (const unsigned lanes : {1u, 16u, 32u}) {
            const std::vector<uint32_t> results =
                run(instructions, {.lanes = lanes, .instruction_set = set});
            for (uint32_t thread = 0; thread < 64; thread++) {
                ASSERT_EQ(results[thread], wanted(thread))
                    << instructions << ", thread " << thread << ", " << name_of(set) << ", "
                    << lanes << " lanes";
            }
        }
    }
}

// Section "shfl.sync": the lane that is read, and whether it is inside; itself where it is not.
std::pair<int, bool> source_of(const std::string &mode, int lane, int b, int c) {
    const int value = b & 31, clamp = c & 31, mask = c >> 8 & 31;
    const int most = (lane & mask) | (clamp & ~mask), least = lane & mask;
    const int from = mode == "up"     ? lane - value
                     : mode == "down" ? lane + value
                     : mode == "bfly" ? lane ^ value
                                      : least | (value & ~mask);
    const bool inside = mode == "up" ? from >= most : from <= most;
    return {inside ? from : lane, inside};
}

TEST(WarpForms, Shuffles) {
    for (const char *mode : {"up", "down", "bfly", "idx"}) {
        for (const int c : {0, 31, 0x1800, 0x181f, 0x1c1f, 0x1e01, 0x100f}) {
            for (const int b : {0, 1, 5, 16, 31, 33}) {
                const std::string operands =
                    ", %r5, " + std::to_string(b) + ", " + std::to_string(c) + ", -1;\n";
                check("mul.lo.u32 %r5, %r0, 3; shfl.sync." + std::string(mode) + ".b32 %r4|%p1" +
                          operands + "@%p1 add.u32 %r4, %r4, 1000;",
                      [&](uint32_t thread) {
                          const auto [from, inside] =
                              source_of(mode, static_cast<int>(thread % 32), b, c);
                          return (thread / 32 * 32 + static_cast<uint32_t>(from)) * 3 +
                                 (inside ? 1000 : 0);
                      });
                if (HasFailure()) return;
            }
        }
    }
}

// Distances and masks that each lane has its own of, and a result in the register that is read.
TEST(WarpForms, ShufflesOfManyDistances) {
    check(
        "mul.lo.u32 %r4, %r0, 7; not.b32 %r6, %r3; shfl.sync.idx.b32 %r4, %r4, %r6, 31, "
        "0xffffffff;",
        [](uint32_t thread) { return (thread / 32 * 32 + 31 - thread % 32) * 7; });
    // Of half of the lanes.
    check(
        "mov.u32 %r4, %r0; and.b32 %r6, %r3, 1; setp.eq.u32 %p1, %r6, 0;\n"
        "@%p1 shfl.sync.bfly.b32 %r4, %r0, 2, 31, 0x55555555;",
        [](uint32_t thread) { return thread % 2 ? thread : thread ^ 2; });
}

TEST(WarpForms, Votes) {
    // Of all, of some, and of no lanes.
    for (const uint32_t below : {0u, 1u, 13u, 31u, 32u}) {
        const std::string begin = "setp.lt.u32 %p1, %r3, " + std::to_string(below) + ";\n";
        const uint32_t votes = below == 32 ? ~0u : (1u << below) - 1;
        const bool all = below == 32, any = below != 0;
        const auto predicate = [&](const std::string &name, const std::string &vote, bool wanted) {
            check(begin + "vote.sync." + name + ".pred %p2, " + vote +
                      ", -1; selp.u32 %r4, 1, 0, %p2;",
                  [&](uint32_t) { return wanted; });
        };
        predicate("all", "%p1", all);
        predicate("all", "!%p1", !any);
        predicate("any", "%p1", any);
        predicate("any", "!%p1", !all);
        predicate("uni", "%p1", all || !any);
        predicate("uni", "!%p1", all || !any);
        check(begin + "vote.sync.ballot.b32 %r4, %p1, -1;", [&](uint32_t) { return votes; });
        check(begin + "vote.sync.ballot.b32 %r4, !%p1, -1;", [&](uint32_t) { return ~votes; });
    }
    check(
        "mov.u32 %r4, 0; setp.lt.u32 %p1, %r3, 8; setp.ne.u32 %p2, %r3, 3;\n"
        "@%p1 vote.sync.ballot.b32 %r4, %p2, 0xff;",
        [](uint32_t thread) { return thread % 32 < 8 ? 0xf7u : 0u; });
}

TEST(WarpForms, Reductions) {
    const auto value = [](uint32_t thread) { return (thread * 0x9e3779b9u) ^ 0x80000000u; };
    using Combine = std::function<uint32_t(uint32_t, uint32_t)>;
    const auto of_s32 = [](uint32_t a) { return static_cast<int32_t>(a); };
    const std::pair<const char *, Combine> forms[] = {
        {"add.u32", std::plus<uint32_t>()},
        {"add.s32", std::plus<uint32_t>()},
        {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
        {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
        {"min.s32", [&](uint32_t a, uint32_t b) { return of_s32(a) < of_s32(b) ? a : b; }},
        {"max.s32", [&](uint32_t a, uint32_t b) { return of_s32(a) > of_s32(b) ? a : b; }},
        {"and.b32", std::bit_and<uint32_t>()},
        {"or.b32", std::bit_or<uint32_t>()},
        {"xor.b32", std::bit_xor<uint32_t>()}};
    const std::string begin = "mul.lo.u32 %r5, %r0, 0x9e3779b9; xor.b32 %r5, %r5, 0x80000000;\n";
    for (const auto &[name, combine] : forms) {
        const auto of_lanes = [&](uint32_t thread, uint32_t lanes) {
            std::optional<uint32_t> result;
            for (uint32_t lane = 0; lane < 32; lane++) {
                const uint32_t other = value(thread / 32 * 32 + lane);
                if (lanes >> lane & 1) result = result ? combine(*result, other) : other;
            }
            return *result;
        };
        const std::string redux = "redux.sync." + std::string(name) + " ";
        check(begin + redux + "%r4, %r5, -1;",
              [&](uint32_t thread) { return of_lanes(thread, ~0u); });
        // Each half of a warp by itself, the result in the register that is read.
        check(begin + "mov.u32 %r4, %r5; setp.lt.u32 %p1, %r3, 16; @%p1 bra a; " + redux +
                  "%r4, %r4, 0xffff0000; bra b; a: " + redux + "%r4, %r4, 0xffff; b:",
              [&](uint32_t thread) {
                  return of_lanes(thread, thread % 32 < 16 ? 0xffffu : 0xffff0000u);
              });
    }
}

TEST(WarpForms, ActiveMask) {
    for (const InstructionSet set : instruction_sets()) {
        const std::vector<uint32_t> results =
            run("mov.u32 %r4, 0; setp.lt.u32 %p1, %r3, 9; @!%p1 bra a; activemask.b32 %r4; a:",
                {.instruction_set = set});
        for (uint32_t thread = 0; thread < 64; thread++)
            EXPECT_EQ(results[thread], thread % 32 < 9 ? 0x1ffu : 0u);
    }
}

// Threads that part meet again, loop as often as each wants, and end on their own.
TEST(WarpForms, BranchesAndEnds) {
    check(
        "mov.u32 %r4, 0; mov.u32 %r5, 0;\n"
        "next: setp.ge.u32 %p1, %r5, %r3; @%p1 bra done; add.u32 %r4, %r4, %r5; add.u32 %r5, %r5, "
        "1; bra next;\n"
        "done: vote.sync.ballot.b32 %r6, %p1, -1; setp.ne.u32 %p2, %r6, -1; @%p2 add.u32 %r4, %r4, "
        "5000;",
        [](uint32_t thread) {
            const uint32_t lane = thread % 32;
            return lane == 0 ? 0 : lane * (lane - 1) / 2;
        });
    check("mov.u32 %r4, 1; and.b32 %r5, %r3, 3; setp.eq.u32 %p1, %r5, 2; @%p1 exit;",
          [](uint32_t thread) { return thread % 4 == 2 ? 0u : 1u; });
}

TEST(WarpForms, BarriersAndFences) {
    check("st.shared.u32 [%r2], %r0; bar.sync 0; xor.b32 %r5, %r2, 252; ld.shared.u32 %r4, [%r5];",
          [](uint32_t thread) { return 63 - thread; });
    check(
        "st.shared.u32 [%r2], %r0; barrier.sync.aligned 0; xor.b32 %r5, %r2, 252; ld.shared.u32 "
        "%r4, [%r5];",
        [](uint32_t thread) { return 63 - thread; });
    for (const char *fence :
         {"membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.gpu", "fence.sc.cta"})
        check("mov.u32 %r4, %r0; " + std::string(fence) + ";",
              [](uint32_t thread) { return thread; });
}

// Each register in a launch of no equal sizes.
TEST(WarpForms, SpecialRegisters) {
    constexpr Dim3 kGrid{3, 2, 2}, kBlock{5, 4, 3};
    constexpr const char *kNames[] = {"%tid.x",    "%tid.y",    "%tid.z",   "%ntid.x",  "%ntid.y",
                                      "%ntid.z",   "%ctaid.x",  "%ctaid.y", "%ctaid.z", "%nctaid.x",
                                      "%nctaid.y", "%nctaid.z", "%laneid",  "WARP_SZ"};
    for (size_t n = 0; n < std::size(kNames); n++) {
        MachineCase c;
        c.grid = kGrid;
        c.block = kBlock;
        const size_t count = kGrid.count() * kBlock.count();
        c.p0 = c.memory.allocate(4 * count);
        const Outcome outcome = c.run(
            "mov.u32 %r3, %ctaid.z; mad.lo.s32 %r3, %r3, 2, 0; mov.u32 %r4, %ctaid.y; add.u32 %r3, "
            "%r3, %r4;\n"
            "mad.lo.s32 %r3, %r3, 3, %r1; mov.u32 %r4, %tid.z; mad.lo.s32 %r3, %r3, 3, %r4; "
            "mov.u32 %r4, %tid.y;\n"
            "mad.lo.s32 %r3, %r3, 4, %r4; mad.lo.s32 %r3, %r3, 5, %r0; mul.wide.u32 %rd3, %r3, 4;\n"
            "add.s64 %rd3, %rd3, %rd0; mov.u32 %r5, " +
            std::string(kNames[n]) + "; st.global.u32 [%rd3], %r5;");
        EXPECT_TRUE(outcome.findings.empty());
        std::vector<uint32_t> results(count);
        ASSERT_TRUE(c.memory.read(results.data(), c.p0, 4 * count));
        for (uint32_t at = 0; at < count; at++) {
            const uint32_t thread = at % 60, block = at / 60;
            const uint32_t wanted[] = {
                thread % 5,    thread / 5 % 4, thread / 20, 5, 4, 3,           block % 3,
                block / 3 % 2, block / 6,      3,           2, 2, thread % 32, 32};
            ASSERT_EQ(results[at], wanted[n])
                << kNames[n] << " of thread " << thread << ", block " << block;
        }
    }
}

}  // namespace

}  // namespace software_cuda::tests
