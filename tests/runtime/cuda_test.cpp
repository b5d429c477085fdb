// CUDA's host side, ours and Halide's, on the software device's driver.

#include <cstdio>
#include <cstdlib>

#include "HalideRuntimeCuda.h"
#include "call_context.h"
#include "counted.h"
#include "cuda_backend.h"
#include "expect_error.h"
#include "hk/tensor.h"
#include "software_driver.h"
#include "storage.h"
#include "tests/support/environment.h"

namespace hk {
namespace {

using detail::CallContext;
using tests::driver;
using tests::kCuda;

class Cuda : public ::testing::Test {
protected:
    void SetUp() override { tests::begin_driver_test(); }
    void TearDown() override {
        driver().clear_faults();
        EXPECT_FALSE(tests::has_current_context());
    }

    // What a compiled kernel does to run on a device.
    int launch(CallContext *context, void **state, int shared_bytes, int grid_y = 5,
               int block_y = 2) {
        const char image[] =
            ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry entry() { ret; }\n";
        int status = halide_cuda_initialize_kernels(context, state, image, sizeof image);
        if (status) return status;
        size_t sizes[] = {0};
        void *arguments[] = {nullptr};
        int8_t buffers[] = {0};
        status = halide_cuda_run(context, *state, "entry", 4, grid_y, 6, 32, block_y, 1,
                                 shared_bytes, sizes, arguments, buffers);
        halide_cuda_finalize_kernels(context, *state);
        return status;
    }
};

TEST_F(Cuda, Devices) {
    EXPECT_TRUE(kCuda.available());
    EXPECT_FALSE(Device::cuda(3).available());
    EXPECT_ERROR(DeviceError, "cuda:3 is not there: there are 3 of this kind",
                 Device::cuda(3).limits());
    EXPECT_EQ(Device::cuda(0).limits().shared_bytes_opt_in, 49152);
    const DeviceLimits limits = kCuda.limits();
    EXPECT_EQ(limits.shared_bytes, 49152);
    EXPECT_EQ(limits.shared_bytes_opt_in, 232448);
    EXPECT_EQ(limits.threads, 1024);
    EXPECT_EQ(limits.registers, 65536);
    EXPECT_EQ(limits.compute_capability, 90);
    EXPECT_EQ(kCuda.description(), "software sm_90");
}

TEST_F(Cuda, SharedLimitLowersBothFigures) {
    {
        const test::Environment limit("HK_SHARED_LIMIT", "16384");
        EXPECT_EQ(kCuda.limits().shared_bytes, 16384);
        EXPECT_EQ(kCuda.limits().shared_bytes_opt_in, 16384);
    }
    const test::Environment limit("HK_SHARED_LIMIT", "101376");
    EXPECT_EQ(kCuda.limits().shared_bytes, 49152);
    EXPECT_EQ(kCuda.limits().shared_bytes_opt_in, 101376);
}

TEST_F(Cuda, DeviceWithoutAContext) {
    const size_t before = tests::allocated();
    tests::fail("cuDevicePrimaryCtxRetain", 46);
    EXPECT_ERROR(DeviceError, "cuDevicePrimaryCtxRetain failed: CUDA_ERROR_DEVICE_UNAVAILABLE",
                 Tensor({4}, DataType::u8, Device::cuda(2)));
    EXPECT_EQ(tests::allocated(), before);
}

// In a process of its own: the driver is opened once.
TEST(CudaDeathTest, NoDevice) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto told = [](const char *function) {
        tests::fail(function, 100);
        const size_t devices = Device::all().size();
        try {
            Tensor({4}, DataType::u8, Device::cuda());
        } catch (const DeviceError &error) {
            std::fprintf(stderr, "%s; %d", error.what(), static_cast<int>(devices > 0));
            std::_Exit(0);
        }
        std::_Exit(1);
    };
    EXPECT_EXIT(told("cuInit"), ::testing::ExitedWithCode(0),
                "device cuda:0 is not there: cuInit failed: CUDA_ERROR_NO_DEVICE; 1");
    EXPECT_EXIT(told("cuDeviceGetCount"), ::testing::ExitedWithCode(0),
                "device cuda:0 is not there: CUDA's driver finds no device; 1");
}

TEST_F(Cuda, CopiesOfViews) {
    const Tensor host = counted({4, 5, 6});
    const Tensor there = host.to(kCuda);
    EXPECT_EQ(values(there.slice(1, 1, 3)), values(host.slice(1, 1, 3)));
    EXPECT_EQ(values(there.slice(2, 5, 3, -2)), values(host.slice(2, 5, 3, -2)));
    EXPECT_EQ(values(there.permute({2, 1, 0})), values(host.permute({2, 1, 0})));
    EXPECT_EQ(values(there.slice(0, 1, 2).to(Device::cuda(0))), values(host.slice(0, 1, 2)));
    there.slice(2, 1, 2).fill_zero();
    host.slice(2, 1, 2).fill_zero();
    EXPECT_EQ(values(there), values(host));
}

TEST_F(Cuda, MemoryIsFreed) {
    const size_t before = tests::allocated();
    {
        const Tensor tensor({10}, DataType::f32, kCuda);
        const Tensor view = tensor.slice(0, 2, 3);
        EXPECT_EQ(tests::allocated(), before + 1);
    }
    EXPECT_EQ(tests::allocated(), before);
}

TEST_F(Cuda, OutOfMemory) {
    EXPECT_ERROR(OutOfMemory, "cuda:1: no memory left: asked for 2199023255552 bytes",
                 Tensor({1LL << 41}, DataType::u8, kCuda));
    const Tensor small({4}, DataType::u8, kCuda);
    tests::fail("cuMemcpy2DUnaligned", 2);
    EXPECT_ERROR(OutOfMemory, "cuMemcpy2D", small.to(Device::cpu()));
}

TEST_F(Cuda, DriverErrorsNameTheFunction) {
    const Tensor tensor({4}, DataType::u8, kCuda);
    tests::fail("cuMemcpy2DUnaligned", 700);
    EXPECT_ERROR(DeviceError, "cuMemcpy2D failed: CUDA_ERROR_ILLEGAL_ADDRESS",
                 tensor.to(Device::cpu()));
    driver().clear_faults();
    tests::fail("cuStreamSynchronize", 700);
    EXPECT_ERROR(KernelFailure, "cuda:1: CUDA_ERROR_ILLEGAL_ADDRESS", kCuda.synchronize());
    tests::fail("cuStreamSynchronize", 12345);
    EXPECT_ERROR(KernelFailure, "CUDA error 12345", kCuda.synchronize());
}

TEST_F(Cuda, KernelsRunInThePrimaryContext) {
    static void *state = nullptr;
    CallContext context(kCuda);
    ASSERT_EQ(launch(&context, &state, 1024), 0) << context.message();
    ASSERT_EQ(launch(nullptr, &state, 1024), 0);
    ASSERT_EQ(tests::launches().size(), 2u);
    EXPECT_EQ(tests::launches()[0].context, tests::primary_context(kCuda));
    EXPECT_EQ(tests::launches()[1].context, tests::primary_context(Device::cuda(0)));
    EXPECT_EQ(tests::launches()[0].stream, nullptr);
    EXPECT_EQ(tests::launches()[0].grid[2], 6u);
    EXPECT_EQ(tests::launches()[0].block[0], 32u);
}

TEST_F(Cuda, KernelsRunOnTheCallersStream) {
    static void *state = nullptr;
    const tests::Queue queue;
    CallContext context(kCuda, queue.stream());
    ASSERT_EQ(launch(&context, &state, 0), 0);
    EXPECT_EQ(tests::launches()[0].context, queue.context());
    EXPECT_EQ(tests::launches()[0].stream, queue.handle());
}

TEST_F(Cuda, CodeIsLoadedOnceAContext) {
    static void *state = nullptr;
    const tests::Queue queue;
    CallContext own(kCuda), callers(kCuda, {queue.context(), nullptr});
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(launch(&own, &state, 0), 0);
        ASSERT_EQ(launch(&callers, &state, 0), 0);
    }
    EXPECT_EQ(driver().calls("cuModuleLoadDataEx"), 2u);
    EXPECT_EQ(driver().calls("cuModuleUnload"), 0u);
    kCuda.forget(queue.context());
    EXPECT_EQ(driver().calls("cuModuleUnload"), 1u);
    ASSERT_EQ(launch(&callers, &state, 0), 0);
    EXPECT_EQ(driver().calls("cuModuleLoadDataEx"), 3u);
}

