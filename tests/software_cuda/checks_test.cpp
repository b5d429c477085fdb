// Each check finds its fault in a wrong kernel, and nothing in the right one.
#include <gtest/gtest.h>

#include "tests/software_cuda/wrong_kernel.h"

namespace software_cuda {

namespace {

#define MMA                                                                                     \
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r4, %r5, %r6, %r7}, {%r4, %r5, %r6, " \
    "%r7}, {%r8, %r9}, {%r4, %r5, %r6, %r7};"
// %r3: a thread's row of 16 bytes.
#define WRITE_ROW "shl.b32 %r3, %r0, 4; st.shared.v4.b32 [%r3], {%r0, %r0, %r0, %r0}; "
#define IF_P0_WRITE_ROW "shl.b32 %r3, %r0, 4; @%p0 st.shared.v4.b32 [%r3], {%r0, %r0, %r0, %r0}; "
#define LDMATRIX "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, "
#define TRANSPOSING "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r4, %r5, %r6, %r7}, "

// p0: 256 bytes that the host wrote, p1: 256 bytes that nobody wrote.
const WrongKernel kWrong[] = {
    {"ReadsBehindABuffer", "add.s64 %rd3, %rd0, %rd2; ld.global.b32 %r3, [%rd3+4];",
     "add.s64 %rd3, %rd0, %rd2; ld.global.b32 %r3, [%rd3];", Finding::kOutOfBounds,
     "thread (63,0,0), global load of 4 bytes", Outcome::kIllegalAddress},
    {"ReadsTheLastByteButOne", "ld.global.u16 %r3, [%rd0+256];", "ld.global.u16 %r3, [%rd0+254];",
     Finding::kOutOfBounds, "0 bytes after the allocation of 256 bytes", Outcome::kIllegalAddress},
    {"WritesBeforeABuffer", "st.global.b8 [%rd0+-1], %r0;",
     "@!%p0 bra end; end:", Finding::kOutOfBounds, "1 bytes before the allocation of 256 bytes",
     Outcome::kIllegalAddress, 1},
    {"ReadsNull", "mov.b64 %rd3, 0; ld.global.b32 %r3, [%rd3];", "ld.global.b32 %r3, [%rd0];",
     Finding::kOutOfBounds, "at 0x0", Outcome::kIllegalAddress},
    {"ReadsTheLastOfAllAddresses", "mov.b64 %rd3, -1; ld.global.u8 %r3, [%rd3];",
     "ld.global.u8 %r3, [%rd0+255];", Finding::kOutOfBounds,
     "global load of 1 bytes at 0xffffffffffffffff", Outcome::kIllegalAddress},
    {"WritesToTheLastOfAllAddressesOfSharedMemory", "mov.b64 %rd3, -1; st.shared.b8 [%rd3], %r0;",
     "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b8 [s+1023], %r0;", Finding::kOutOfBounds,
     "shared store of 1 bytes at 0xffffffffffffffff", Outcome::kIllegalAddress},
    {"WritesBeyondSharedMemory", "st.shared.b32 [%r2+1020], %r0;", "st.shared.b32 [%r2+768], %r0;",
     Finding::kOutOfBounds, "of 1024 bytes of shared memory", Outcome::kIllegalAddress},
    {"ReadsAMisalignedVector", "ld.global.v2.b32 {%r3, %r4}, [%rd0+4];",
     "ld.global.v2.b32 {%r3, %r4}, [%rd0+8];", Finding::kMisaligned, "global load of 8 bytes",
     Outcome::kMisalignedAddress},
    {"ReadsWhatNobodyWrote", "ld.global.b32 %r3, [%rd1];",
     "add.s64 %rd3, %rd1, %rd2; st.global.b32 [%rd3], %r0; ld.global.b32 %r3, [%rd3];",
     Finding::kUninitialized, "0 bytes into the allocation of 256 bytes"},
    {"StoresToWhatItReadsByNc",
     "add.s64 %rd3, %rd0, %rd2; ld.global.nc.b32 %r3, [%rd3]; st.global.b32 [%rd3], %r3;",
     "add.s64 %rd3, %rd0, %rd2; ld.global.b32 %r3, [%rd3]; st.global.b32 [%rd3], %r3;",
     Finding::kReadOnly, "global store of 4 bytes"},
    {"ReadsByNcWhatItStored",
     "add.s64 %rd3, %rd0, %rd2; st.global.b16 [%rd3+2], %r0; ld.global.nc.b32 %r3, [%rd3];",
     "add.s64 %rd3, %rd0, %rd2; st.global.b16 [%rd3+2], %r0; ld.global.nc.b16 %r3, [%rd3];",
     Finding::kReadOnly, "global load of 4 bytes"},
    {"AddsToWhatAnotherBlockReadsByNc",
     "setp.eq.u32 %p0, %r1, 1; @%p0 ld.global.nc.b32 %r3, [%rd0+8]; @!%p0 red.global.add.u32 "
     "[%rd0+8], 1;",
     "setp.eq.u32 %p0, %r1, 1; @%p0 ld.global.nc.b32 %r3, [%rd0+8]; @!%p0 red.global.add.u32 "
     "[%rd0+12], 1;",
     Finding::kReadOnly, "global", Outcome::kDone, 64, 2},
    {"ReadsSharedMemoryThatNobodyWrote", "ld.shared.b32 %r3, [%r2];",
     "st.shared.b32 [%r2], %r0; ld.shared.b32 %r3, [%r2];", Finding::kUninitialized,
     "shared load of 4 bytes at 0x0"},
    {"ReadsAfterAWriteWithoutABarrier",
     "st.shared.b32 [%r2], %r0; xor.b32 %r3, %r2, 128; ld.shared.b32 %r4, [%r3];",
     "st.shared.b32 [%r2], %r0; bar.sync 0; xor.b32 %r3, %r2, 128; ld.shared.b32 %r4, [%r3];",
     Finding::kReadAfterWrite, "ld.shared.b32 %r4, [%r3];"},
    {"WritesAfterAReadWithoutABarrier",
     "st.shared.b32 [%r2], %r0; bar.sync 0; xor.b32 %r3, %r2, 128; ld.shared.b32 %r4, [%r3]; "
     "st.shared.b32 [%r2], %r4;",
     "st.shared.b32 [%r2], %r0; bar.sync 0; xor.b32 %r3, %r2, 128; ld.shared.b32 %r4, [%r3]; "
     "bar.sync 0; st.shared.b32 [%r2], %r4;",
     Finding::kWriteAfterRead, "shared store of 4 bytes"},
    {"WritesDifferentValues", "st.shared.b32 [s], %r0;",
     "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [s], %r0;", Finding::kWriteAfterWrite,
     "thread (1,0,0), other thread 0"},
    {"WritesTheSameValue", "mov.b32 %r3, 7; st.shared.b32 [s], %r3; st.shared.b32 [s], %r3;",
     "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [s], %r0;", Finding::kSameValueWrite,
     "shared store"},
    {"BytesOfAWordAreNotTheSamePlace", "st.shared.b8 [%r0], %r0; st.shared.b8 [%r0+1], %r0;",
     "st.shared.b8 [%r0], %r0;", Finding::kWriteAfterWrite, "shared store of 1 bytes"},
    {"RacesInGlobalMemory", "st.global.b32 [%rd0], %r0;",
     "setp.eq.u32 %p0, %r0, 0; @%p0 st.global.b32 [%rd0], %r0;", Finding::kWriteAfterWrite,
     "global store of 4 bytes"},
    {"BlocksWriteOnePlace", "st.global.b32 [%rd0], %r1;", "red.global.add.u32 [%rd0], %r1;",
     Finding::kBetweenBlocks, "block (1,0,0)", Outcome::kDone, 1, 2},
    {"BlocksWriteTheSameValue", "mov.b32 %r3, 7; st.global.b32 [%rd0], %r3;",
     "red.global.add.u32 [%rd0], %r1;", Finding::kSameValueBetweenBlocks, "block (1,0,0)",
     Outcome::kDone, 1, 2},
    {"ABlockReadsWhatAnotherWrites",
     "setp.eq.u32 %p0, %r1, 0; @%p0 st.global.b32 [%rd0], %r1; ld.global.b32 %r3, [%rd0];",
     "ld.global.b32 %r3, [%rd0];", Finding::kBetweenBlocks, "global load", Outcome::kDone, 1, 2},
    {"ABlockReadsWhatAnotherAdds", "red.global.add.u32 [%rd0], %r1;\n ld.global.b32 %r3, [%rd0];",
     "red.global.add.u32 [%rd0], %r1;", Finding::kBetweenBlocks, "global load", Outcome::kDone, 1,
     2},
    {"ThreadsWaitAtTwoBarriers",
     "setp.lt.u32 %p0, %r0, 8; @%p0 bra a; bar.sync 0; bra b; a: bar.sync 0; b:", "bar.sync 0;",
     Finding::kDivergentBarrier, "others wait in line"},
    {"ThreadsEndBeforeABarrier", "setp.lt.u32 %p0, %r0, 8; @%p0 bra a; bar.sync 0; a:",
     "bar.sync 0;", Finding::kDivergentBarrier, "others have ended"},
    {"ReadsAnotherLanesWriteWithoutAWarpBarrier",
     "st.shared.b32 [%r2], %r0; xor.b32 %r3, %r2, 64; ld.shared.b32 %r4, [%r3];",
     "st.shared.b32 [%r2], %r0; bar.warp.sync -1; xor.b32 %r3, %r2, 64; ld.shared.b32 %r4, [%r3];",
     Finding::kReadAfterWrite, "shared load", Outcome::kDone},
    {"AWarpBarrierIsNoneOfTheBlock",
     "st.shared.b32 [%r2], %r0; bar.warp.sync -1; xor.b32 %r3, %r2, 128; ld.shared.b32 %r4, [%r3];",
     "st.shared.b32 [%r2], %r0; bar.warp.sync -1; bar.sync 0; xor.b32 %r3, %r2, 128; "
     "ld.shared.b32 %r4, [%r3];",
     Finding::kReadAfterWrite, "shared load"},
    // %r5: of the half of a warp that a lane is in.
    {"AWarpBarrierIsOfTheLanesThatItNames",
     "setp.gt.u32 %p0, %r0, 15; selp.b32 %r5, 0xffff0000, 0xffff, %p0; st.shared.b32 [%r2], %r0; "
     "@%p0 bra a; bar.warp.sync %r5; bra b; a: bar.warp.sync %r5; b: "
     "xor.b32 %r3, %r2, 64; ld.shared.b32 %r4, [%r3];",
     "setp.gt.u32 %p0, %r0, 15; selp.b32 %r5, 0xffff0000, 0xffff, %p0; st.shared.b32 [%r2], %r0; "
     "@%p0 bra a; bar.warp.sync %r5; bra b; a: bar.warp.sync %r5; b: "
     "xor.b32 %r3, %r2, 32; ld.shared.b32 %r4, [%r3];",
     Finding::kReadAfterWrite, "shared load", Outcome::kDone, 32},
    // Lanes 0 and 1 meet, then 1 and 2: what lane 0 wrote lane 2 may read, and 3 may not.
    {"OneBarrierAfterAnother",
     "setp.gt.u32 %p0, %r0, 3; @%p0 bra c; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b32 [s], %r0; "
     "setp.gt.u32 %p2, %r0, 1; @%p2 bra a; bar.warp.sync 3; a: @%p1 bra c; "
     "setp.gt.u32 %p3, %r0, 2; @%p3 bra b; bar.warp.sync 6; b: setp.eq.u32 %p4, %r0, 3; @%p4 "
     "ld.shared.b32 %r4, [s]; c:",
     "setp.gt.u32 %p0, %r0, 3; @%p0 bra c; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b32 [s], %r0; "
     "setp.gt.u32 %p2, %r0, 1; @%p2 bra a; bar.warp.sync 3; a: @%p1 bra c; "
     "setp.gt.u32 %p3, %r0, 2; @%p3 bra b; bar.warp.sync 6; b: setp.eq.u32 %p4, %r0, 2; @%p4 "
     "ld.shared.b32 %r4, [s]; c:",
     Finding::kReadAfterWrite, "thread (3,0,0), other thread 0", Outcome::kDone, 32},
    {"WritesWhatAllLanesReadWithoutAWarpBarrier",
     "st.shared.b32 [%r2], %r0; bar.warp.sync -1; ld.shared.b32 %r4, [s]; "
     "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [s], %r4;",
     "st.shared.b32 [%r2], %r0; bar.warp.sync -1; ld.shared.b32 %r4, [s]; bar.warp.sync -1; "
     "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [s], %r4;",
     Finding::kWriteAfterRead, "thread (0,0,0), other thread", Outcome::kDone, 32},
    {"OneThatReadsItsOwnWriteDoesNotOrderIt",
     "bar.warp.sync -1; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [s], %r0; "
     "@%p0 ld.shared.b32 %r3, [s]; ld.shared.b32 %r4, [s];",
     "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [s], %r0; @%p0 ld.shared.b32 %r3, [s]; "
     "bar.warp.sync -1; ld.shared.b32 %r4, [s];",
     Finding::kReadAfterWrite, "other thread 0", Outcome::kDone, 32},
    {"WritesToGlobalMemoryWithoutAWarpBarrier",
     "bar.warp.sync -1; add.s64 %rd3, %rd0, %rd2; st.global.b32 [%rd3], %r0; "
     "xor.b32 %r3, %r2, 64; cvt.u64.u32 %rd4, %r3; add.s64 %rd4, %rd0, %rd4; "
     "st.global.b32 [%rd4], %r0;",
     "add.s64 %rd3, %rd0, %rd2; st.global.b32 [%rd3], %r0; bar.warp.sync -1; "
     "xor.b32 %r3, %r2, 64; cvt.u64.u32 %rd4, %r3; add.s64 %rd4, %rd0, %rd4; "
     "st.global.b32 [%rd4], %r0;",
     Finding::kWriteAfterWrite, "global store", Outcome::kDone, 32},
    {"ShufflesFromAnInactiveLane",
     "setp.lt.u32 %p0, %r0, 16; @!%p0 bra a; mov.b32 %r3, 20; shfl.sync.idx.b32 %r4, %r0, %r3, 31, "
     "0xffff; a:",
     "mov.b32 %r3, 20; shfl.sync.idx.b32 %r4, %r0, %r3, 31, -1;", Finding::kInactiveLane,
     "of lane 20", Outcome::kDone, 32},
    {"ShufflesWithoutItsMembers",
     "setp.lt.u32 %p0, %r0, 16; @!%p0 bra a; shfl.sync.idx.b32 %r4, %r0, 0, 31, -1; a:",
     "shfl.sync.idx.b32 %r4, %r0, 0, 31, -1;", Finding::kDeadlock,
     "threads of its warp that do not come", Outcome::kDone, 32},
    {"VotesWithoutItsMembers",
     "setp.lt.u32 %p0, %r0, 16; @!%p0 bra a; vote.sync.ballot.b32 %r4, %p0, -1; a:",
     "setp.lt.u32 %p0, %r0, 16; vote.sync.ballot.b32 %r4, %p0, -1;", Finding::kDeadlock,
     "threads of its warp that do not come", Outcome::kDone, 32},
    {"ReducesWithoutItsMembers",
     "setp.lt.u32 %p0, %r0, 16; @!%p0 bra a; redux.sync.add.u32 %r4, %r0, -1; a:",
     "redux.sync.add.u32 %r4, %r0, -1;", Finding::kDeadlock, "threads of its warp that do not come",
     Outcome::kDone, 32},
    {"ReducesWhatALaneThatHasEndedWouldGive",
     "setp.eq.u32 %p0, %r0, 5; @%p0 exit; redux.sync.max.s32 %r4, %r0, -1;",
     "setp.eq.u32 %p0, %r0, 5; redux.sync.max.s32 %r4, %r0, -1; @%p0 exit;", Finding::kDeadlock,
     "threads of its warp that do not come", Outcome::kDone, 32},
    {"MultipliesMatricesInAHalfWarp", MMA, "setp.lt.u32 %p0, %r0, 32; @%p0 " MMA,
     Finding::kPartialWarp,
     "thread (32,0,0), one of 16 at an instruction of all 32 threads of a warp",
     Outcome::kLaunchFailed, 48},
    {"MultipliesMatricesWhereThreadsHaveParted",
     "setp.lt.u32 %p0, %r0, 8; @%p0 bra a; " MMA " bra b; a: " MMA " b:",
     "setp.lt.u32 %p0, %r0, 8; @%p0 bra a; a: " MMA, Finding::kPartialWarp,
     "one of 24 at an instruction", Outcome::kLaunchFailed, 32},
    {"MultipliesMatricesUnderAGuardOfSomeThreads", "setp.lt.u32 %p0, %r0, 8; @%p0 " MMA,
     "setp.lt.u32 %p0, %r0, 64; @%p0 " MMA, Finding::kPartialWarp,
     "thread (0,0,0), one of 8 at an instruction", Outcome::kLaunchFailed},
    {"LoadsMatricesWhereAThreadHasEnded",
     "setp.eq.u32 %p0, %r0, 5; @%p0 exit; " WRITE_ROW "bar.warp.sync -1; " LDMATRIX "[%r3];",
     WRITE_ROW "bar.warp.sync -1; " LDMATRIX "[%r3];", Finding::kPartialWarp,
     "thread (0,0,0), one of 31 at an instruction", Outcome::kLaunchFailed, 32},
    {"LoadsAMisalignedRowOfAMatrix", WRITE_ROW "bar.sync 0; " LDMATRIX "[%r2];",
     WRITE_ROW "bar.sync 0; " LDMATRIX "[%r3];", Finding::kMisaligned,
     "thread (1,0,0), shared load of 16 bytes at 0x4", Outcome::kMisalignedAddress},
    {"LoadsARowOfAMatrixBehindSharedMemory", WRITE_ROW "bar.sync 0; " LDMATRIX "[%r3+16];",
     WRITE_ROW "bar.sync 0; " LDMATRIX "[%r3];", Finding::kOutOfBounds,
     "thread (63,0,0), shared load of 16 bytes at 0x400", Outcome::kIllegalAddress},
    // Of 32 rows the last one is not written.
    {"LoadsAMatrixThatNobodyWrote",
     "setp.lt.u32 %p0, %r0, 31; " IF_P0_WRITE_ROW "bar.sync 0; " LDMATRIX "[%r3];",
     "setp.lt.u32 %p0, %r0, 32; " IF_P0_WRITE_ROW "bar.sync 0; " LDMATRIX "[%r3];",
     Finding::kUninitialized, "thread (31,0,0), shared load of 16 bytes at 0x1f0", Outcome::kDone,
     32},
    {"LoadsAMatrixOfAnotherWarpWithoutABarrier",
     WRITE_ROW "xor.b32 %r3, %r3, 512; " LDMATRIX "[%r3];",
     WRITE_ROW "bar.sync 0; xor.b32 %r3, %r3, 512; " LDMATRIX "[%r3];", Finding::kReadAfterWrite,
     "shared load of 4 bytes"},
    // Each lane has the address of the row that it wrote, but other lanes receive it.
    {"LoadsAMatrixOfItsOwnWarpWithoutABarrier", WRITE_ROW LDMATRIX "[%r3];",
     WRITE_ROW "bar.warp.sync -1; " LDMATRIX "[%r3];", Finding::kReadAfterWrite,
     "thread (1,0,0), other thread 0, shared load of 4 bytes at 0x4"},
    // Of rows with odd numbers, the others are in order.
    {"LoadsAMatrixTransposedWithoutABarrier",
     "and.b32 %r9, %r0, 1; setp.eq.u32 %p0, %r9, 1; " WRITE_ROW
     "bar.sync 0; " IF_P0_WRITE_ROW TRANSPOSING "[%r3];",
     "and.b32 %r9, %r0, 1; setp.eq.u32 %p0, %r9, 1; " WRITE_ROW "bar.sync 0; " IF_P0_WRITE_ROW
     "bar.warp.sync -1; " TRANSPOSING "[%r3];",
     Finding::kReadAfterWrite, "shared load of 2 bytes"},
    {"WritesAMatrixThatIsStillLoaded", WRITE_ROW "bar.sync 0; " LDMATRIX "[%r3]; " WRITE_ROW,
     WRITE_ROW "bar.sync 0; " LDMATRIX "[%r3]; bar.sync 0; " WRITE_ROW, Finding::kWriteAfterRead,
     "shared store of 16 bytes"},
};
#undef MMA
#undef WRITE_ROW
#undef IF_P0_WRITE_ROW
#undef LDMATRIX
#undef TRANSPOSING

class Checks : public testing::TestWithParam<WrongKernel> {};

TEST_P(Checks, FindTheirFault) { expect_its_fault(GetParam()); }
TEST_P(Checks, FindTheirFaultInAnyOrder) { expect_a_fault_in_any_order(GetParam()); }
TEST_P(Checks, FindNothingInTheRightKernel) { expect_nothing_in_the_right_kernel(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Each, Checks, testing::ValuesIn(kWrong),
                         [](const auto &i) { return std::string(i.param.name); });

// Without other checks, and whichever of the accesses comes first.
TEST(Check, ReadOnlyBetweenBlocksOnSeveralThreadsOfTheHost) {
    const auto kernel = [](const char *stored) {
        return std::string("setp.eq.u32 %p0, %r1, 0; @%p0 st.global.b32 [%rd0+") + stored +
               "], %r0; @!%p0 ld.global.nc.b32 %r3, [%rd0+8];";
    };
    MachineCase c;
    c.settings = {.check = Check::kNone, .threads = 4, .read_only = true};
    c.grid.x = 64;
    c.p0 = c.memory.allocate(256);
    ASSERT_TRUE(c.memory.fill(c.p0, 0, 4, 64));
    for (int launch = 0; launch < 20; launch++) {
        const Outcome outcome = c.run(kernel("8"));
        EXPECT_EQ(outcome.status, Outcome::kDone);
        ASSERT_EQ(outcome.findings.size(), 1u) << "launch " << launch;
        EXPECT_EQ(outcome.findings[0].kind, Finding::kReadOnly) << outcome.findings[0].message;
        EXPECT_TRUE(c.run(kernel("12")).findings.empty()) << "launch " << launch;
    }
    c.settings.read_only = false;
    EXPECT_TRUE(c.run(kernel("8")).findings.empty());
}

TEST(Check, UseAfterFree) {
    MachineCase c;
    c.p0 = c.memory.allocate(256);
    ASSERT_TRUE(c.memory.release(c.p0));
    const Outcome outcome = c.run("ld.global.b32 %r3, [%rd0+8];");
    EXPECT_EQ(outcome.status, Outcome::kIllegalAddress);
    ASSERT_EQ(outcome.findings.size(), 1u);
    EXPECT_NE(outcome.findings[0].message.find("8 bytes into the freed allocation of 256 bytes"),
              std::string::npos)
        << outcome.findings[0].message;
}

// Alone, around a barrier of the block, and in one thread of many.
constexpr const char *kEndless[] = {
    "again: bra again;", "again: bar.sync 0; bra again;",
    "setp.eq.u32 %p0, %r0, 5; again: bar.warp.sync -1; @%p0 bra again;",
    "again: setp.eq.u32 %p0, %r0, 5; @%p0 bra again;"};

TEST(Steps, EndWhatGoesOnForEver) {
    for (const char *instructions : kEndless) {
        for (const Settings &settings : all_settings()) {
            MachineCase c;
            c.settings = settings;
            c.settings.steps = 5000;
            c.grid.x = 3;
            const Outcome outcome = c.run(instructions);
            EXPECT_EQ(outcome.status, Outcome::kLaunchTimeout) << instructions;
            bool found = false;
            for (const Finding &finding : outcome.findings) {
                found |= finding.kind == Finding::kTooManySteps &&
                         finding.message.starts_with("too many steps: kernel kernel, block (") &&
                         finding.message.ends_with(
                             std::string(", more than 5000 instructions in a block "
                                         "(SOFTWARE_CUDA_STEPS), line 17: ") +
                             instructions);
            }
            EXPECT_TRUE(found) << instructions;
        }
    }
}

// 6 instructions before the loop, 1000 times 3, and 1.
TEST(Steps, AreThoseThatAreExecuted) {
    const char *const loop =
        "mov.b32 %r3, 0; again: add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 1000; @%p0 bra again;";
    MachineCase c;
    c.settings.steps = 1;
    uint64_t least = 1;
    while (c.settings.steps < 10000 && c.run(loop).status != Outcome::kDone)
        least = ++c.settings.steps;
    EXPECT_GE(least, 3000u);
    EXPECT_LE(least, 3010u);
    c.grid.x = 4;  // of each block
    EXPECT_EQ(c.run(loop).status, Outcome::kDone);
    c.settings.steps = 0;
    EXPECT_EQ(c.run(loop).status, Outcome::kDone);
    c.settings.steps = Settings{}.steps;
    EXPECT_EQ(c.run(loop).status, Outcome::kDone);
}

TEST(Check, BlocksOnSeveralThreadsOfTheHost) {
    MachineCase c;
    c.settings.threads = 4;
    c.grid.x = 64;
    c.p0 = c.memory.allocate(256);
    ASSERT_TRUE(c.memory.fill(c.p0, 0, 4, 64));
    EXPECT_TRUE(c.run("red.global.add.u32 [%rd0], 1;").findings.empty());
    uint32_t sum = 0;
    ASSERT_TRUE(c.memory.read(&sum, c.p0, sizeof sum));
    EXPECT_EQ(sum, 64u * 32);
    EXPECT_FALSE(c.run("st.global.b32 [%rd0], %r1;").findings.empty());
}

}  // namespace

}  // namespace software_cuda
