// Halide's hooks as Halide's runtime calls them.

#include <algorithm>
#include <mutex>
#include <numeric>
#include <thread>

#include "HalideRuntime.h"
#include "HalideRuntimeOpenCL.h"
#include "call_context.h"
#include "expect_error.h"
#include "kernel_call.h"
#include "memory/pool.h"

extern "C" {
int halide_acquire_cl_context(void *, void **, void **, bool);
int halide_release_cl_context(void *);
}

namespace hk::detail {
namespace {

TEST(Hooks, ErrorsReachTheCall) {
    CallContext context;
    halide_error(&context, "first\n");
    halide_error(&context, "second");
    EXPECT_EQ(context.message(), "first");
}

// Through a function of Halide's own, so that the hook is seen to have replaced the weak one.
TEST(Hooks, HalideReportsThroughTheHook) {
    CallContext context;
    EXPECT_EQ(halide_error_bad_dimensions(&context, "buffer", 3, 4),
              halide_error_code_bad_dimensions);
    EXPECT_NE(context.message().find("buffer"), std::string_view::npos);
}

TEST(Hooks, WithoutACallMessagesGoToStderrAndNothingAborts) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(halide_error_out_of_memory(nullptr), halide_error_code_out_of_memory);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("Error: "), std::string::npos);
}

TEST(Hooks, LongMessagesAreCut) {
    CallContext context;
    halide_error(&context, std::string(10000, 'x').c_str());
    EXPECT_EQ(context.message(), std::string(sizeof context.buffer, 'x'));
}

TEST(Hooks, OneOfManyThreadsReports) {
    CallContext context;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) {
        threads.emplace_back(
            [&, i] { context.report(std::string(100, static_cast<char>('a' + i))); });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(context.message(), std::string(100, context.message()[0]));
}

struct Tasks {
    std::mutex mutex;
    std::vector<int> ran;
    std::thread::id thread;
    int fails = -1;

    static int run(void *, int index, uint8_t *closure) {
        Tasks &tasks = *reinterpret_cast<Tasks *>(closure);
        const std::lock_guard lock(tasks.mutex);
        tasks.ran.push_back(index);
        tasks.thread = std::this_thread::get_id();
        return index == tasks.fails ? halide_error_code_out_of_memory : 0;
    }
    int run_all(int threads, int first, int count) {
        const int before = halide_set_num_threads(threads);
        const int status =
            halide_do_par_for(nullptr, run, first, count, reinterpret_cast<uint8_t *>(this));
        halide_set_num_threads(before);
        return status;
    }
};

TEST(Hooks, OneThreadRunsTasksInOrderUntilOneFails) {
    Tasks all, some;
    EXPECT_EQ(all.run_all(1, 5, 4), 0);
    EXPECT_EQ(all.ran, (std::vector<int>{5, 6, 7, 8}));
    EXPECT_EQ(all.thread, std::this_thread::get_id());
    some.fails = 6;
    EXPECT_EQ(some.run_all(1, 5, 4), halide_error_code_out_of_memory);
    EXPECT_EQ(some.ran, (std::vector<int>{5, 6}));
}

TEST(Hooks, SeveralThreadsRunEachTaskOnce) {
    Tasks many, one;
    EXPECT_EQ(many.run_all(3, 2, 1000), 0);
    std::sort(many.ran.begin(), many.ran.end());
    std::vector<int> each(1000);
    std::iota(each.begin(), each.end(), 2);
    EXPECT_EQ(many.ran, each);
    EXPECT_EQ(one.run_all(3, 7, 1), 0);
    EXPECT_EQ(one.ran, std::vector<int>{7});
    EXPECT_EQ(one.thread, std::this_thread::get_id());
}

