// A pipeline of three stages of asynchronous copies with one barrier a step, right and wrong.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/software_cuda/wrong_kernel.h"

namespace software_cuda {

namespace {

constexpr uint32_t kPipelineSteps = 8, kPipelineThreads = 64;

// The parts of a step that are in order where the kernel is right.
struct Pipeline {
    std::string wait = "cp.async.wait_group 1;\n", barrier = "bar.sync 0;\n";
    bool copies_early = false;  // before the wait and the barrier
    std::string commit = "cp.async.commit_group;\n";

    // Step k is in the bytes from 256 * (k % 3) on; a thread adds the element of one of the other
    // warp. %r10: k, %r11 and %r12: places of stages to read and to write, %r13: the sum.
    std::string text() const {
        const std::string copy =
            "setp.lt.u32 %p1, %r14, " + std::to_string(kPipelineSteps) +
            ";\n"
            "add.u32 %r15, %r12, %r2;\n"
            "@%p1 cp.async.ca.shared.global [%r15], [%rd3], 4;\n" +
            commit +
            "add.u32 %r14, %r14, 1; add.s64 %rd3, %rd3, 256; add.u32 %r12, %r12, 256;\n"
            "setp.eq.u32 %p2, %r12, 768; selp.b32 %r12, 0, %r12, %p2;\n";
        const std::string before = wait + barrier;
        return "add.s64 %rd3, %rd0, %rd2; xor.b32 %r3, %r2, 128; mov.b32 %r10, 0; mov.b32 %r11, "
               "0;\n"
               "mov.b32 %r12, 512; mov.b32 %r13, 0; mov.b32 %r14, 2;\n"
               "cp.async.ca.shared.global [%r2], [%rd3], 4;\ncp.async.commit_group;\n"
               "cp.async.ca.shared.global [%r2+256], [%rd3+256], 4;\ncp.async.commit_group;\n"
               "add.s64 %rd3, %rd3, 512;\n"
               "next:\n" +
               (copies_early ? copy + before : before + copy) +
               "add.u32 %r16, %r11, %r3; ld.shared.b32 %r17, [%r16]; add.u32 %r13, %r13, %r17;\n"
               "add.u32 %r11, %r11, 256; setp.eq.u32 %p3, %r11, 768; selp.b32 %r11, 0, %r11, "
               "%p3;\n"
               "add.u32 %r10, %r10, 1; setp.lt.u32 %p0, %r10, " +
               std::to_string(kPipelineSteps) +
               ";\n@%p0 bra next;\n"
               "add.s64 %rd4, %rd1, %rd2; st.global.b32 [%rd4], %r13;\n";
    }
};

struct PipelineResult {
    std::set<Finding::Kind> found;
    std::string messages;
    bool right;  // its sums
};

PipelineResult run_pipeline(const Pipeline &pipeline, const Settings &settings) {
    MachineCase c;
    c.settings = settings;
    c.block.x = kPipelineThreads;
    std::vector<uint32_t> input(kPipelineSteps * kPipelineThreads), sums(kPipelineThreads),
        wanted(kPipelineThreads);
    std::iota(input.begin(), input.end(), 100u);
    for (size_t n = 0; n < input.size(); n++) wanted[n % kPipelineThreads ^ 32] += input[n];
    c.p0 = c.memory.allocate(4 * input.size());
    c.p1 = c.memory.allocate(4 * sums.size());
    EXPECT_TRUE(c.memory.write(c.p0, input.data(), 4 * input.size()));
    const Outcome outcome = c.run(pipeline.text());
    EXPECT_EQ(outcome.status, Outcome::kDone);
    EXPECT_TRUE(c.memory.read(sums.data(), c.p1, 4 * sums.size()));
    PipelineResult result{{}, {}, sums == wanted};
    for (const Finding &finding : outcome.findings) {
        result.found.insert(finding.kind);
        result.messages += finding.message + "\n";
    }
    return result;
}

// `first` in each order of threads, and nothing but these.
void expect_in_any_order(const Pipeline &pipeline, Finding::Kind first,
                         std::set<Finding::Kind> kinds) {
    kinds.insert(first);
    for (const Settings &settings : all_settings()) {
        const PipelineResult result = run_pipeline(pipeline, settings);
        EXPECT_TRUE(result.found.contains(first))
            << settings.lanes << " lanes, order " << int(settings.order);
        for (const Finding::Kind kind : result.found)
            EXPECT_TRUE(kinds.contains(kind)) << result.messages;
    }
}

TEST(CopyPipeline, IsRight) {
    for (Settings settings : all_settings()) {
        const PipelineResult result = run_pipeline({}, settings);
        EXPECT_TRUE(result.found.empty()) << result.messages;
        EXPECT_TRUE(result.right);
        settings.check = Check::kNone;
        EXPECT_TRUE(run_pipeline({}, settings).right);
    }
}

TEST(CopyPipeline, WithoutAWait) {
    const Pipeline pipeline{.wait = ""};
    expect_in_any_order(pipeline, Finding::kMissingWait, {});
    EXPECT_FALSE(run_pipeline(pipeline, {.threads = 1}).right);
}

// A thread that is a step ahead has waited, without a barrier for those that read.
TEST(CopyPipeline, WaitsForAGroupTooFew) {
    const Pipeline pipeline{.wait = "cp.async.wait_group 2;\n"};
    expect_in_any_order(pipeline, Finding::kMissingWait, {Finding::kReadAfterWrite});
    EXPECT_FALSE(run_pipeline(pipeline, {.threads = 1}).right);
}

// At the end, where no copies are left, groups without any keep the count of those that follow.
TEST(CopyPipeline, WithoutEmptyGroupsAtTheEnd) {
    const Pipeline pipeline{.commit = "@%p1 cp.async.commit_group;\n"};
    expect_in_any_order(pipeline, Finding::kMissingWait, {});
    EXPECT_FALSE(run_pipeline(pipeline, {.threads = 1}).right);
}

// Threads that have not come to their copies have written nothing; once one race is found, others
// follow from it.
TEST(CopyPipeline, WithoutABarrier) {
    expect_in_any_order({.barrier = ""}, Finding::kReadAfterWrite,
                        {Finding::kMissingWait, Finding::kUninitialized, Finding::kWriteAfterRead,
                         Finding::kWriteAfterWrite});
}

TEST(CopyPipeline, WithTheBarrierBeforeTheWait) {
    expect_in_any_order({.wait = "bar.sync 0;\n", .barrier = "cp.async.wait_group 1;\n"},
                        Finding::kReadAfterWrite, {Finding::kMissingWait});
}

// To the stage that others read a step ago.
TEST(CopyPipeline, CopiesBeforeTheBarrier) {
    expect_in_any_order({.wait = "cp.async.wait_group 2;\n", .copies_early = true},
                        Finding::kWriteAfterRead, {Finding::kMissingWait});
}

}  // namespace

}  // namespace software_cuda
