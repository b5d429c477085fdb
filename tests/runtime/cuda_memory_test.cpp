// The pool of a CUDA device, against a stand-in for the driver: who waits for whom.

#include <gtest/gtest.h>

#include "HalideRuntimeCuda.h"
#include "cuda_backend.h"
#include "expect_error.h"
#include "hk/memory.h"
#include "kernel_call.h"
#include "memory/pool.h"
#include "stand_in_driver.h"
#include "storage.h"
#include "tests/support/environment.h"
#include "tests/support/failing_new.h"

namespace hk {
namespace {

using detail::CallContext;
using detail::OperationCall;
using tests::driver;
using tests::EventStep;
using tests::kDevice;

class CudaMemory : public ::testing::Test {
protected:
    void SetUp() override {
        detail::set_cuda_driver(tests::driver_symbol);
        MemoryPool::of(kDevice).set_caching(true);
        MemoryPool::of(kDevice).reset_peaks();
        driver().fail.clear();
        driver().called.clear();
        driver().events.clear();
        driver().busy = true;
        primary_ = own().context;
        for (void *stream : {&a_, &b_}) driver().streams[stream] = primary_;
    }

    void TearDown() override {
        driver().busy = false;
        driver().fail.clear();
        driver().streams.clear();
        MemoryPool::of(kDevice).set_caching(false);
        EXPECT_EQ(driver().allocated, 0u);
        EXPECT_TRUE(driver().current.empty());
        EXPECT_EQ(driver().live_events, 0u);
        EXPECT_EQ(driver().faults, std::vector<std::string>{});
    }

    static Stream own() { return detail::backend(DeviceType::cuda)->own_stream(1); }
    Stream a() { return {primary_, &a_}; }
    Stream b() { return {primary_, &b_}; }

    static void use(const Tensor &tensor, const Stream &stream) {
        const detail::Operand operand[] = {{"tensor", tensor}};
        OperationCall call("test", kDevice, operand, stream);
    }

    static void *memory_of(const Tensor &tensor) { return Tensor::Access::storage(tensor).memory; }

    static Tensor tensor() { return Tensor({1000}, DataType::f32, kDevice); }

    static size_t steps(EventStep::Kind kind, void *stream) {
        size_t count = 0;
        for (const EventStep &step : driver().events) {
            count += step.kind == kind && step.stream == stream;
        }
        return count;
    }