TEST_F(Cuda, SharedMemoryBeyond48KiBIsAskedFor) {
    static void *state = nullptr;
    CallContext context(kCuda);
    ASSERT_EQ(launch(&context, &state, 49152), 0);
    EXPECT_EQ(driver().calls("cuFuncSetAttribute"), 0u);
    for (const int bytes : {49153, 232448, 100000}) {
        ASSERT_EQ(launch(&context, &state, bytes), 0) << context.message();
        EXPECT_EQ(tests::launches().back().dynamic_shared_bytes, static_cast<unsigned>(bytes));
    }
    EXPECT_EQ(driver().calls("cuFuncSetAttribute"), 3u);
    tests::fail("cuFuncSetAttribute", 1);
    EXPECT_NE(launch(&context, &state, 200000), 0);
    EXPECT_TRUE(tests::has(std::string(context.message()),
                           "cuda:1 refuses the kernel 200000 bytes of shared memory a block, "
                           "though its limit is 232448"))
        << context.message();
    EXPECT_EQ(tests::launches().size(), 4u);
}

TEST_F(Cuda, SharedMemoryBeyondTheDeviceIsNotLaunched) {
    static void *state = nullptr;
    const auto told = [&](Device device, int bytes) {
        CallContext context(device);
        EXPECT_NE(launch(&context, &state, bytes), 0);
        return std::string(context.message());
    };
    const std::string asks = " bytes of shared memory a block, ";
    EXPECT_EQ(told(kCuda, 232449), "the kernel asks for 232449" + asks + "cuda:1 has 232448");
    EXPECT_EQ(told(Device::cuda(0), 49153),
              "the kernel asks for 49153" + asks + "cuda:0 has 49152");
    {
        const test::Environment limit("HK_SHARED_LIMIT", "16384");
        EXPECT_EQ(told(kCuda, 16385), "the kernel asks for 16385" + asks + "cuda:1 has 16384");
    }
    {
        const test::Environment limit("HK_SHARED_LIMIT", "many");
        EXPECT_TRUE(tests::has(told(kCuda, 16), "HK_SHARED_LIMIT is \"many\""));
    }
    ::testing::internal::CaptureStderr();
    EXPECT_NE(launch(nullptr, &state, 49153), 0);
    EXPECT_TRUE(tests::has(::testing::internal::GetCapturedStderr(), "cuda:0 has 49152"));
    EXPECT_EQ(driver().calls("cuFuncSetAttribute"), 0u);
    EXPECT_EQ(driver().calls("cuLaunchKernel"), 0u);
}

