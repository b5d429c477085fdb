// What follows from counts and published rates, for kernels whose counts are made up.

#include "gpu.h"

#include <gtest/gtest.h>

namespace hk::counts {

namespace {

const Gpu &gpu_named(const std::string &name) {
    for (const Gpu &gpu : gpus()) {
        if (gpu.name == name) return gpu;
    }
    throw std::runtime_error(name);
}

// On every multiprocessor of an A100: 1000 cycles of each part but those that a test adds to.
KernelCounts kernel() {
    KernelCounts kernel;
    kernel.launches = 1;
    kernel.blocks = 108;
    kernel.threads = 108 * 256;
    return kernel;
}

TEST(Roofline, NamesTheMultiplyAdds) {
    KernelCounts one = kernel();
    one.instructions.threads["multiply-add"] = 108 * 64 * 1000;
    one.instructions.warps["multiply-add"] = 108 * 2 * 1000;
    const Roofline roof = roofline(one, gpu_named("A100 SXM"));
    EXPECT_EQ(roof.highest().part, "multiply-adds");
    EXPECT_DOUBLE_EQ(roof.highest().seconds, 1000 / 1.41e9);
    EXPECT_EQ(roof.bounds[2].part, "instructions");
    EXPECT_DOUBLE_EQ(roof.bounds[2].seconds, 500 / 1.41e9) << "two of four instructions a cycle";
}

TEST(Roofline, NamesTheTensorCores) {
    KernelCounts one = kernel();
    one.instructions.threads["tensor"] = 108 * 32 * 500;
    one.instructions.warps["tensor"] = 108 * 500;
    const Roofline roof = roofline(one, gpu_named("A100 SXM"));
    EXPECT_EQ(roof.highest().part, "tensor cores");
    // 312 TFLOPS are half a product of 2048 multiply-adds a cycle and multiprocessor.
    EXPECT_NEAR(roof.highest().seconds, 1000 / 1.41e9, 0.001 * 1000 / 1.41e9);
    EXPECT_EQ(roof.bounds[0].seconds, 0) << "they are no multiply-adds of f32";
}

TEST(Roofline, NamesTheInstructions) {
    KernelCounts one = kernel();
    one.instructions.threads["integer"] = 108 * 128 * 1000;
    one.instructions.warps["integer"] = 108 * 4 * 1000;
    const Roofline roof = roofline(one, gpu_named("A100 SXM"));
    EXPECT_EQ(roof.highest().part, "instructions");
    EXPECT_DOUBLE_EQ(roof.highest().seconds, 1000 / 1.41e9);
}

TEST(Roofline, NamesSharedMemory) {
    KernelCounts one = kernel();
    one.shared_loads.moved = 108 * 700;
    one.shared_stores.moved = 108 * 300;
    const Roofline roof = roofline(one, gpu_named("A100 SXM"));
    EXPECT_EQ(roof.highest().part, "shared memory");
    EXPECT_DOUBLE_EQ(roof.highest().seconds, 1000 / 1.41e9);
}

TEST(Roofline, NamesTheSecondCache) {
    KernelCounts one = kernel();
    one.global_loads.second_cache = 1'500'000;
    one.global_stores.second_cache = 500'000;
    one.global_loads.distinct = 100'000;
    const Roofline roof = roofline(one, gpu_named("A100 SXM"));
    EXPECT_EQ(roof.highest().part, "second cache");
    EXPECT_DOUBLE_EQ(roof.highest().seconds, 64e6 / 5.41e12);
}

TEST(Roofline, NamesMemoryWhichMovesEachSectorOnce) {
    KernelCounts one = kernel();
    one.global_loads.moved = 1'000'000'000;
    one.global_loads.distinct = 1'500'000;
    one.global_stores.distinct = 500'000;
    const Roofline roof = roofline(one, gpu_named("A100 SXM"));
    EXPECT_EQ(roof.highest().part, "memory");
    EXPECT_DOUBLE_EQ(roof.highest().seconds, 64e6 / 2.039e12);
}

TEST(Roofline, FewBlocksTakeAsLongAsMore) {
    KernelCounts one = kernel();
    one.instructions.threads["multiply-add"] = 64 * 1000;
    one.blocks = 1;
    EXPECT_DOUBLE_EQ(roofline(one, gpu_named("A100 SXM")).highest().seconds, 1000 / 1.41e9);
    // Two launches of one block each are one after the other.
    one.launches = one.blocks = 2;
    EXPECT_DOUBLE_EQ(roofline(one, gpu_named("A100 SXM")).highest().seconds, 1000 / 1.41e9);
}

TEST(Filled, IsWhatTheLastBlocksLeave) {
    KernelCounts one = kernel();
    EXPECT_DOUBLE_EQ(filled(one, gpu_named("A100 SXM")), 1);
    one.blocks = 50;
    EXPECT_DOUBLE_EQ(filled(one, gpu_named("A100 SXM")), 1) << "others do not work";
    one.blocks = 135;
    EXPECT_DOUBLE_EQ(filled(one, gpu_named("A100 SXM")), 135. / 216);
    one.blocks *= one.launches = 3;
    EXPECT_DOUBLE_EQ(filled(one, gpu_named("A100 SXM")), 135. / 216);
}

// The products of a multiprocessor's rates that data sheets tell in TFLOPS.
TEST(Gpus, HaveThePublishedPeaks) {
    const auto tera = [](const std::string &name) {
        const Gpu &gpu = gpu_named(name);
        return 2 * gpu.multiprocessors * gpu.clock * gpu.multiply_adds / 1e12;
    };
    EXPECT_NEAR(tera("H100 SXM"), 67, 0.5);
    EXPECT_NEAR(tera("A100 SXM"), 19.5, 0.05);
    EXPECT_NEAR(tera("RTX 4090"), 82.6, 0.05);
}

void expect_occupancy(const Occupancy &occupancy, int blocks, double share,
                      const std::string &limit) {
    EXPECT_EQ(occupancy.blocks, blocks);
    EXPECT_DOUBLE_EQ(occupancy.share, share);
    EXPECT_EQ(occupancy.limit, limit);
}

// As NVIDIA's occupancy calculator has them.
TEST(Occupancy, IsOfWhatIsUsedUpFirst) {
    const Gpu &a100 = gpu_named("A100 SXM"), &ada = gpu_named("RTX 4090");
    expect_occupancy(occupancy(a100, 256, 32, 0), 8, 1, "threads");
    expect_occupancy(occupancy(a100, 32, 32, 0), 32, 0.5, "blocks");
    expect_occupancy(occupancy(a100, 256, 128, 0), 2, 0.25, "registers");
    expect_occupancy(occupancy(a100, 256, 65, 0), 3, 0.375, "registers");
    expect_occupancy(occupancy(a100, 256, 32, 48 * 1024), 3, 0.375, "shared memory");
    expect_occupancy(occupancy(a100, 256, -1, 0), 8, 1, "threads");
    expect_occupancy(occupancy(ada, 256, 32, 0), 6, 1, "threads");
    expect_occupancy(occupancy(ada, 256, 32, 48 * 1024), 2, 16. / 48, "shared memory");
    expect_occupancy(occupancy(a100, 1024, 255, 0), 0, 0, "registers");
}

}  // namespace

}  // namespace hk::counts