    void *primary_ = nullptr;
    int a_ = 0, b_ = 0;
};

TEST_F(CudaMemory, BlocksShareAPieceAndComeBack) {
    {
        const Tensor x = tensor(), y = tensor();
        EXPECT_EQ(driver().allocated, 1u);
        EXPECT_NE(memory_of(x), memory_of(y));
    }
    const MemoryStatistics now = MemoryPool::of(kDevice).statistics();
    EXPECT_EQ(now.reserved, 2 << 20);
    EXPECT_EQ(now.largest_free, 2 << 20);
    EXPECT_EQ(now.blocks, 0);
    for (int i = 0; i < 100; i++) tensor();
    EXPECT_EQ(driver().called["cuMemAlloc"], 1);
    EXPECT_EQ(driver().called["cuMemFree"], 0);
    MemoryPool::of(kDevice).trim();
    EXPECT_EQ(driver().called["cuMemFree"], 1);
}

// Memory of a tensor that goes while a caller's queue still uses it.
TEST_F(CudaMemory, AnotherQueueWaitsForTheEvent) {
    void *memory;
    {
        const Tensor x = tensor();
        memory = memory_of(x);
        use(x, a());
        ASSERT_EQ(driver().events.size(), 1u);
        EXPECT_EQ(driver().events[0].kind, EventStep::recorded);
        EXPECT_EQ(driver().events[0].stream, &a_);
    }
    const Tensor y = tensor();
    ASSERT_EQ(memory_of(y), memory);
    use(y, b());
    const std::vector<EventStep> &events = driver().events;
    EXPECT_EQ(events[1].kind, EventStep::recorded) << "the library's own queue, marked only now";
    EXPECT_EQ(events[1].stream, nullptr);
    const EventStep waits{EventStep::waited, events[0].event, &b_, primary_};
    EXPECT_NE(std::find(events.begin(), events.end(), waits), events.end());
    EXPECT_EQ(steps(EventStep::waited, &b_), 2u);
}

TEST_F(CudaMemory, TheLibrarysQueueWaitsToo) {
    { use(tensor(), a()); }
    const Tensor y = tensor();
    use(y, {});
    EXPECT_EQ(steps(EventStep::waited, nullptr), 1u);
    EXPECT_EQ(steps(EventStep::recorded, nullptr), 0u);
    y.fill_zero();
    EXPECT_EQ(steps(EventStep::waited, nullptr), 2u) << "copies and fills as well";
}

TEST_F(CudaMemory, TheSameQueueGoesOnAtOnce) {
    for (int i = 0; i < 5; i++) use(tensor(), {});
    EXPECT_TRUE(driver().events.empty()) << "nothing to mark on the library's own queue";
    for (int i = 0; i < 5; i++) use(tensor(), a());
    EXPECT_EQ(steps(EventStep::waited, &a_), 5u) << "for the library's own queue alone";
    EXPECT_EQ(steps(EventStep::recorded, nullptr), 5u);
    EXPECT_EQ(driver().called["cuMemAlloc"], 1);
}

TEST_F(CudaMemory, EventsThatHavePassedAreForgotten) {
    { use(tensor(), a()); }
    driver().busy = false;
    use(tensor(), b());
    EXPECT_EQ(steps(EventStep::waited, &b_), 0u);
    EXPECT_LE(driver().live_events, 2u);
}

TEST_F(CudaMemory, UsesOfSeveralQueuesAreAllWaitedFor) {
    {
        const Tensor x = tensor();
        for (int i = 0; i < 3; i++) {
            use(x, a());
            use(x.slice(0, 2, 5), b());
        }
    }
    use(tensor(), {});
    EXPECT_EQ(steps(EventStep::waited, nullptr), 2u) << "the last event of each";
}

TEST_F(CudaMemory, AQueueThatCantBeMarkedIsWaitedFor) {
    driver().fail["cuEventRecord"] = 700;
    driver().waited_for.clear();
    use(tensor(), a());
    EXPECT_EQ(driver().waited_for, std::vector<void *>{&a_});
}

// What kernels allocate for themselves is of the call's queue.
TEST_F(CudaMemory, OfHalidesOwnAllocations) {
    halide_dimension_t dim{0, 5000, 1, 0};
    const auto allocate = [&](CallContext &call, halide_buffer_t &buffer) {
        buffer = {};
        buffer.type = {halide_type_float, 32};
        buffer.dimensions = 1;
        buffer.dim = &dim;
        return halide_device_malloc(&call, &buffer, halide_cuda_device_interface());
    };
    CallContext on_a(kDevice, a()), on_b(kDevice, b());
    on_a.label = "a kernel";
    halide_buffer_t x, y;
    ASSERT_EQ(allocate(on_a, x), 0);
    const uint64_t memory = x.device;
    bool found = false;
    detail::memory_pool(kDevice).each_in_use([&](const detail::Block &block) {
        found |= reinterpret_cast<uint64_t>(block.memory) == memory && block.label == on_a.label;
    });
    EXPECT_TRUE(found);
    ASSERT_EQ(halide_device_free(&on_a, &x), 0);
    driver().events.clear();
    ASSERT_EQ(allocate(on_a, y), 0);
    EXPECT_EQ(y.device, memory);
    EXPECT_EQ(steps(EventStep::waited, &a_), 1u) << "for the library's own queue";
    ASSERT_EQ(halide_device_free(&on_a, &y), 0);
    ASSERT_EQ(allocate(on_b, x), 0);
    EXPECT_EQ(x.device, memory);
    EXPECT_GE(steps(EventStep::waited, &b_), 1u);
    ASSERT_EQ(halide_device_free(&on_b, &x), 0);
    EXPECT_EQ(driver().called["cuMemAlloc"], 1);
}

// In a context of the caller's own there is a pool of its own, which goes when it is forgotten.
TEST_F(CudaMemory, OfACallersContext) {
    int context = 0;
    driver().contexts[&context] = 1;
    driver().streams[&a_] = &context;
    CallContext call(kDevice, {&context, &a_});
    halide_dimension_t dim{0, 5000, 1, 0};
    halide_buffer_t x{};
    x.type = {halide_type_float, 32};
    x.dimensions = 1;
    x.dim = &dim;
    MemoryPool::Impl &pool = detail::memory_pool(kDevice, &context);
    EXPECT_NE(&pool, &detail::memory_pool(kDevice));
    pool.set_caching(true);
    ASSERT_EQ(halide_device_malloc(&call, &x, halide_cuda_device_interface()), 0);
    EXPECT_EQ(pool.statistics().blocks, 1);
    ASSERT_EQ(halide_device_free(&call, &x), 0);
    EXPECT_EQ(steps(EventStep::recorded, nullptr), 0u);
    EXPECT_EQ(driver().allocated, 1u);
    kDevice.forget(&context);
    EXPECT_EQ(driver().allocated, 0u);
    driver().contexts.clear();
}

// Where there is no memory for a pool there is none, rather than one that the environment does not
// say.
TEST_F(CudaMemory, PoolsAreAsTheEnvironmentSays) {
    const test::Environment off("HK_MEMORY_POOL", "off");
    static int contexts[100];
    bool failed = true;
    for (int n = 0; failed; n++) {
        ASSERT_LT(n, 100);
        void *const context = &contexts[n];
        driver().contexts[context] = 1;
        driver().streams[&a_] = context;
        {
            const tests::FailingNew failing(n);
            try {
                detail::memory_pool(kDevice, context);
            } catch (const std::bad_alloc &) {
            }
            failed = failing.failed();
        }
        CallContext call(kDevice, {context, &a_});
        halide_dimension_t dim{0, 5000, 1, 0};
        halide_buffer_t x{};
        x.type = {halide_type_float, 32};
        x.dimensions = 1;
        x.dim = &dim;
        ASSERT_EQ(halide_device_malloc(&call, &x, halide_cuda_device_interface()), 0);
        ASSERT_EQ(halide_device_free(&call, &x), 0);
        EXPECT_EQ(driver().allocated, 0u) << n;
        kDevice.forget(context);
    }
    driver().contexts.clear();
}

TEST_F(CudaMemory, TheCacheGoesBackBeforeOutOfMemory) {
    { const Tensor x({10 << 20}, DataType::u8, kDevice); }
    EXPECT_EQ(driver().allocated, 1u);
    driver().fail["cuMemAlloc"] = 2;
    EXPECT_ERROR(OutOfMemory,
                 "cuda:1: no memory left: asked for 20971520 bytes; 0 in use, 0 cached",
                 Tensor({20 << 20}, DataType::u8, kDevice));
    EXPECT_EQ(driver().called["cuMemAlloc"], 3);
    EXPECT_EQ(driver().allocated, 0u);
    driver().fail["cuMemAlloc"] = 700;
    EXPECT_ERROR(DeviceError, "cuMemAlloc failed: CUDA_ERROR_ILLEGAL_ADDRESS", tensor());
    driver().fail.clear();
    tensor();
}

TEST_F(CudaMemory, LimitsHold) {
    MemoryPool::of(kDevice).set_limit(4 << 20);
    const Tensor x = tensor();
    EXPECT_ERROR(OutOfMemory, "the limit is 4194304", Tensor({3 << 20}, DataType::u8, kDevice));
    const Tensor y({1 << 20}, DataType::u8, kDevice);
    MemoryPool::of(kDevice).set_limit(INT64_MAX);
    EXPECT_ERROR(InvalidArgument, "while 2 blocks are in use",
                 MemoryPool::of(kDevice).set_caching(false));
}

}  // namespace
}  // namespace hk
