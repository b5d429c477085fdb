// Streams, events and asynchrony of the software device, and the control of it.

#include <atomic>
#include <set>
#include <thread>

#include "tests/software_cuda/driver.h"

namespace software_cuda::tests {
namespace {

using Streams = DriverTest;
using Control = DriverTest;

// Kernels append digits to one number, so that it tells in which order they ran.
class Order : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        if (HasFatalFailure()) return;
        number_ = allocate(4);
        ASSERT_EQ(cuMemsetD32_v2(number_, 0, 1), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        control().hold(0, 1);
    }
    void TearDown() override {
        cuMemFree_v2(number_);
        DriverTest::TearDown();
    }

    void append(unsigned digit, CUstream on) {
        EXPECT_EQ(run("append", number_, digit, on), CUDA_SUCCESS);
    }

    uint32_t ran() {
        control().hold(0, 0);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        return words(number_, 1)[0];
    }

    CUdeviceptr number_ = 0;
};

TEST_F(Order, OfOneStream) {
    const CUstream a = stream();
    for (unsigned digit = 1; digit <= 5; digit++) append(digit, a);
    control().set("ORDER", "descending");
    EXPECT_EQ(ran(), 12345u);
    cuStreamDestroy_v2(a);
}

// Nothing orders two streams, and a missing event shows.
TEST_F(Order, OfTwoStreamsIsAnyOrder) {
    const CUstream a = stream(), b = stream();
    append(1, a);
    append(2, b);
    control().set("ORDER", "descending");
    EXPECT_EQ(ran(), 21u);
    cuStreamDestroy_v2(a);
    cuStreamDestroy_v2(b);
}

TEST_F(Order, EventsOrderStreams) {
    const CUstream a = stream(), b = stream();
    const CUevent e = event();
    append(1, a);
    EXPECT_EQ(cuEventRecord(e, a), CUDA_SUCCESS);
    append(3, a);
    EXPECT_EQ(cuStreamWaitEvent(b, e, 0), CUDA_SUCCESS);
    append(2, b);
    EXPECT_EQ(cuEventRecord(e, b), CUDA_SUCCESS) << "what waits for the event waits for the first";
    control().set("ORDER", "descending");
    EXPECT_EQ(ran(), 123u) << "2 first without the event";
    cuEventDestroy_v2(e);
    cuStreamDestroy_v2(a);
    cuStreamDestroy_v2(b);
}

TEST_F(Order, TheDefaultStreamIsOrderedWithAllButNonBlockingOnes) {
    const CUstream a = stream(), free = stream(1);
    append(1, a);
    append(2, nullptr);
    append(3, a);
    append(4, reinterpret_cast<CUstream>(1));
    append(5, reinterpret_cast<CUstream>(2));
    append(6, free);
    control().set("ORDER", "descending");
    EXPECT_EQ(ran(), 612345u);
    cuStreamDestroy_v2(a);
    cuStreamDestroy_v2(free);
}

TEST_F(Order, RandomOrdersDiffer) {
    const CUstream streams[] = {stream(), stream(), stream(), stream()};
    std::set<uint32_t> seen;
    for (const char *order : {"random:1", "random:2", "random:3", "random:4", "random:5"}) {
        control().hold(0, 1);
        ASSERT_EQ(control().set("ORDER", order), 0);
        EXPECT_EQ(cuMemsetD32_v2(number_, 0, 1), CUDA_SUCCESS);
        for (unsigned i = 0; i < 4; i++) append(i + 1, streams[i]);
        seen.insert(ran());
    }
    EXPECT_GE(seen.size(), 2u);
    for (const CUstream s : streams) cuStreamDestroy_v2(s);
}

TEST_F(Order, ADestroyedStreamDoesItsWork) {
    const CUstream a = stream();
    append(7, a);
    EXPECT_EQ(cuStreamDestroy_v2(a), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(ran(), 7u);
}

TEST_F(Order, AHostFunctionIsATask) {
    static std::atomic<int> called;
    called = 0;
    append(1, nullptr);
    int three = 3;
    EXPECT_EQ(cuLaunchHostFunc(
                  nullptr, [](void *by) { called += *static_cast<int *>(by); }, &three),
              CUDA_SUCCESS);
    EXPECT_EQ(cuLaunchHostFunc(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(called, 0);
    EXPECT_EQ(ran(), 1u);
    EXPECT_EQ(called, 3);
}

TEST_F(Streams, WorkIsNotDoneWhenTheCallReturns) {
    const CUdeviceptr out = allocate(4);
    const CUevent e = event();
    EXPECT_EQ(cuEventQuery(e), CUDA_SUCCESS) << "never recorded";
    control().hold(0, 1);
    EXPECT_EQ(run("fill", out, 9), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecord(e, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(e), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    std::atomic<bool> freed = false;
    std::thread other([&] {
        EXPECT_EQ(cuCtxPushCurrent_v2(context_), CUDA_SUCCESS);
        EXPECT_EQ(cuEventSynchronize(e), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(out), CUDA_SUCCESS);
        freed = true;
        EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(freed);
    control().hold(0, 0);
    other.join();
    EXPECT_EQ(cuEventQuery(e), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_SUCCESS);
    cuEventDestroy_v2(e);
}

TEST_F(Streams, EventsHaveTimes) {
    const CUevent from = event(), to = event(), untimed = event(2);
    float milliseconds = -1;
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, from, to), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventRecord(from, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(from), CUDA_SUCCESS);
    control().hold(0, 1);
    EXPECT_EQ(cuEventRecord(to, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, from, to), CUDA_ERROR_NOT_READY);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    control().hold(0, 0);
    EXPECT_EQ(cuEventSynchronize(to), CUDA_SUCCESS);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, from, to), CUDA_SUCCESS);
    EXPECT_GT(milliseconds, 1);
    EXPECT_EQ(cuEventRecord(untimed, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, from, untimed), CUDA_ERROR_INVALID_HANDLE);
    for (const CUevent e : {from, to, untimed}) cuEventDestroy_v2(e);
}

TEST_F(Streams, Properties) {
    const CUstream a = stream(1);
    unsigned flags = 7;
    CUcontext owner = nullptr;
    EXPECT_EQ(cuStreamGetFlags(a, &flags), CUDA_SUCCESS);
    EXPECT_EQ(flags, 1u);
    EXPECT_EQ(cuStreamGetCtx(a, &owner), CUDA_SUCCESS);
    EXPECT_EQ(owner, context_);
    CUstream b;
    int priority = 5;
    EXPECT_EQ(cuStreamCreateWithPriority(&b, 0, -10), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamGetPriority(b, &priority), CUDA_SUCCESS);
    EXPECT_EQ(priority, -1);
    CUstream none;
    EXPECT_EQ(cuStreamCreate(&none, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuStreamWaitEvent(a, event(), 9), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuEventCreate(&none, 8), CUDA_ERROR_INVALID_VALUE);
}

// Memory that a stream has not freed yet is still there for its work.
TEST_F(Streams, MemoryOfAStream) {
    CUdeviceptr out;
    ASSERT_EQ(cuMemAllocAsync(&out, 4, nullptr), CUDA_SUCCESS);
    control().hold(0, 1);
    EXPECT_EQ(run("fill", out, 3), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeAsync(out, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeAsync(out, nullptr), CUDA_ERROR_INVALID_VALUE);
    control().hold(0, 0);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(Control, Faults) {
    control().fail("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 1, 2);
    CUdeviceptr address;
    const CUresult expected[] = {CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY,
                                 CUDA_SUCCESS};
    for (const CUresult status : expected) {
        EXPECT_EQ(cuMemAlloc_v2(&address, 4), status);
        if (status == CUDA_SUCCESS) cuMemFree_v2(address);
    }
    EXPECT_EQ(control().calls("cuMemAlloc"), 4u);
    EXPECT_EQ(control().calls("cuMemFree"), 2u);
    EXPECT_EQ(control().calls("cuNothing"), 0u);
    control().fail("cuMemAlloc", CUDA_ERROR_LAUNCH_FAILED, 0, UINT64_MAX);
    EXPECT_EQ(cuMemAlloc_v2(&address, 4), CUDA_ERROR_LAUNCH_FAILED);
    control().clear_faults();
    control().clear();
    EXPECT_EQ(control().calls("cuMemAlloc"), 0u);
    cuMemFree_v2(allocate(4));
}

TEST_F(Control, OperationsAreNoted) {
    const CUdeviceptr out = allocate(4);
    const CUstream a = stream();
    const CUevent e = event();
    control().record(1);
    EXPECT_EQ(run("fill", out, 1, a, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecord(e, a), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(nullptr, e, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
    control().record(0);
    EXPECT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
    SoftwareCudaOperation operations[5];
    ASSERT_EQ(control().operations(operations, 5), 4u);
    EXPECT_STREQ(operations[0].function, "cuLaunchKernel");
    EXPECT_STREQ(operations[0].entry, "fill");
    EXPECT_EQ(operations[0].stream, a);
    EXPECT_EQ(operations[0].context, context_);
    EXPECT_EQ(operations[0].block[0], 1u);
    EXPECT_STREQ(operations[1].function, "cuEventRecord");
    EXPECT_EQ(operations[1].event, e);
    EXPECT_STREQ(operations[2].function, "cuStreamWaitEvent");
    EXPECT_EQ(operations[2].stream, nullptr);
    EXPECT_STREQ(operations[3].function, "cuStreamSynchronize");
    cuMemFree_v2(out);
}

TEST_F(Control, Settings) {
    EXPECT_EQ(control().set("SPEED", "1"), 1);
    EXPECT_EQ(last_line(), "there is no setting SPEED");
    EXPECT_EQ(control().set("CHECK", "some"), 1);
    EXPECT_EQ(last_line(), "SOFTWARE_CUDA_CHECK=some is not one of: none, memory, all");
    EXPECT_EQ(control().set("DEVICES", "3"), 1);
    EXPECT_EQ(last_line(), "DEVICES can't be set after cuInit");
    EXPECT_EQ(software_cuda_control(0), nullptr);
}

TEST_F(Control, LaunchesThatDoNotRun) {
    const CUdeviceptr out = allocate(4);
    EXPECT_EQ(cuMemsetD8_v2(out, 0, 4), CUDA_SUCCESS);
    control().set("RUN", "off");
    EXPECT_EQ(run("fill", out, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuLaunchKernel(function("fill"), 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(words(out, 1)[0], 0u);
    cuMemFree_v2(out);
}

TEST_F(Control, SeveralThreadsAtOnce) {
    const CUdeviceptr out = allocate(4000);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; t++) {
        threads.emplace_back([&, t] {
            EXPECT_EQ(cuCtxPushCurrent_v2(context_), CUDA_SUCCESS);
            const CUstream mine = stream();
            for (unsigned i = 0; i < 50; i++) {
                EXPECT_EQ(run("fill", out + 1000 * t, i, mine, 250), CUDA_SUCCESS);
                const CUdeviceptr more = allocate(100);
                EXPECT_EQ(cuStreamSynchronize(mine), CUDA_SUCCESS);
                EXPECT_EQ(cuMemFree_v2(more), CUDA_SUCCESS);
            }
            EXPECT_EQ(cuStreamDestroy_v2(mine), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(words(out, 1000), std::vector<uint32_t>(1000, 49));
    cuMemFree_v2(out);
}

}  // namespace
}  // namespace software_cuda::tests
