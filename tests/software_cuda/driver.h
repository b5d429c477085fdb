#pragma once
// What tests of the software device's driver share.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "software_cuda/control.h"
#include "software_cuda/driver/functions.h"
#include "software_cuda/driver/status.h"

namespace software_cuda::tests {

inline const SoftwareCudaControl &control() {
    return *software_cuda_control(SOFTWARE_CUDA_CONTROL_VERSION);
}

inline std::string last_line() {
    std::string text(control().report(nullptr, 0), ' ');
    control().report(text.data(), text.size() + 1);
    return text;
}

// Sets and stores one value a thread; reads where it is told to; adds to what another kernel left.
inline constexpr char kModule[] = R"(.version 7.0
.target sm_60
.address_size 64

.visible .entry fill(.param .u64 fill_out, .param .u32 fill_value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [fill_out];
    ld.param.u32 %r1, [fill_value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}

.visible .entry append(.param .u64 append_out, .param .u32 append_digit)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [append_out];
    ld.param.u32 %r1, [append_digit];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    mul.lo.s32 %r3, %r2, 10;
    add.s32 %r4, %r3, %r1;
    st.global.u32 [%rd2], %r4;
    ret;
}

.visible .entry nothing()
{
    ret;
}
)";

// A context of device 0, current, with the module in it.
class DriverTest : public testing::Test {
protected:
    // Two devices of two chips, whatever the environment says.
    static void SetUpTestSuite() {
        static const bool first = [] {
            for (const char *name : {"CHECK", "STRICT", "COUNT", "MEMORY"})
                unsetenv((std::string("SOFTWARE_CUDA_") + name).c_str());
            return control().set("DEVICES", "2") == 0 && control().set("CHIP", "sm_80,sm_90") == 0;
        }();
        ASSERT_TRUE(first);
    }

    void SetUp() override {
        ASSERT_EQ(control().set("REPORT", "off"), 0);
        ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
        control().clear_faults();
        control().clear();
        ASSERT_EQ(cuCtxCreate_v2(&context_, 0, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuModuleLoadData(&module_, kModule), CUDA_SUCCESS) << last_line();
    }

    void TearDown() override {
        control().clear_faults();
        control().hold(0, 0);
        control().set("ORDER", "ascending");
        control().set("RUN", "on");
        control().set("READ_ONLY", "off");
        control().set("STEPS", "1000000000");
        for (const char *name : {"EDIT", "PTX"}) control().set(name, "");
        EXPECT_EQ(cuCtxDestroy_v2(context_), CUDA_SUCCESS);
        CUcontext current = this;
        EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
        EXPECT_EQ(current, nullptr);
        while (cuCtxPopCurrent_v2(nullptr) == CUDA_SUCCESS) {  // so that it is one test that fails
        }
        EXPECT_EQ(control().alive(SOFTWARE_CUDA_ALLOCATIONS), 0u);
        EXPECT_EQ(control().alive(SOFTWARE_CUDA_STREAMS), 0u);
        EXPECT_EQ(control().alive(SOFTWARE_CUDA_EVENTS), 0u);
        EXPECT_EQ(control().alive(SOFTWARE_CUDA_MODULES), 0u);
    }

    CUfunction function(const char *name) {
        CUfunction found = nullptr;
        EXPECT_EQ(cuModuleGetFunction(&found, module_, name), CUDA_SUCCESS);
        return found;
    }

    static CUdeviceptr allocate(size_t bytes) {
        CUdeviceptr address = 0;
        EXPECT_EQ(cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
        return address;
    }

    static CUstream stream(unsigned flags = 0) {
        CUstream made = nullptr;
        EXPECT_EQ(cuStreamCreate(&made, flags), CUDA_SUCCESS);
        return made;
    }

    static CUevent event(unsigned flags = 0) {
        CUevent made = nullptr;
        EXPECT_EQ(cuEventCreate(&made, flags), CUDA_SUCCESS);
        return made;
    }

    // One block of `threads` threads, with an address and a number.
    CUresult run(const char *name, CUdeviceptr out, unsigned value, CUstream stream = nullptr,
                 unsigned threads = 1) {
        void *parameters[] = {&out, &value};
        return cuLaunchKernel(function(name), 1, 1, 1, threads, 1, 1, 0, stream, parameters,
                              nullptr);
    }

    static std::vector<uint32_t> words(CUdeviceptr address, size_t count) {
        std::vector<uint32_t> values(count);
        EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), address, count * 4), CUDA_SUCCESS);
        return values;
    }

    CUcontext context_ = nullptr;
    CUmodule module_ = nullptr;
};

}  // namespace software_cuda::tests