TEST(Hooks, MemoryComesFromThePool) {
    const MemoryStatistics before = host_pool().statistics();
    CallContext call(Device::cpu());
    call.label = "some kernel";
    void *memory = halide_malloc(&call, 1000);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % SizeClass::kUnit, 0u);
    EXPECT_EQ(host_pool().statistics().blocks, before.blocks + 1);
    bool found = false;
    host_pool().each_in_use([&](const Block &block) { found |= block.label == call.label; });
    EXPECT_TRUE(found);
    halide_free(nullptr, memory);
    halide_free(nullptr, nullptr);
    EXPECT_EQ(host_pool().statistics().in_use, before.in_use);
}

TEST(Hooks, ExhaustedMemoryIsToldToTheCall) {
    CallContext call(Device::cpu());
    EXPECT_EQ(halide_malloc(&call, SIZE_MAX), nullptr);
    EXPECT_NE(call.message().find("cpu: no memory left: asked for 18446744073709551615 bytes"),
              std::string::npos)
        << call.message();
}

TEST(Hooks, OpenClContextsAreOneADevice) {
    void *context = nullptr, *queue = nullptr, *again = nullptr;
    ASSERT_EQ(halide_acquire_cl_context(nullptr, &context, &queue, true), 0);
    halide_release_cl_context(nullptr);
    CallContext first(Device::opencl(0));
    ASSERT_EQ(halide_acquire_cl_context(&first, &again, &queue, true), 0);
    EXPECT_EQ(again, context);
    first.stream = {&first, &queue};
    ASSERT_EQ(halide_acquire_cl_context(&first, &again, &queue, true), 0);
    EXPECT_EQ(again, &first);
    CallContext missing(Device::opencl(99));
    EXPECT_NE(halide_acquire_cl_context(&missing, &again, &queue, true), 0);
    EXPECT_FALSE(missing.message().empty());
}

TEST(Hooks, DirectCallersOpenTheFirstDevice) {
    int major = 0, minor = 0;
    const halide_device_interface_t *opencl = halide_opencl_device_interface();
    ASSERT_EQ(opencl->compute_capability(nullptr, &major, &minor), 0);
    EXPECT_GE(major, 1);
}

template<typename E>
void expect_failure(int status, const char *message, const char *part) {
    KernelInfo kernel{};
    kernel.name = "some_kernel";
    const Device device = Device::opencl(0);
    EXPECT_ERROR(E, part, throw_failure("conv2d", kernel, device, status, message));
    EXPECT_ERROR(E, "conv2d: kernel some_kernel on opencl:0",
                 throw_failure("conv2d", kernel, device, status, message));
}

TEST(Failures, BecomeExceptions) {
    expect_failure<OutOfMemory>(halide_error_code_out_of_memory, "Out of memory", "Out of memory");
    expect_failure<OutOfMemory>(halide_error_code_device_malloc_failed,
                                "CUDA error: CUDA_ERROR_OUT_OF_MEMORY cuMemAlloc failed",
                                "cuMemAlloc");
    expect_failure<OutOfMemory>(halide_error_code_gpu_device_error,
                                "OpenCL error: CL_OUT_OF_RESOURCES clEnqueueNDRangeKernel failed",
                                "CL_OUT_OF_RESOURCES");
    // What a hook caught.
    expect_failure<OutOfMemory>(halide_error_code_device_malloc_failed, "std::bad_alloc",
                                "std::bad_alloc");
    expect_failure<DeviceError>(halide_error_code_generic_error,
                                "CUDA: cuModuleLoadData failed: CUDA_ERROR_NO_BINARY_FOR_GPU",
                                "the library's code does not load on");
    expect_failure<DeviceError>(halide_error_code_generic_error,
                                "CL: clBuildProgram failed: CL_BUILD_PROGRAM_FAILURE",
                                "clBuildProgram");
    expect_failure<DeviceError>(halide_error_code_gpu_device_error,
                                "CUDA error: CUDA_ERROR_LAUNCH_FAILED cuLaunchKernel failed",
                                "LAUNCH_FAILED");
    expect_failure<KernelFailure>(halide_error_code_access_out_of_bounds,
                                  "Input buffer input is accessed at 9", "accessed at 9");
    expect_failure<KernelFailure>(-1234, "", "status -1234");
}

}  // namespace
}  // namespace hk::detail
