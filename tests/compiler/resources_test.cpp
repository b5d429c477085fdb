#include "compiler/report.h"

#include <gtest/gtest.h>

namespace {

using namespace Halide;
using namespace hk::compiler;

Resources kernel_named(const std::string &name) {
    Resources kernel;
    kernel.name = name;
    return kernel;
}

// 32 x 8 threads that share 32 x 8 floats.
Module staged_copy() {
    Func copy("copy"), out("out");
    ImageParam in(Float(32), 2, "in");
    Var x("x"), y("y"), xi("xi"), yi("yi");
    copy(x, y) = in(x, y);
    out(x, y) = copy(x, y) + 1;
    out.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::RoundUp);
    copy.compute_at(out, x).store_in(MemoryType::GPUShared).gpu_threads(x, y);
    return out.compile_to_module({in}, "staged_copy",
                                 Target("host-cuda-cuda_capability_80-no_runtime"));
}

TEST(Resources, OfALaunch) {
    const std::vector<Resources> kernels = launches(staged_copy());
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].threads, 256);
    EXPECT_EQ(kernels[0].shared_dynamic, 1024);
    EXPECT_EQ(kernels[0].registers, -1);
}

const char report_80[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_80'\n"
    "ptxas info    : Function properties for first\n"
    "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 1 barriers, 512 bytes smem, 557 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'second' for 'sm_80'\n"
    "ptxas info    : Function properties for second\n"
    "    0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 255 registers, 364 bytes cmem[0]\n";
const char report_90[] =
    "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
    "ptxas info    : Function properties for first\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 48 registers, used 1 barriers\n";

TEST(Resources, AreTheLargestOverChips) {
    std::vector<Resources> kernels = {kernel_named("first"), kernel_named("second")};
    add_ptxas_report(report_80, kernels);
    add_ptxas_report(report_90, kernels);
    EXPECT_EQ(kernels[0].registers, 48);
    EXPECT_EQ(kernels[0].stack_bytes, 16);
    EXPECT_EQ(kernels[0].spill_bytes, 0);
    EXPECT_EQ(kernels[0].shared_static, 512);
    EXPECT_EQ(kernels[1].registers, 255);
    EXPECT_EQ(kernels[1].spill_bytes, 12);
    EXPECT_EQ(kernels[1].shared_static, 0);

    const Resources whole = largest("both", kernels);
    EXPECT_EQ(whole.registers, 255);
    EXPECT_EQ(whole.stack_bytes, 16);
    EXPECT_EQ(whole.threads, -1);
}

void expect_over_budget(const Resources &kernel, const Budget &allowed,
                        const std::string &message) {
    EXPECT_NO_THROW(check("function", {kernel}, allowed));
    try {
        check("function", {kernel}, Budget{});
        ADD_FAILURE() << "no error: " << message;
    } catch (const CompileError &error) {
        EXPECT_EQ(std::string(error.what()).rfind("function: kernel loop " + message, 0), 0u)
            << error.what();
    }
}

TEST(Resources, KeepTheStatedFigures) {
    Resources kernel = kernel_named("loop");
    const Budget budget{.shared_bytes = 4096, .registers = 64};
    EXPECT_NO_THROW(check("function", {kernel}, budget));
    kernel.shared_static = 96;
    kernel.shared_dynamic = 4000;
    kernel.registers = 64;
    EXPECT_NO_THROW(check("function", {kernel}, budget));
    const auto message = [&] {
        try {
            check("function", {kernel_named("other"), kernel}, budget);
        } catch (const CompileError &error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    kernel.registers = 65;
    EXPECT_EQ(message(), "function: kernel loop uses 65 registers a thread; its budget is 64");
    kernel.shared_static = 97;
    EXPECT_EQ(message(),
              "function: kernel loop uses 4097 bytes of shared memory a block; its budget is 4096");
    EXPECT_NO_THROW(check("function", {kernel}, Budget{}));
}

TEST(Resources, HaveABudget) {
    Resources kernel = kernel_named("loop");
    EXPECT_NO_THROW(check("function", {kernel}, Budget{}));
    kernel.stack_bytes = 64;
    expect_over_budget(kernel, Budget{.allow_stack = true}, "has a stack frame of 64 bytes");
    kernel.stack_bytes = 0;
    kernel.spill_bytes = 8;
    expect_over_budget(kernel, Budget{.allow_spills = true}, "spills 8 bytes");
    kernel.spill_bytes = 0;
    kernel.shared_dynamic = Resources::dynamic;
    expect_over_budget(kernel, Budget{.allow_dynamic_shared = true},
                       "asks for a number of shared bytes");
    EXPECT_EQ(largest("function", {kernel}).shared_dynamic, -1);
    EXPECT_NE(to_json({"function", {kernel}, {}}).find("\"shared_dynamic\": \"dynamic\""),
              std::string::npos);
}

}  // namespace
