// Faults of asynchronous copies are found, in small kernels and in a pipeline of three stages.
#include <gtest/gtest.h>

#include "tests/software_cuda/wrong_kernel.h"

namespace software_cuda {

namespace {

// 4 bytes a thread to [%r2], from [%rd3].
#define SOURCE "add.s64 %rd3, %rd0, %rd2; "
#define COPY "cp.async.ca.shared.global [%r2], [%rd3], 4; "
#define COMMIT "cp.async.commit_group; "
#define WAIT_ALL "cp.async.wait_all; "
#define BARRIER "bar.sync 0; "
#define READ "ld.shared.b32 %r4, [%r2]; "
// What threads of the other warp, or of the other half of the warp copied.
#define READ_OTHER_WARP "xor.b32 %r3, %r2, 128; ld.shared.b32 %r4, [%r3]; "
#define READ_OTHER_LANE "xor.b32 %r3, %r2, 64; ld.shared.b32 %r4, [%r3]; "
#define READ_FIRST_IN_THREAD_32 "setp.eq.u32 %p1, %r0, 32; @%p1 ld.shared.b32 %r4, [s]; "
#define FIRST_THREAD "setp.eq.u32 %p0, %r0, 0; "
// %r3: of a row of 16 bytes a thread, %rd4: 16 rows of p0.
#define ROWS                                                                                  \
    "shl.b32 %r3, %r0, 4; and.b32 %r5, %r3, 255; cvt.u64.u32 %rd4, %r5; add.s64 %rd4, %rd4, " \
    "%rd0; cp.async.cg.shared.global [%r3], [%rd4], 16; " COMMIT
#define LDMATRIX "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3]; "

const WrongKernel kWrongCopies[] = {
    {"ReadsItsOwnCopyWithoutAWait", SOURCE COPY COMMIT READ,
     SOURCE COPY COMMIT "cp.async.wait_group 0; " READ, Finding::kMissingWait,
     "thread (0,0,0), copied by thread 0 in line 17, shared load of 4 bytes at 0x0, of 1024 bytes "
     "of shared memory, line 17"},
    {"WaitsForTheGroupBefore",
     SOURCE COPY COMMIT "cp.async.ca.shared.global [%r2+256], [%rd3], 4; " COMMIT
                        "cp.async.wait_group 1; ld.shared.b32 %r4, [%r2+256];",
     SOURCE COPY COMMIT "cp.async.ca.shared.global [%r2+256], [%rd3], 4; " COMMIT
                        "cp.async.wait_group 1; ld.shared.b32 %r4, [%r2];",
     Finding::kMissingWait, "at 0x100"},
    {"WaitsForAGroupThatTheCopyIsNotIn", SOURCE COMMIT COPY "cp.async.wait_group 0; " READ,
     SOURCE COPY COMMIT "cp.async.wait_group 0; " READ, Finding::kMissingWait, "shared load"},
    {"ReadsAByteOfACopyUnderWay", SOURCE COPY "ld.shared.u8 %r4, [%r2+3]; ",
     SOURCE COPY WAIT_ALL "ld.shared.u8 %r4, [%r2+3]; ", Finding::kMissingWait,
     "shared load of 1 bytes at 0x3"},
    {"ReadsAVectorThatACopyIsToWriteTheEndOf",
     "st.shared.b64 [s], %rd2; cp.async.ca.shared.global [s+8], [%rd0], 8; "
     "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [s]; ",
     "st.shared.b64 [s], %rd2; cp.async.ca.shared.global [s+8], [%rd0], 8; " WAIT_ALL
     "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [s]; ",
     Finding::kMissingWait, "shared load of 16 bytes at 0x0", Outcome::kDone, 1},
    {"ReadsTheEndOfACopyUnderWay",
     "cp.async.cg.shared.global [s], [%rd0], 16; ld.shared.b32 %r4, [s+12]; ",
     "cp.async.cg.shared.global [s], [%rd0], 16; " WAIT_ALL "ld.shared.b32 %r4, [s+12]; ",
     Finding::kMissingWait, "shared load of 4 bytes at 0xc", Outcome::kDone, 1},
    {"WritesToACopyUnderWay", SOURCE COPY COMMIT "st.shared.b32 [%r2], %r0; ",
     SOURCE COPY COMMIT WAIT_ALL "st.shared.b32 [%r2], %r0; ", Finding::kMissingWait,
     "shared store of 4 bytes"},
    {"AddsToACopyUnderWay", SOURCE COPY COMMIT "red.shared.add.u32 [%r2], %r0; ",
     SOURCE COPY COMMIT WAIT_ALL "red.shared.add.u32 [%r2], %r0; ", Finding::kMissingWait,
     "shared atomic operation of 4 bytes"},
    {"LoadsAMatrixOfACopyUnderWay", ROWS "bar.warp.sync -1; " LDMATRIX,
     ROWS WAIT_ALL "bar.warp.sync -1; " LDMATRIX, Finding::kMissingWait,
     "thread (0,0,0), copied by thread 0 in line 17, shared load of 16 bytes at 0x0",
     Outcome::kDone, 32},
    {"LoadsAMatrixOfCopiesOfItsWarpWithoutABarrier", ROWS WAIT_ALL LDMATRIX,
     ROWS WAIT_ALL BARRIER LDMATRIX, Finding::kReadAfterWrite, "shared load of 4 bytes",
     Outcome::kDone, 32},
    {"CopiesOntoACopyUnderWay", SOURCE COPY COMMIT COPY, SOURCE COPY COMMIT WAIT_ALL COPY,
     Finding::kMissingWait, "shared store of 4 bytes"},
    {"ABarrierIsNoWait", SOURCE COPY COMMIT BARRIER READ_OTHER_WARP,
     SOURCE COPY COMMIT WAIT_ALL BARRIER READ_OTHER_WARP, Finding::kMissingWait,
     "thread (0,0,0), copied by thread 32"},
    {"AWaitIsNoBarrier", SOURCE COPY COMMIT WAIT_ALL READ_OTHER_WARP,
     SOURCE COPY COMMIT WAIT_ALL BARRIER READ_OTHER_WARP, Finding::kReadAfterWrite,
     "thread (32,0,0), other thread 0, shared load of 4 bytes"},
    // Written when the first thread waits, after the barrier; thread 32 reads it.
    {"ABarrierBeforeTheWaitIsNone",
     SOURCE FIRST_THREAD "@%p0 " COPY BARRIER WAIT_ALL READ_FIRST_IN_THREAD_32,
     SOURCE FIRST_THREAD "@%p0 " COPY BARRIER WAIT_ALL BARRIER READ_FIRST_IN_THREAD_32,
     Finding::kReadAfterWrite, "thread (32,0,0), other thread 0, shared load of 4 bytes"},
    {"ReadsALanesCopyWithoutAWarpBarrier",
     SOURCE COPY "bar.warp.sync -1; " WAIT_ALL READ_OTHER_LANE,
     SOURCE COPY WAIT_ALL "bar.warp.sync -1; " READ_OTHER_LANE, Finding::kReadAfterWrite,
     "shared load of 4 bytes"},
    {"CopiesOntoWhatOthersStillRead",
     "st.shared.b32 [%r2], %r0; " BARRIER READ_OTHER_WARP SOURCE COPY,
     "st.shared.b32 [%r2], %r0; " BARRIER READ_OTHER_WARP SOURCE BARRIER COPY,
     Finding::kWriteAfterRead, "thread (32,0,0), other thread 0, shared store of 4 bytes"},
    {"CopiesOntoWhatOthersWrote", "xor.b32 %r3, %r2, 128; st.shared.b32 [%r3], %r0; " SOURCE COPY,
     "xor.b32 %r3, %r2, 128; st.shared.b32 [%r3], %r0; " SOURCE BARRIER COPY,
     Finding::kWriteAfterWrite, "shared store of 4 bytes"},
    {"CopiesOntoOnePlace", "cp.async.ca.shared.global [s], [%rd0], 4; " WAIT_ALL,
     FIRST_THREAD "@%p0 cp.async.ca.shared.global [s], [%rd0], 4; " WAIT_ALL,
     Finding::kWriteAfterWrite, "thread (1,0,0), other thread 0"},
    {"CopiesWhatAnotherThreadWritesToGlobalMemory",
     SOURCE "st.global.b32 [%rd3], %r0; xor.b64 %rd3, %rd3, 128; " COPY,
     SOURCE "st.global.b32 [%rd3], %r0; xor.b64 %rd3, %rd3, 128; " BARRIER COPY,
     Finding::kReadAfterWrite, "global load of 4 bytes"},
    {"CopiesAPartThatAnotherThreadWrites",
     "xor.b32 %r3, %r0, 32; setp.eq.u32 %p0, %r3, 0; @%p0 st.global.b32 [%rd0+8], "
     "%r0; " FIRST_THREAD "@%p0 cp.async.cg.shared.global [s], [%rd0], 16, 12; ",
     "xor.b32 %r3, %r0, 32; setp.eq.u32 %p0, %r3, 0; @%p0 st.global.b32 [%rd0+8], "
     "%r0; " FIRST_THREAD "@%p0 cp.async.cg.shared.global [s], [%rd0], 16, 8; ",
     Finding::kWriteAfterRead, "global store of 4 bytes"},
    {"CopiesFromBehindABuffer", SOURCE "cp.async.ca.shared.global [%r2], [%rd3+4], 4; ",
     SOURCE "setp.lt.u32 %p0, %r0, 63; selp.b32 %r5, 4, 0, %p0; "
            "cp.async.ca.shared.global [%r2], [%rd3+4], 4, %r5; " WAIT_ALL READ,
     Finding::kOutOfBounds, "thread (63,0,0), global load of 4 bytes", Outcome::kIllegalAddress},
    {"CopiesAPartFromBehindABuffer", "cp.async.cg.shared.global [s], [%rd0+256], 16, 3; ",
     "cp.async.cg.shared.global [s], [%rd0+240], 16, 3; ", Finding::kOutOfBounds,
     "global load of 2 bytes", Outcome::kIllegalAddress, 1},
    {"CopiesFromNull", "mov.b64 %rd3, 0; cp.async.cg.shared.global [s], [%rd3], 16, 1; ",
     "mov.b64 %rd3, 3; cp.async.cg.shared.global [s], [%rd3], 16, 0; ", Finding::kOutOfBounds,
     "at 0x0", Outcome::kIllegalAddress, 1},
    {"CopiesBeyondSharedMemory", SOURCE "cp.async.ca.shared.global [%r2+772], [%rd3], 4; ",
     SOURCE "cp.async.ca.shared.global [%r2+768], [%rd3], 4; ", Finding::kOutOfBounds,
     "thread (63,0,0), shared store of 4 bytes at 0x400", Outcome::kIllegalAddress},
    {"CopiesNothingBeyondSharedMemory", "cp.async.cg.shared.global [s+1024], [%rd0], 16, 0; ",
     "cp.async.cg.shared.global [s+1008], [%rd0], 16, 0; ", Finding::kOutOfBounds,
     "shared store of 16 bytes at 0x400", Outcome::kIllegalAddress, 1},
    {"CopiesFromAMisalignedAddress", "cp.async.ca.shared.global [s], [%rd0+4], 8; ",
     "cp.async.ca.shared.global [s], [%rd0+8], 8; ", Finding::kMisaligned, "global load of 8 bytes",
     Outcome::kMisalignedAddress, 1},
    {"CopiesAPartFromAMisalignedAddress", "cp.async.cg.shared.global [s], [%rd0+8], 16, 8; ",
     "cp.async.cg.shared.global [s], [%rd0+16], 16, 8; ", Finding::kMisaligned,
     "global load of 16 bytes", Outcome::kMisalignedAddress, 1},
    {"CopiesToAMisalignedAddress", "cp.async.cg.shared.global [s+8], [%rd0], 16; ",
     "cp.async.cg.shared.global [s+16], [%rd0], 16; ", Finding::kMisaligned,
     "shared store of 16 bytes at 0x8", Outcome::kMisalignedAddress, 1},
    {"CopiesWhatNobodyWrote", "cp.async.cg.shared.global [s], [%rd1], 16; ",
     "cp.async.cg.shared.global [s], [%rd1], 16, 0; " WAIT_ALL "ld.shared.b32 %r4, [s+12];",
     Finding::kUninitialized, "global load of 16 bytes", Outcome::kDone, 1},
    {"CopiesAPartThatNobodyWrote",
     "st.global.b64 [%rd1], %rd2; cp.async.cg.shared.global [s], [%rd1], 16, 12; ",
     "st.global.b64 [%rd1], %rd2; cp.async.cg.shared.global [s], [%rd1], 16, 8; ",
     Finding::kUninitialized, "global load of 4 bytes", Outcome::kDone, 1},
    {"ReadsBesideACopy", SOURCE COPY WAIT_ALL "ld.shared.b32 %r4, [%r2+256]; ",
     SOURCE COPY WAIT_ALL READ, Finding::kUninitialized, "shared load of 4 bytes at 0x100"},
    {"CopiesMoreThanItsSize", "mov.b32 %r5, 17; cp.async.cg.shared.global [s], [%rd0], 16, %r5; ",
     "mov.b32 %r5, 16; cp.async.cg.shared.global [s], [%rd0], 16, %r5; ", Finding::kCopySize,
     "thread (0,0,0), 17 of 16, line 17", Outcome::kDone, 1},
    // Blocks have copies of their own; what is not waited for is no fault.
    {"TheNextBlockReadsACopyOfItsOwn", SOURCE COPY READ, SOURCE COPY, Finding::kMissingWait,
     "block (0,0,0)", Outcome::kDone, 64, 3},
    // Block 0 has copied to the word before.
    {"TheNextBlockReadsACopyBesideAnotherBlocks",
     "setp.eq.u32 %p0, %r1, 0; @%p0 cp.async.ca.shared.global [s], [%rd0], 4; @%p0 exit; "
     "st.shared.b32 [s], %r0; cp.async.ca.shared.global [s+4], [%rd0], 4; "
     "ld.shared.b64 %rd3, [s]; ",
     "setp.eq.u32 %p0, %r1, 0; @%p0 cp.async.ca.shared.global [s], [%rd0], 4; @%p0 exit; "
     "st.shared.b32 [s], %r0; cp.async.ca.shared.global [s+4], [%rd0], 4; " WAIT_ALL
     "ld.shared.b64 %rd3, [s]; ",
     Finding::kMissingWait, "block (1,0,0), thread (0,0,0), copied by thread 0", Outcome::kDone, 1,
     2},
};

class CopyChecks : public testing::TestWithParam<WrongKernel> {};

TEST_P(CopyChecks, FindTheirFault) { expect_its_fault(GetParam()); }
TEST_P(CopyChecks, FindTheirFaultInAnyOrder) { expect_a_fault_in_any_order(GetParam()); }
TEST_P(CopyChecks, FindNothingInTheRightKernel) { expect_nothing_in_the_right_kernel(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Each, CopyChecks, testing::ValuesIn(kWrongCopies),
                         [](const auto &i) { return std::string(i.param.name); });

// A missing wait is a read of what is not written yet: found without the check of races, too.
TEST(CopyCheck, MissingWaitsWithoutRaces) {
    const WrongKernel kernel{"", SOURCE COPY READ, "", Finding::kMissingWait, ""};
    const auto run = [&](Check check) {
        return kernel.run(kernel.instructions, {.check = check, .threads = 1}).findings;
    };
    ASSERT_EQ(run(Check::kMemory).size(), 1u);
    EXPECT_EQ(run(Check::kMemory)[0].kind, Finding::kMissingWait);
    EXPECT_EQ(run(Check::kMemory)[0].times, 64u);
    EXPECT_TRUE(run(Check::kMemory)[0].shared);
    EXPECT_TRUE(run(Check::kNone).empty());
}

// Whatever the same instruction has read before: 8 bytes at 240 are inside, 16 are not.
TEST(CopyCheck, BoundsOfSizesThatGrow) {
    MachineCase c;
    c.block.x = 1;
    c.p0 = c.memory.allocate(250);
    ASSERT_TRUE(c.memory.fill(c.p0, 1, 1, 250));
    const auto run = [&](const char *last) {
        return c.run(std::string("mov.b32 %r5, 8; again: "
                                 "cp.async.cg.shared.global [s], [%rd0+240], 16, %r5; "
                                 "cp.async.wait_all; add.u32 %r5, %r5, 2; setp.le.u32 %p0, %r5, ") +
                     last + "; @%p0 bra again;");
    };
    EXPECT_EQ(run("10").status, Outcome::kDone);
    EXPECT_TRUE(run("10").findings.empty());
    EXPECT_EQ(run("12").status, Outcome::kIllegalAddress);
    const Outcome whole = c.run(
        "mov.b32 %r5, 8; again: cp.async.cg.shared.global [s], [%rd0+240], 16, %r5; "
        "cp.async.wait_all; add.u32 %r5, %r5, 8; setp.le.u32 %p0, %r5, 16; @%p0 bra again;");
    EXPECT_EQ(whole.status, Outcome::kIllegalAddress);
    ASSERT_EQ(whole.findings.size(), 1u);
    EXPECT_NE(whole.findings[0].message.find("global load of 16 bytes"), std::string::npos)
        << whole.findings[0].message;
}

// Copies that a block has not waited for do not arrive in the next one, which waits.
TEST(CopyCheck, CopiesEndWithTheirBlock) {
    MachineCase c;
    c.block.x = 1;
    c.grid.x = 2;
    c.p0 = c.memory.allocate(16);
    c.p1 = c.memory.allocate(4);
    ASSERT_TRUE(c.memory.fill(c.p0, 1, 4, 4));
    const Outcome outcome = c.run(
        "setp.eq.u32 %p0, %r1, 0; @%p0 cp.async.cg.shared.global [s], [%rd0], 16; @%p0 exit; "
        "st.shared.b32 [s], 5; cp.async.wait_all; ld.shared.b32 %r4, [s]; "
        "st.global.b32 [%rd1], %r4; ");
    EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
    uint32_t value = 0;
    ASSERT_TRUE(c.memory.read(&value, c.p1, sizeof value));
    EXPECT_EQ(value, 5u);
}
#undef SOURCE
#undef COPY
#undef COMMIT
#undef WAIT_ALL
#undef BARRIER
#undef READ
#undef READ_OTHER_WARP
#undef READ_OTHER_LANE
#undef READ_FIRST_IN_THREAD_32
#undef FIRST_THREAD
#undef ROWS
#undef LDMATRIX

}  // namespace

}  // namespace software_cuda