TEST_F(Cuda, FailuresAreReportedToTheCall) {
    static void *state = nullptr;
    CallContext no_code(kCuda);
    tests::fail("cuModuleLoadDataEx", 209);
    EXPECT_NE(launch(&no_code, &state, 0), 0);
    EXPECT_TRUE(tests::has(std::string(no_code.message()), "CUDA_ERROR_NO_BINARY_FOR_GPU"));
    driver().clear_faults();
    CallContext no_launch(kCuda);
    tests::fail("cuLaunchKernel", 719);
    EXPECT_NE(launch(&no_launch, &state, 0), 0);
    EXPECT_TRUE(tests::has(std::string(no_launch.message()), "cuLaunchKernel failed"));
    CallContext missing(Device::cuda(7));
    EXPECT_NE(launch(&missing, &state, 0), 0);
    EXPECT_TRUE(tests::has(std::string(missing.message()), "no primary context"));
}

TEST_F(Cuda, ViewsForKernels) {
    const Tensor tensor = counted({3, 4}).to(kCuda);
    halide_buffer_t whole, part;
    halide_dimension_t whole_dims[2], part_dims[2];
    tensor.halide_view(whole, whole_dims);
    tensor.slice(0, 2, 1).slice(1, 1, 2).halide_view(part, part_dims);
    EXPECT_EQ(part.device, whole.device + 9 * 4);
    EXPECT_EQ(part.device_interface, halide_cuda_device_interface());
    EXPECT_EQ(part.host, nullptr);
    Tensor::release_halide_view(part);
    Tensor::release_halide_view(whole);
    EXPECT_EQ(whole.device, 0u);
}

TEST_F(Cuda, Borrows) {
    const Tensor owner = counted({4}).to(kCuda);
    void *memory = Tensor::Access::storage(owner).memory;
    const Tensor tensor = Tensor::borrow(memory, DataType::f32, {4}, {}, kCuda);
    EXPECT_EQ(values(tensor.slice(0, 3, 1)), values(owner.slice(0, 3, 1)));
    EXPECT_INVALID("f32 needs a multiple of 4",
                   Tensor::borrow(static_cast<char *>(memory) + 2, DataType::f32, {1}, {}, kCuda));
}

}  // namespace
}  // namespace hk
