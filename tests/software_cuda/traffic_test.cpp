// What is counted of memory, for kernels whose counts are known.
#include <gtest/gtest.h>

#include "tests/software_cuda/machine_case.h"

namespace software_cuda {

namespace {

class Traffic : public testing::Test {
protected:
    Counts counts_of(const std::string &instructions) {
        MachineCase one;
        one.settings.check = Check::kNone;
        one.settings.count = true;
        one.p0 = one.memory.allocate(4096);
        return one.run(instructions).counts;
    }
    static void expect(const MemoryCounts &counts, uint64_t requests, uint64_t bytes,
                       uint64_t moved, uint64_t least) {
        EXPECT_EQ(counts.requests, requests);
        EXPECT_EQ(counts.bytes, bytes);
        EXPECT_EQ(counts.moved, moved);
        EXPECT_EQ(counts.least, least);
    }
};

TEST_F(Traffic, NeighboursShareSectors) {
    const Counts counts = counts_of(
        "add.s64 %rd3, %rd0, %rd2; ld.global.b32 %r3, [%rd3];"
        "st.global.b32 [%rd3], %r3;");
    expect(counts.global_loads, 1, 128, 4, 4);
    expect(counts.global_stores, 1, 128, 4, 4);
    expect(counts.shared_loads, 0, 0, 0, 0);
}

TEST_F(Traffic, ShiftedNeighboursTakeOneSectorMore) {
    expect(counts_of("add.s64 %rd3, %rd0, %rd2; ld.global.b32 %r3, [%rd3+16];").global_loads, 1,
           128, 5, 4);
}

TEST_F(Traffic, StridesMoveWhatNobodyAskedFor) {
    expect(counts_of("shl.b64 %rd3, %rd2, 3; add.s64 %rd3, %rd0, %rd3;"
                     "ld.global.b32 %r3, [%rd3];")
               .global_loads,
           1, 128, 32, 4);
}

TEST_F(Traffic, OnePlaceOfAllLanesIsOneSector) {
    expect(counts_of("ld.global.b32 %r3, [%rd0];").global_loads, 1, 128, 1, 1);
}

// Eight of them, on several threads of the host.
void of_blocks(MachineCase &one) {
    one.settings.count = true;
    one.settings.threads = 3;
    one.grid = {8, 1, 1};
    one.p0 = one.memory.allocate(4096);
}

// Loads of four sectors and of the four after the first, and a store to the four.
const std::string kOverlapping =
    "add.s64 %rd3, %rd0, %rd2; ld.global.b32 %r3, [%rd3]; ld.global.b32 %r3, [%rd3+32];"
    "st.global.b32 [%rd3], %r3;";

TEST_F(Traffic, SectorsAreDistinctOnceALaunch) {
    MachineCase one;
    of_blocks(one);
    for (int launch = 0; launch < 2; launch++) {
        const Counts counts = one.run(kOverlapping).counts;
        EXPECT_EQ(counts.global_loads.moved, 8 * 8u);
        EXPECT_EQ(counts.global_loads.distinct, 5u);
        EXPECT_EQ(counts.global_stores.distinct, 4u);
    }
}

TEST_F(Traffic, BlocksAskTheSecondCacheOnceForWhatTheFirstKeeps) {
    MachineCase one;
    of_blocks(one);
    for (int launch = 0; launch < 2; launch++) {
        const Counts counts = one.run(kOverlapping + "st.global.b32 [%rd3], %r3;").counts;
        EXPECT_EQ(counts.global_loads.second_cache, 8 * 5u);
        EXPECT_EQ(counts.global_stores.second_cache, 8 * 8u);
    }
    const std::string to = "and.b32 %r3, %r0, 15; shl.b32 %r3, %r3, 4;";
    const auto copies = [&](const std::string &kind) {
        const std::string copy = "cp.async." + kind + ".shared.global [%r3], [%rd0], 16;";
        return one.run(to + copy + copy).counts.global_loads.second_cache;
    };
    EXPECT_EQ(copies("ca"), 8u);
    EXPECT_EQ(copies("cg"), 2 * 8u);
}

TEST_F(Traffic, BlocksMayLoadManySectors) {
    MachineCase one;
    one.settings.count = true;
    one.p0 = one.memory.allocate(1 << 20);
    std::string loads = "shl.b64 %rd3, %rd2, 3; add.s64 %rd3, %rd0, %rd3;";
    for (int n = 0; n < 2 * 64; n++)
        loads += "ld.global.b32 %r3, [%rd3+" + std::to_string(n % 64 * 1024) + "];";
    EXPECT_EQ(one.run(loads).counts.global_loads.second_cache, 64 * 32u);
}

TEST_F(Traffic, BanksOfDifferentWordsConflict) {
    expect(counts_of("st.shared.b32 [%r2], %r0;").shared_stores, 1, 128, 1, 1);
    // Words two apart: two of them in each bank; 32 apart would be all of them in one.
    expect(counts_of("and.b32 %r3, %r0, 127; shl.b32 %r3, %r3, 3; st.shared.b32 [%r3], %r0;")
               .shared_stores,
           1, 128, 2, 1);
    expect(counts_of("and.b32 %r3, %r0, 7; shl.b32 %r3, %r3, 7; st.shared.b32 [%r3], %r0;")
               .shared_stores,
           1, 128, 8, 1);
    expect(counts_of("ld.shared.b32 %r3, [s];").shared_loads, 1, 128, 1, 1);
}

TEST_F(Traffic, VectorsAreDoneByPartsOfAWarp) {
    expect(counts_of("shl.b32 %r3, %r0, 3; ld.shared.v2.b32 {%r4, %r5}, [%r3];").shared_loads, 1,
           256, 2, 2);
    expect(counts_of("shl.b32 %r3, %r0, 4; ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];")
               .shared_loads,
           1, 512, 4, 4);
}

// Eight rows of 16 bytes are a wavefront where their banks differ.
TEST_F(Traffic, MatricesAreLoadedByRows) {
    const Counts counts = counts_of(
        "shl.b32 %r3, %r0, 4; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, "
        "[%r3];");
    expect(counts.shared_loads, 1, 512, 4, 4);
    EXPECT_EQ(counts.warp_instructions[static_cast<size_t>(InstructionClass::kSharedLoad)], 1u);
    const std::string apart = "and.b32 %r3, %r0, 7; shl.b32 %r3, %r3, 7; ";
    expect(counts_of(apart + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];").shared_loads,
           1, 128, 8, 1);
    expect(counts_of(apart + "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%r3+16];")
               .shared_loads,
           1, 256, 16, 2);
}

TEST_F(Traffic, ProductsOfMatricesAreTensorInstructions) {
    const Counts counts = counts_of(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r4, %r5, %r6, %r7}, {%r4, %r5, %r6, "
        "%r7}, {%r8, %r9}, {%r4, %r5, %r6, %r7};");
    const auto tensor = static_cast<size_t>(InstructionClass::kTensor);
    EXPECT_EQ(counts.warp_instructions[tensor], 1u);
    EXPECT_EQ(counts.thread_instructions[tensor], 32u);
    expect(counts.shared_loads, 0, 0, 0, 0);
}

// A load from global memory and a store to shared memory, when it is issued.
TEST_F(Traffic, CopiesLoadAndStore) {
    const std::string places =
        "shl.b32 %r3, %r0, 4; cvt.u64.u32 %rd3, %r3; add.s64 %rd3, %rd3, %rd0; ";
    const std::string copy = "cp.async.cg.shared.global [%r3], [%rd3], 16";
    const Counts counts =
        counts_of(places + copy + "; cp.async.commit_group; cp.async.wait_group 0;");
    expect(counts.global_loads, 1, 512, 16, 16);
    EXPECT_EQ(counts.global_loads.distinct, 16u);
    expect(counts.shared_stores, 1, 512, 4, 4);
    expect(counts.global_stores, 0, 0, 0, 0);
    expect(counts.shared_loads, 0, 0, 0, 0);
    const auto instructions = [&](InstructionClass c) {
        return counts.warp_instructions[static_cast<size_t>(c)];
    };
    EXPECT_EQ(instructions(InstructionClass::kGlobalLoad), 1u);
    EXPECT_EQ(instructions(InstructionClass::kSharedStore), 0u);
    EXPECT_EQ(instructions(InstructionClass::kBarrier), 2u);
    EXPECT_EQ(counts.barriers, 0u);
    // Two rows of 16 bytes, 512 bytes apart, are in the same banks.
    expect(counts_of("and.b32 %r3, %r0, 1; shl.b32 %r3, %r3, 9; "
                     "cp.async.ca.shared.global [%r3], [%rd0], 16;")
               .shared_stores,
           1, 512, 8, 4);
    // What is not read is not loaded, and stored as zeros.
    const Counts parts = counts_of(places + copy + ", 4;");
    expect(parts.global_loads, 1, 128, 16, 4);
    expect(parts.shared_stores, 1, 512, 4, 4);
    const Counts nothing = counts_of(places + copy + ", 0;");
    expect(nothing.global_loads, 0, 0, 0, 0);
    expect(nothing.shared_stores, 1, 512, 4, 4);
    // Of one place with several sizes, the largest.
    expect(counts_of(places + "and.b32 %r4, %r0, 15; cp.async.cg.shared.global [%r3], [%rd0], 16, "
                              "%r4;")
               .global_loads,
           1, 240, 1, 1);
}

TEST_F(Traffic, LanesThatDoNotTakePartCountNothing) {
    expect(counts_of("setp.lt.u32 %p0, %r0, 4; @%p0 st.shared.b32 [%r2], %r0;").shared_stores, 1,
           16, 1, 1);
}

}  // namespace

}  // namespace software_cuda
