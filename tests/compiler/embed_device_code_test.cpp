#include "compiler/embed_device_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "compiler/tools.h"
#include "runtime/src/packed.h"
#include "tests/support/folder.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;
using namespace hk::compiler;

Module doubled(const std::string &target) {
    Func out("out");
    ImageParam in(Float(32), 1, "in");
    Var x("x"), xi("xi");
    out(x) = in(x)*2;
    if (Target(target).has_gpu_feature()) out.gpu_tile(x, xi, 64, TailStrategy::GuardWithIf);
    return out.compile_to_module({in}, "doubled", Target(target));
}

const std::string cuda = "host-cuda-cuda_capability_80-no_runtime";

std::string device_code(const Module &module) {
    const Buffer<> code = module.get_device_code_buffer();
    return {static_cast<const char *>(code.data()), code.size_in_bytes()};
}

struct CodeSize : IRVisitor {
    using IRVisitor::visit;
    int64_t found = -1;
    void visit(const Call *op) override {
        if (op->name == "halide_cuda_initialize_kernels")
            found = as_const_int(op->args[2]).value_or(-1);
        IRVisitor::visit(op);
    }
};

int64_t code_size(const Module &module) {
    CodeSize visitor;
    for (const LoweredFunc &function : module.functions()) function.body.accept(&visitor);
    return visitor.found;
}

TEST(EmbedDeviceCode, MakesAFatbin) {
    const CudaTools tools = {HK_TEST_PTXAS, HK_TEST_FATBINARY};
    if (!std::filesystem::exists(tools.ptxas) || !std::filesystem::exists(tools.fatbinary))
        GTEST_SKIP() << "no ptxas";
    const Module module = doubled(cuda);
    std::vector<Resources> kernels = launches(module);
    const Module finished =
        embed_device_code(module, tools, false, hk::test::own_folder().string(), {}, kernels);

    const std::string code = device_code(finished);
    uint32_t magic = 0;
    std::memcpy(&magic, code.data(), sizeof magic);
    EXPECT_EQ(magic, 0xba55ed50u);
    EXPECT_EQ(code_size(finished), static_cast<int64_t>(code.size()));
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_GT(kernels[0].registers, 0);
    EXPECT_EQ(kernels[0].stack_bytes, 0);
    EXPECT_EQ(kernels[0].threads, 64);

    const std::string packed = device_code(
        embed_device_code(module, tools, true, hk::test::own_folder().string(), {}, kernels));
    EXPECT_TRUE(packed.starts_with({hk::detail::kPackedMark, sizeof hk::detail::kPackedMark}));
    EXPECT_LT(packed.size(), code.size() * 3 / 5);
}

TEST(EmbedDeviceCode, KeepsPtxWithoutTheTools) {
    const Module module = doubled(cuda);
    std::vector<Resources> kernels = launches(module);
    testing::internal::CaptureStderr();
    const Module same = embed_device_code(module, CudaTools{}, false, "", {}, kernels);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("CUDA code stays PTX"),
              std::string::npos);
    EXPECT_NE(device_code(same).find(".target sm_80"), std::string::npos);
    EXPECT_EQ(kernels[0].registers, -1);
}

TEST(EmbedDeviceCode, LeavesOtherTargetsAlone) {
    std::vector<Resources> kernels;
    const Module opencl = doubled("host-opencl-no_runtime");
    testing::internal::CaptureStderr();
    EXPECT_EQ(device_code(embed_device_code(opencl, CudaTools{}, false, "", {}, kernels)),
              device_code(opencl));
    EXPECT_LT(device_code(embed_device_code(opencl, CudaTools{}, true, "", {}, kernels)).size(),
              device_code(opencl).size());
    embed_device_code(doubled("host-no_runtime"), CudaTools{}, false, "", {}, kernels);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
